/// The share by which a subject's token lifetime is shortened, so that tokens that are minted together do not expire
/// together.
///
/// Without a spread, all tokens of a rotation expire at about the same time. With a spread of 0.1, their expiry times
/// are spread over a tenth of the lifetime. All workers shorten the same subject's tokens by the same share.
struct LifetimeSpread {
    /// The number of different cuts, at equal distances: tokens of one second share the text of their times in groups.
    private static let steps: Int64 = 64

    /// The maximum cut, as a share of the lifetime.
    private let share: Double

    init(_ share: Double) { self.share = share }

    /// Returns the lifetime of `subject`'s tokens, in seconds: at most `lifetime`, and at least the vendor's minimum.
    func life(of subject: [UInt8], lifetime: Int64, allowed: ClosedRange<Int64>) -> Int64 {
        guard share > 0 else { return lifetime }
        let step = Double(Self.fingerprint(of: subject) % UInt64(Self.steps)) / Double(Self.steps)
        let cut = Int64((Double(lifetime) * min(share, 1) * step).rounded(.down))
        return min(lifetime, max(allowed.lowerBound, lifetime - cut))
    }

    /// Returns the 64-bit FNV-1a hash with its upper half folded in: equal in every process, and evenly spread in the
    /// lowest bits.
    private static func fingerprint(of bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash ^ hash >> 32
    }
}
