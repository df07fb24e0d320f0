package import AdapterKit

/// The reason that a record read back from a topic is invalid.
///
/// Any producer with access to a topic can write any record. Each type of record has one reader. It throws a fault
/// instead of guessing.
public enum RecordFault: String, Error, Sendable, CaseIterable {
    /// No worker wrote the record: its headers or its key are not those of such a record.
    case foreign
    /// The value or a header is malformed.
    case malformed
    /// The record's key, headers and value name different apps, subjects, keys or times.
    case mismatched
    /// The version is not positive, or more than a day ahead of the clock.
    case version
    /// A time is invalid, or more than a day ahead of the clock.
    case time
}

/// The bounds of versions and times in records that are read back. A version is a time in microseconds. A clock may be
/// ahead by a day at most.
package enum ReadBackBound {
    /// The maximum difference, one day, in seconds.
    private static let ahead: Int64 = 86_400

    /// Returns whether a worker may have assigned `version` by `now`.
    package static func admits(version: Int64, at now: UnixTime) -> Bool {
        version > 0 && version <= now.advanced(bySeconds: ahead).microseconds
    }

    /// Returns whether `time`, which was in the past when it was written, may have been written by `now`.
    package static func admits(pastTime time: UnixTime, at now: UnixTime) -> Bool {
        time <= now.advanced(bySeconds: ahead)
    }
}
