/// Keys that do not change while the program runs.
public struct StaticKeys: KeySource {
    private let set: KeySet

    /// The keys of `set`.
    public init(_ set: KeySet) { self.set = set }

    /// Whether the set lacks the key of `thumbprint`.
    public func isWithdrawn(_ thumbprint: String) -> Bool { !set.holds(thumbprint) }

    /// Returns the set's keys for the key id at once.
    public func keys(
        for keyID: String?, after generation: Int?, age: Duration?, until deadline: ContinuousClock.Instant?
    ) async -> KeyAnswer {
        // There is no later set that another look could find.
        guard generation == nil, let candidates = set.candidates(for: keyID, generation: 0) else { return .unknown }
        return .keys(candidates)
    }
}
