import Foundation
import JOSE
import Testing

@testable import Formats

/// A published private JWK with something done to it.
struct SpoiltJWK: Sendable, CustomTestStringConvertible {
    let what: String
    let origin: String
    /// New values; nil removes the member.
    let changes: [String: String?]
    let code: JOSEError.Code
    /// Whether the public half alone is spoilt too.
    let spoilsPublicKey: Bool

    private init(
        _ what: String, _ origin: String, _ changes: [String: String?], code: JOSEError.Code = .invalidKey,
        publicToo: Bool = false
    ) {
        self.what = what
        self.origin = origin
        self.changes = changes
        self.code = code
        spoilsPublicKey = publicToo
    }

    var testDescription: String { "\(origin): \(what)" }

    func text(publicOnly: Bool = false) throws -> SecretBytes {
        var key = try #require(try Vector.all().first { $0.origin == origin }).key
        if publicOnly { for name in ["d", "p", "q", "dp", "dq", "qi"] { key[name] = nil } }
        for (name, value) in changes where key[name] != nil { key[name] = value }
        return SecretBytes(copying: try JSONEncoder().encode(key))
    }

    private static let rsa = "RFC 7520, section 3.4"
    private static let p521 = "RFC 7520, section 3.2"
    private static let p256 = "RFC 7515, appendix A.3"
    private static let ed25519 = "RFC 8037, appendices A.1 to A.5"

    private static func bytes(_ byte: UInt8, _ count: Int) -> String {
        Base64.url.encode([UInt8](repeating: byte, count: count))
    }

    static let all: [SpoiltJWK] = spoiltMembers + missingPrivateMembers + mismatches + widths + curves

    /// Every public member in turn: missing, empty, not base64url.
    private static let spoiltMembers: [SpoiltJWK] = {
        let members = [
            (rsa, "kty"), (rsa, "n"), (rsa, "e"), (p521, "kty"), (p521, "crv"), (p521, "x"), (p521, "y"), (p256, "x"),
            (p256, "y"), (ed25519, "kty"), (ed25519, "crv"), (ed25519, "x"),
        ]
        var all: [SpoiltJWK] = []
        for (origin, name) in members {
            all.append(SpoiltJWK("no \(name)", origin, [name: nil], publicToo: true))
            all.append(SpoiltJWK("\(name) is not base64url", origin, [name: "a+b="], publicToo: true))
            // An empty number is a zero, and what becomes of it is libcrypto's affair.
            if name != "n", name != "e" { all.append(SpoiltJWK("empty \(name)", origin, [name: ""], publicToo: true)) }
        }
        return all
    }()

    private static let missingPrivateMembers: [SpoiltJWK] =
        ["p", "q", "dp", "dq", "qi"].map { SpoiltJWK("no \($0)", rsa, [$0: nil]) }
        + [rsa, p521, p256, ed25519].map { SpoiltJWK("no d", $0, ["d": nil], code: .privateKeyRequired) }

    private static let mismatches: [SpoiltJWK] = [
        SpoiltJWK("another d", rsa, ["d": "AQAB"]),
        SpoiltJWK("another p", rsa, ["p": "AQAB"]),
        SpoiltJWK("another n", rsa, ["n": bytes(0x81, 256)]),
        SpoiltJWK("an exponent of one", rsa, ["e": "AQ"]),
        SpoiltJWK("another d", p521, ["d": "AQ"]),
        SpoiltJWK("d is zero", p521, ["d": bytes(0, 66)]),
        SpoiltJWK("another d", p256, ["d": "AQ"]),
        SpoiltJWK("d is zero", p256, ["d": bytes(0, 32)]),
        SpoiltJWK("d is beyond the order", p256, ["d": bytes(0xFF, 32)]),
        SpoiltJWK("d is too long", p256, ["d": bytes(0xFF, 33)]),
        SpoiltJWK("another d", ed25519, ["d": bytes(0, 32)]),
    ]

    private static let widths: [SpoiltJWK] = [
        SpoiltJWK("d is too short", ed25519, ["d": bytes(0, 31)]),
        SpoiltJWK("d is too long", ed25519, ["d": bytes(0, 33)]),
        SpoiltJWK("x is too short", ed25519, ["x": bytes(1, 31)], publicToo: true),
        SpoiltJWK("x is too long", ed25519, ["x": bytes(1, 33)], publicToo: true),
        SpoiltJWK("x is too short", p521, ["x": bytes(1, 65)], publicToo: true),
        SpoiltJWK("x is too long", p256, ["x": bytes(0, 33)], publicToo: true),
        SpoiltJWK(
            "x carries the sign byte of DER", p256, ["x": Base64.url.encode([0] + [UInt8](repeating: 0x80, count: 32))],
            publicToo: true),
        SpoiltJWK(
            "1024 bits", rsa, ["n": bytes(0xFF, 128), "p": nil, "q": nil, "dp": nil, "dq": nil, "qi": nil],
            code: .weakKey, publicToo: true),
    ]

    private static let curves: [SpoiltJWK] = [
        SpoiltJWK("a point off the curve", p256, ["y": bytes(5, 32)], publicToo: true),
        SpoiltJWK(
            "a point off the curve", p521, ["y": Base64.url.encode([0] + [UInt8](repeating: 5, count: 65))],
            publicToo: true),
        SpoiltJWK("the point (0, 0)", p256, ["x": bytes(0, 32), "y": bytes(0, 32)], publicToo: true),
        SpoiltJWK("coordinates beyond the field", p256, ["x": bytes(0xFF, 32), "y": bytes(0xFF, 32)], publicToo: true),
        SpoiltJWK("another curve's name", p256, ["crv": "P-384"], publicToo: true),
        SpoiltJWK("secp256k1", p256, ["crv": "secp256k1"], publicToo: true),
        SpoiltJWK("libcrypto's name of the curve", p256, ["crv": "prime256v1"], publicToo: true),
        SpoiltJWK("X25519", ed25519, ["crv": "X25519"], publicToo: true),
        SpoiltJWK("Ed448", ed25519, ["crv": "Ed448"], publicToo: true),
        SpoiltJWK("an unknown type", rsa, ["kty": "AKP"], publicToo: true),
        SpoiltJWK("a type in small letters", rsa, ["kty": "rsa"], publicToo: true),
        SpoiltJWK("another type", rsa, ["kty": "EC"], publicToo: true),
    ]
}
