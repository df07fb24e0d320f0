/// How a vendor comes to hold a key, and what someone does in the vendor's dashboard when the key changes.
public struct KeyHandover: Sendable, Equatable {
    /// Who makes the key.
    public enum Origin: String, Sendable {
        /// We do; the vendor gets the public half.
        case ours
        /// The vendor does; we import what it shows.
        case vendor
        /// Either; both hold the same secret.
        case shared
    }

    /// What becomes of the tokens of the key before, once the vendor has the new one.
    public enum Overlap: String, Sendable {
        /// The vendor holds several keys, and the tokens of all of them are good.
        case several
        /// The vendor knows one key. All tokens of the one before are refused from the moment of the change.
        case none
    }

    /// Who makes the key.
    public let origin: Origin
    /// What becomes of older tokens.
    public let overlap: Overlap
    /// What to do at the vendor before the version may sign, step by step.
    public let beforePromotion: [String]
    /// What to do at the vendor once the version signs.
    public let afterPromotion: [String]
    /// What to do at the vendor once no token of the old version lives.
    public let afterRetirement: [String]

    /// A handover of these steps.
    public init(
        origin: Origin, overlap: Overlap, beforePromotion: [String] = [], afterPromotion: [String] = [],
        afterRetirement: [String] = []
    ) {
        self.origin = origin
        self.overlap = overlap
        self.beforePromotion = beforePromotion
        self.afterPromotion = afterPromotion
        self.afterRetirement = afterRetirement
    }
}
