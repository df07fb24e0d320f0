/// How much shorter than the app's lifetime a subject's tokens live, so that tokens which are made together do not end
/// together.
///
/// A token made by a rotation ends when all of that rotation do; with a spread of a tenth their ends lie a tenth of a lifetime
/// apart. The same subject's tokens are always cut by the same share, on every worker.
struct LifetimeSpread {
    /// The cut is one of so many, evenly apart: tokens of one second share their times' text in groups.
    private static let steps: Int64 = 64

    /// The most that is cut, as a share of the lifetime.
    private let share: Double

    init(_ share: Double) { self.share = share }

    /// The life of `subject`'s tokens, in seconds: at most `lifetime`, and never below what the vendor allows.
    func life(of subject: [UInt8], lifetime: Int64, allowed: ClosedRange<Int64>) -> Int64 {
        guard share > 0 else { return lifetime }
        let step = Double(Self.fingerprint(of: subject) % UInt64(Self.steps)) / Double(Self.steps)
        let cut = Int64((Double(lifetime) * min(share, 1) * step).rounded(.down))
        return min(lifetime, max(allowed.lowerBound, lifetime - cut))
    }

    /// FNV-1a, 64 bits, its upper half folded in: the same in every process, and even in its lowest bits.
    private static func fingerprint(of bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash ^ hash >> 32
    }
}
