public import JOSE

/// The requirements on a DPoP proof (RFC 9449, section 4.3).
public struct DPoPRules: Sendable {
    /// The algorithms that may sign proofs. HMAC algorithms are never accepted, even if they are in the set.
    public var algorithms: Set<Algorithm>
    /// The greatest age of a proof.
    public var maxAge: Duration
    /// The tolerated difference of the device's clock, in addition to `maxAge`, 0 to 300 seconds.
    public var skew: Duration
    /// The longest proof, in bytes.
    public var mostBytes: Int
    /// The longest `jti`, in bytes.
    public var longestID: Int
    /// The most proofs remembered in a window of `maxAge` and twice `skew`. Memory is for twice as many, some 40 bytes
    /// for each, and as much again for each key.
    public var remembered: Int
    /// The most remembered proofs of one key.
    public var rememberedByKey: Int

    /// Rules for proofs. By default a proof lives for 60 seconds, clocks may differ by 30 seconds, and the memory holds
    /// 600,000 proofs in 2 minutes: 5,000 a second, and 20 a second of one key.
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
}
