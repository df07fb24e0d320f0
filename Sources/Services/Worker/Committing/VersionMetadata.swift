import AdapterKit
import Pipeline

/// The highest version so far, as the metadata of a committed offset.
///
/// It is committed with its tokens, and the partition's next worker reads it, however the clocks of the two workers
/// differ.
enum VersionMetadata {
    private static let name = "remint-version="

    /// Returns whether a worker wrote `metadata`.
    static func isOurs(_ metadata: String) -> Bool { metadata.hasPrefix(name) }

    static func text(_ version: Int64) -> String { name + String(version) }

    /// Returns the version in `metadata`, read at the time `now`; nil where another program wrote it.
    ///
    /// - Throws: `RecordFault.version` for a version that is no number, not positive, or more than a day ahead.
    static func version(_ metadata: String, at now: UnixTime) throws(RecordFault) -> Int64? {
        guard metadata.hasPrefix(name) else { return nil }
        guard let version = Int64(metadata.dropFirst(name.count)), ReadBackBound.admits(version: version, at: now)
        else {
            throw .version
        }
        return version
    }
}
