/// The highest version so far, as the metadata of a committed offset.
///
/// It commits with the tokens it is about, and whoever takes the partition next reads it, however the clocks of the two differ.
enum VersionMetadata {
    private static let name = "remint-version="

    /// Whether a worker wrote `metadata`.
    static func isOurs(_ metadata: String) -> Bool { metadata.hasPrefix(name) }

    static func text(_ version: Int64) -> String { name + String(version) }

    /// The version in `metadata`; nil where it is somebody else's.
    static func version(_ metadata: String) -> Int64? {
        metadata.hasPrefix(name) ? Int64(metadata.dropFirst(name.count)).flatMap { $0 > 0 ? $0 : nil } : nil
    }
}
