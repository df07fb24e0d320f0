package import AdapterKit

/// The reason a record that was read back from a topic does not count.
///
/// Whoever may write to a topic can put anything there. Each type of record has one reader, and a reader throws one of these
/// instead of guessing.
public enum RecordFault: String, Error, Sendable, CaseIterable {
    /// No worker wrote it: its headers or its key are not those of such a record.
    case foreign
    /// Its value or a header is not what such a record holds.
    case malformed
    /// Its key, its headers and its value name different apps, subjects, keys or times.
    case mismatched
    /// Its version is not positive, or lies more than a day ahead of the clock.
    case version
    /// One of its times is no time, or lies more than a day ahead of the clock.
    case time
}

/// The bounds of versions and times that are read back. A version is a time in microseconds; a clock may run ahead, but not by
/// more than a day.
package enum ReadBackBound {
    /// A day, in seconds.
    private static let ahead: Int64 = 86_400

    /// Whether `version` is one that a worker may have given by `now`.
    package static func admits(version: Int64, at now: UnixTime) -> Bool {
        version > 0 && version <= now.advanced(bySeconds: ahead).microseconds
    }

    /// Whether `time`, a moment that was past when it was written, may have been written by `now`.
    package static func admits(pastTime time: UnixTime, at now: UnixTime) -> Bool {
        time <= now.advanced(bySeconds: ahead)
    }
}
