/// The way in which a vendor gets a key, and an operator's steps in the vendor's dashboard when the key changes.
public struct KeyHandover: Sendable, Equatable {
    /// The party that makes the key.
    @nonexhaustive public enum Origin: String, Sendable {
        /// Remint makes the key; the vendor gets the public half.
        case ours
        /// The vendor makes the key; Remint imports the part that the vendor shows.
        case vendor
        /// Either of them makes the key; both hold the same secret.
        case shared
    }

    /// The fate of the previous key's tokens, once the vendor has the new one.
    @nonexhaustive public enum Overlap: String, Sendable {
        /// The vendor holds several keys, and the tokens of all of them are good.
        case several
        /// The vendor knows one key. All tokens of the one before are refused from the moment of the change.
        case none
    }

    /// The party that makes the key.
    public let origin: Origin
    /// The fate of older tokens.
    public let overlap: Overlap
    /// The steps at the vendor before the version may sign, in order.
    public let beforePromotion: [String]
    /// The steps at the vendor once the version signs.
    public let afterPromotion: [String]
    /// The steps at the vendor once no token of the old version lives.
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
