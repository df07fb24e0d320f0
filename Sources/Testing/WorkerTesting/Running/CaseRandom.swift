import DeclaredAdapters

/// Randomness that is the same on every run: a test's own ids first, numbers of its own after that.
struct CaseRandom: RandomNumberGenerator, Sendable {
    private var words: [UInt64]
    /// SplitMix64, whose period is far longer than any event's way.
    private var state: UInt64 = 0

    /// The number of times that the test's id comes first: more ids than any token has. The numbers differ after them,
    /// so that a draw that is repeated until it fits finishes.
    private static let ids = 8

    /// Random numbers whose first ids are `uuid`.
    init(uuid: String?) {
        words = uuid.flatMap(UUIDText.words).map { id in (0..<Self.ids).flatMap { _ in [id.low, id.high] } } ?? []
    }

    mutating func next() -> UInt64 {
        if let word = words.popLast() { return word }
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
