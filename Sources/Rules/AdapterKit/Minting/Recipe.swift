/// Everything a signer needs except the key: a vendor's token as data.
///
/// A recipe belongs to an app, not to an event: the values that differ from token to token (the user, the times, an id)
/// are places in it, which a `TokenForm` fills. Every token uses it, so it is a reference.
public final class Recipe: Sendable, Equatable {
    /// A member of the protected header besides `alg`, which always comes first.
    @nonexhaustive public enum HeaderMember: Sendable, Equatable {
        /// A constant string.
        case constant(name: String, value: String)
        /// `kid`, the id of the key that signs.
        case keyID
        /// A string with parts that differ from key to key and from day to day; a token's user is none of them.
        case text(name: String, [TextPart])
    }

    /// The algorithm.
    public let algorithm: Algorithm
    /// The header's members after `alg`, in order.
    public let header: [HeaderMember]
    /// The claims, in order.
    public let claims: [Claim]
    /// The bounds on the token's lifetime.
    public let lifetime: LifetimeBounds
    /// The derivation of the signing key from the ring's key; nil where the ring's key signs.
    public let derivation: KeyDerivation?

    /// A recipe with these parts.
    public init(
        algorithm: Algorithm, header: [HeaderMember], claims: [Claim], lifetime: LifetimeBounds,
        derivation: KeyDerivation? = nil
    ) {
        self.derivation = derivation
        self.algorithm = algorithm
        self.header = header
        self.claims = claims
        self.lifetime = lifetime
    }

    /// Whether both recipes mint the same token.
    public static func == (left: Recipe, right: Recipe) -> Bool {
        left.algorithm == right.algorithm && left.header == right.header && left.claims == right.claims
            && left.lifetime == right.lifetime && left.derivation == right.derivation
    }

    /// `"typ":"JWT"` alone: the header of most vendors besides `alg`.
    public static let typeOnly: [HeaderMember] = [.constant(name: "typ", value: "JWT")]

    /// `typ` and the signing key's id.
    public static let typeAndKeyID: [HeaderMember] = typeOnly + [.keyID]

    /// Whether the header names the key by `kid`.
    package var namesKey: Bool { header.contains(.keyID) }

    /// Whether the user's id is a part of a URL somewhere in the claims.
    package var hasUserInURL: Bool { claims.contains(where: \.hasUserInURL) }

    /// Whether header or claims name the key, so that the key must have an id.
    package var needsKeyID: Bool {
        namesKey || claims.contains(where: \.namesKey)
            || header.contains {
                if case .text(_, let parts) = $0 { parts.contains(.keyID) } else { false }
            }
    }
}

/// The derivation of a token's signing key from the ring's key.
@nonexhaustive public enum KeyDerivation: Sendable, Equatable {
    /// HMAC-SHA256(secret, `YYYYMMDD` of the time of minting, UTC).
    case utcDate

    /// Returns the label from which the key is derived for a token issued at `seconds` since 1970.
    package func label(at seconds: Int64) -> [UInt8] {
        switch self {
        case .utcDate: TextPart.date(of: seconds)
        }
    }
}

/// A claim.
public struct Claim: Sendable, Equatable {
    /// The source of a claim's value.
    @nonexhaustive public indirect enum Value: Sendable, Equatable {
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
        /// A value that the edge must vouch for, by its name in the enrichment. Without it there is no token.
        case vouched(String)
        /// A constant of any type: one JSON value.
        case json([UInt8])
        /// The id of the key that signs.
        case keyID
        /// A moment of the token's life, otherwise than `issuedAt` and `expiresAt` write it.
        case moment(Moment)
        /// A string that is put together.
        case text([TextPart])
        /// An object of claims.
        case object([Claim])
        /// An array. An element that may be left out is an `ifFound`.
        case array([Value])
        /// An element of an array, left out where neither a look-up nor the edge found a value under this name. It has no such
        /// element inside.
        case ifFound(String, Value)
        /// The value that a look-up or the edge found under this name; this JSON value where neither found one.
        case granted(String, otherwise: [UInt8])
        /// The value that a look-up found under this name; the claim is left out where it found nothing.
        case enrichment(String)
    }

    /// The claim's name; for a composed name, its name in messages.
    public let name: String
    /// The parts from which the name is put together; nil where it is `name`.
    public let nameParts: [TextPart]?
    /// The source of the claim's value.
    public let value: Value

    /// The claim `name` with a value from `value`.
    public init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
        nameParts = nil
    }

    /// The claim whose name is put together from `parts`; messages call it `name`.
    public init(_ name: String, of parts: [TextPart], _ value: Value) {
        self.name = name
        self.value = value
        nameParts = parts
    }

    fileprivate var hasUserInURL: Bool { nameParts?.contains(.userInURL) == true || value.hasUserInURL }

    fileprivate var namesKey: Bool { nameParts?.contains(.keyID) == true || value.namesKey }
}

extension Claim.Value {
    fileprivate var hasUserInURL: Bool {
        switch self {
        case .text(let parts): parts.contains(.userInURL)
        case .object(let claims): claims.contains(where: \.hasUserInURL)
        case .array(let values): values.contains(where: \.hasUserInURL)
        case .ifFound(_, let element): element.hasUserInURL
        default: false
        }
    }

    fileprivate var namesKey: Bool {
        switch self {
        case .keyID: true
        case .text(let parts): parts.contains(.keyID)
        case .object(let claims): claims.contains(where: \.namesKey)
        case .array(let values): values.contains(where: \.namesKey)
        case .ifFound(_, let element): element.namesKey
        default: false
        }
    }
}
