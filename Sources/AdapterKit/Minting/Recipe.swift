/// Everything a signer needs except the key: a vendor's token as data.
///
/// A recipe belongs to an app, not to an event: what changes from token to token (the user, the times, an id) are
/// places in it, which a `TokenForm` fills. Every token asks for it, so it is a reference.
public final class Recipe: Sendable, Equatable {
    /// A member of the protected header besides `alg`, which always comes first.
    public enum HeaderMember: Sendable, Equatable {
        /// A constant string.
        case constant(name: String, value: String)
        /// `kid`, the id of the key that signs.
        case keyID
    }

    /// The algorithm.
    public let algorithm: Algorithm
    /// The header's members after `alg`, in order.
    public let header: [HeaderMember]
    /// The claims, in order.
    public let claims: [Claim]
    /// How long the token may live.
    public let lifetime: LifetimeBounds

    /// A recipe with these parts.
    public init(algorithm: Algorithm, header: [HeaderMember], claims: [Claim], lifetime: LifetimeBounds) {
        self.algorithm = algorithm
        self.header = header
        self.claims = claims
        self.lifetime = lifetime
    }

    public static func == (left: Recipe, right: Recipe) -> Bool {
        left.algorithm == right.algorithm && left.header == right.header && left.claims == right.claims
            && left.lifetime == right.lifetime
    }

    /// `"typ":"JWT"` alone: what most vendors' headers hold besides `alg`.
    public static let typeOnly: [HeaderMember] = [.constant(name: "typ", value: "JWT")]

    /// `typ` and the signing key's id.
    public static let typeAndKeyID: [HeaderMember] = typeOnly + [.keyID]

    /// Whether the header names the key, so that the key must have an id.
    public var needsKeyID: Bool { header.contains(.keyID) }
}

/// One claim.
public struct Claim: Sendable, Equatable {
    /// Where a claim's value comes from.
    public indirect enum Value: Sendable, Equatable {
        /// A constant string.
        case constant(String)
        /// The user's single id.
        case user
        /// The user's named ids, as an object.
        case identifiers
        /// The challenge's nonce.
        case challenge
        /// The time of minting, a NumericDate.
        case issuedAt
        /// The end of the token's life, a NumericDate.
        case expiresAt
        /// A random UUID.
        case uuid
        /// An object of claims.
        case object([Claim])
        /// What a look-up found under this name; the claim is left out where it found nothing.
        case enrichment(String)
    }

    /// The claim's name.
    public let name: String
    /// Its value's source.
    public let value: Value

    /// The claim `name` with a value from `value`.
    public init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }
}
