package import Pipeline

/// The identity of a dead letter: its partition and offset, and the time at which its event failed. The time is needed
/// because a topic that is created again begins at offset 0.
package struct LetterName: Hashable, Sendable {
    /// The partition of the dead letters' topic.
    package let partition: Int32
    /// The offset in the partition.
    package let offset: Int64
    private let failedAt: String

    /// The name of `letter`, a record of the dead letters' topic; nil for a record that no worker wrote as a dead
    /// letter.
    package init?(_ letter: InputRecord) {
        self.init(letter.origin.partition, letter.origin.offset, letter.body.text(HopHeaders.failedAt) ?? "")
    }

    /// Parses a name from a header's text; nil where `text` is no name.
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

    /// The letter's place in the dead letters' topic.
    package var place: LetterPlace { LetterPlace(partition: partition, offset: offset) }

    /// The name as a header states it: `partition/offset/time of the failure`.
    package var text: String { "\(partition)/\(offset)/\(failedAt)" }
}
