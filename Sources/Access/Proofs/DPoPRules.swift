public import JOSE

/// What a DPoP proof must be like (RFC 9449, section 4.3).
public struct DPoPRules: Sendable {
    /// What proofs may be signed with. HMAC algorithms are none of them, whatever stands here.
    public var algorithms: Set<Algorithm>
    /// How old a proof may be.
    public var maxAge: Duration
    /// How far the device's clock may differ from ours, besides, 0 to 300 seconds.
    public var skew: Duration
    /// The longest proof, in bytes.
    public var mostBytes: Int
    /// The longest `jti`, in bytes.
    public var longestID: Int
    /// How many proofs are remembered in a window of `maxAge` and twice `skew`; memory is for twice as many, some 40
    /// bytes for each, and as much again for each key.
    public var remembered: Int
    /// How many of them one key may have.
    public var rememberedByKey: Int

    /// By default a proof lives for 60 seconds, clocks may differ by 30 seconds, and 600,000 proofs are remembered in 2
    /// minutes: 5,000 a second, of one key 20 a second.
    public init(
        algorithms: Set<Algorithm> = [.es256, .eddsa, .rs256, .ps256], maxAge: Duration = .seconds(60),
        skew: Duration = .seconds(30), mostBytes: Int = 8 << 10, longestID: Int = 128, remembered: Int = 600_000,
        rememberedByKey: Int = 2400
    ) {
        self.algorithms = algorithms
        self.maxAge = maxAge
        self.skew = skew
        self.mostBytes = mostBytes
        self.longestID = longestID
        self.remembered = remembered
        self.rememberedByKey = rememberedByKey
    }

    var boundedSkew: Duration { min(max(skew, .zero), .seconds(300)) }

    /// The time in which a proof could be used again: from when it is first taken, with `iat` ahead of us, to when it is
    /// last. A second more, for parts of it.
    var window: Duration { max(maxAge, .zero) + boundedSkew * 2 + .seconds(1) }

    /// The names of the algorithms in a fixed order, for the `algs` of a challenge (RFC 9449, section 7.1).
    public var algorithmNames: [String] {
        Algorithm.allCases.filter { algorithms.contains($0) && $0.keyType != .secret }.flatMap(\.names)
    }
}
