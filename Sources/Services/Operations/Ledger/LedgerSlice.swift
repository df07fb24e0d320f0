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

/// A part of all subjects, by their hashes, one of several equal ones: subjects too many for memory are read in several
/// turns.
package struct LedgerSlice: Sendable, Equatable {
    private let index: UInt64
    private let count: UInt64

    /// All subjects.
    package static let all = LedgerSlice(index: 0, count: 1)

    /// Returns `count` parts.
    package static func slices(_ count: Int) -> [LedgerSlice] {
        (0..<UInt64(max(1, count))).map { LedgerSlice(index: $0, count: UInt64(max(1, count))) }
    }

    /// Whether it is the part that counts records that belong to no subject.
    var isFirst: Bool { index == 0 }

    func contains(_ hash: SubjectHash) -> Bool { count == 1 || hash.high % count == index }
}

/// The plan for reading a topic with a table of bounded size: partition by partition, because a subject's tokens are
/// all in one, and in slices where a partition has more records than the table holds.
package enum LedgerPlan {
    /// Returns the slices in which a partition with `records` offsets is read, where a table uses at most `memory`
    /// bytes.
    package static func slices(records: Int, memory: Int) -> [LedgerSlice] {
        let fitting = max(1, memory / LedgerTable.bytesPerSubject)
        return LedgerSlice.slices(records / fitting + (records % fitting == 0 ? 0 : 1))
    }

    /// Returns the expected maximum of subjects in a slice of such a partition; its table grows where there are more.
    package static func room(records: Int, slices: Int) -> Int {
        let share = records / max(1, slices)
        return slices == 1 ? share + 1 : share + share / 20 + 1000
    }
}
