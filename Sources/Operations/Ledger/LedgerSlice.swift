import JOSE

/// Half of a SHA-256 of a subject key: that two of a billion subjects share one is less likely than a fault of the machine.
package struct SubjectHash: Sendable, Hashable {
    let high, low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init(_ key: some Collection<UInt8>) {
        let digest = SHA256.hash(key)
        func word(_ start: Int) -> UInt64 {
            var word: UInt64 = 0
            for place in start..<start + 8 { word = word << 8 | UInt64(digest[place]) }
            return word
        }
        self.init(high: word(0), low: word(8))
    }
}

/// One of several equal parts of all subjects, by their hashes: what is too many for memory is read in several turns.
package struct LedgerSlice: Sendable, Equatable {
    private let index: UInt64
    private let count: UInt64

    /// All subjects.
    package static let all = LedgerSlice(index: 0, count: 1)

    /// The parts, `count` of them.
    package static func slices(_ count: Int) -> [LedgerSlice] {
        (0..<UInt64(max(1, count))).map { LedgerSlice(index: $0, count: UInt64(max(1, count))) }
    }

    /// Whether it is the one that counts what belongs to no subject.
    var isFirst: Bool { index == 0 }

    func contains(_ hash: SubjectHash) -> Bool { count == 1 || hash.high % count == index }
}

/// How a topic is read with a table of bounded size: partition by partition, for a subject's tokens are all in one, and a
/// partition with more records than the table takes in slices.
package enum LedgerPlan {
    /// How many times a partition with `records` offsets is read, where a table takes `memory` bytes at most.
    package static func slices(records: Int, memory: Int) -> [LedgerSlice] {
        let fitting = max(1, memory / LedgerTable.bytesPerSubject)
        return LedgerSlice.slices(records / fitting + (records % fitting == 0 ? 0 : 1))
    }

    /// How many subjects a slice of such a partition holds at most, about; its table grows where they are more.
    package static func room(records: Int, slices: Int) -> Int {
        let share = records / max(1, slices)
        return slices == 1 ? share + 1 : share + share / 20 + 1000
    }
}
