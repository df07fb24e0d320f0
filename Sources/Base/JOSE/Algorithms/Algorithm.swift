/// A JWS algorithm (RFC 7518, section 3.1; EdDSA: RFC 8037). `none` is not one of them.
public enum Algorithm: String, Sendable, CaseIterable, Codable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    /// Ed25519 alone, under either of its names; Ed448 is not offered.
    case eddsa = "EdDSA"
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"

    /// The algorithm called `name`: by its own name, which is its canonical one, or by another that means the same.
    public init?(named name: String) {
        guard let algorithm = Self(rawValue: name) ?? Self.otherNames[name] else { return nil }
        self = algorithm
    }

    /// RFC 9864 registers `Ed25519` for JOSE, as EdDSA does not name its curve. ECDSA's names name theirs: ESP256 and the like
    /// are COSE's alone.
    private static let otherNames = ["Ed25519": Algorithm.eddsa]

    /// Every name the algorithm is accepted by, the canonical one first.
    public var names: [String] { [rawValue] + Self.otherNames.filter { $0.value == self }.map(\.key).sorted() }

    /// The kind of key an algorithm needs.
    public enum KeyType: Sendable, Hashable, CustomStringConvertible {
        /// An RSA key of at least 2048 bits.
        case rsa
        /// A key on this NIST curve.
        case ec(Curve)
        /// An Ed25519 key.
        case ed25519
        /// A shared secret.
        case secret

        /// The kind of key in words.
        public var description: String {
            switch self {
            case .rsa: "RSA"
            case .ec(let curve): curve.rawValue
            case .ed25519: "Ed25519"
            case .secret: "shared secret"
            }
        }
    }

    /// A NIST curve by its JOSE name (RFC 7518, section 6.2.1.1).
    public enum Curve: String, Sendable, CaseIterable {
        case p256 = "P-256"
        case p384 = "P-384"
        case p521 = "P-521"

        /// The width of a coordinate in bytes; a signature is twice as wide.
        var coordinateBytes: Int {
            switch self {
            case .p256: 32
            case .p384: 48
            case .p521: 66
            }
        }

        /// libcrypto's name of the curve.
        var groupName: String {
            switch self {
            case .p256: "prime256v1"
            case .p384: "secp384r1"
            case .p521: "secp521r1"
            }
        }
    }

    /// The kind of key this algorithm needs.
    public var keyType: KeyType {
        switch self {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: .rsa
        case .es256: .ec(.p256)
        case .es384: .ec(.p384)
        case .es512: .ec(.p521)
        case .eddsa: .ed25519
        case .hs256, .hs384, .hs512: .secret
        }
    }

    /// libcrypto's name of the digest; nil for Ed25519, which hashes by itself.
    var digestName: String? {
        switch self {
        case .rs256, .ps256, .es256, .hs256: "SHA256"
        case .rs384, .ps384, .es384, .hs384: "SHA384"
        case .rs512, .ps512, .es512, .hs512: "SHA512"
        case .eddsa: nil
        }
    }

    /// Bytes of the digest; also the least length RFC 7518 (3.2) advises for an HMAC secret.
    public var digestBytes: Int {
        switch self {
        case .rs256, .ps256, .es256, .hs256: 32
        case .rs384, .ps384, .es384, .hs384: 48
        case .rs512, .ps512, .es512, .hs512, .eddsa: 64
        }
    }

    /// Returns whether a signature by this algorithm can have this length. Where a key decides the length, which RSA's does, any
    /// length from that of the shortest allowed key on fits.
    public func canSign(in count: Int) -> Bool {
        switch keyType {
        case .rsa: count >= 2048 / 8
        case .ec(let curve): count == 2 * curve.coordinateBytes
        case .ed25519, .secret: count == digestBytes
        }
    }

    var isPSS: Bool { self == .ps256 || self == .ps384 || self == .ps512 }
}
