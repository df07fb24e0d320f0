package import Pipeline

/// Which dead letter is meant: where it stands on its topic, and when it died, for a topic that is made anew begins at 0 again.
package struct LetterName: Hashable, Sendable {
    /// The partition of the dead letters' topic.
    package let partition: Int32
    /// The offset in it.
    package let offset: Int64
    private let failedAt: String

    /// The name of `letter`, as it was read from the dead letters' topic; nil for a record that is no dead letter of a worker's.
    package init?(_ letter: InputRecord) {
        self.init(letter.origin.partition, letter.origin.offset, letter.body.text(HopHeaders.failedAt) ?? "")
    }

    /// The name that `text` is; nil where it is none.
    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let partition = Int32(parts[0]), let offset = Int64(parts[1]) else { return nil }
        self.init(partition, offset, String(parts[2]))
    }

    private init?(_ partition: Int32, _ offset: Int64, _ failedAt: String) {
        guard partition >= 0, offset >= 0, 1...64 ~= failedAt.utf8.count else { return nil }
        self.partition = partition
        self.offset = offset
        self.failedAt = failedAt
    }

    /// The name as a header says it: `partition/offset/when it died`.
    package var text: String { "\(partition)/\(offset)/\(failedAt)" }
}
