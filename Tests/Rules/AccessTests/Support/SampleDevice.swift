import Access
@_spi(Signing) import JOSE
import Testing

/// A device that proves a key.
struct SampleDevice: Sendable {
    let key: SigningKey

    init(_ algorithm: Algorithm = .es256) throws { key = try SampleIssuer.key(algorithm, nil) }

    static var request: ProvenRequest {
        get throws {
            ProvenRequest(method: "GET", url: try #require(ComparableURL("https://remint.example/v1/apps/shop/token")))
        }
    }

    var thumbprint: String {
        get throws { try #require(try JWK.thumbprint(of: key.verificationKey)) }
    }

    /// The public key, as the proof shows it.
    var jwk: String {
        get throws { String(decoding: try #require(try JWK.publicJSON(of: key.verificationKey)), as: UTF8.self) }
    }

    /// A proof for `session`, good unless it is changed.
    func proof(for session: [UInt8], _ claims: Changes = [:], header: Changes = [:]) throws -> [UInt8] {
        let members = [
            "jti": #""p-1""#, "htm": #""GET""#, "htu": #""https://remint.example/v1/apps/shop/token""#,
            "iat": "1700000000",
            "ath": "\"\(Base64.url.encode(SHA256.hash(session)))\"",
        ]
        let names = ["typ": #""dpop+jwt""#, "alg": "\"\(key.algorithm.rawValue)\"", "jwk": try jwk]
        return try SampleToken.make(key, claims: members.changed(by: claims), header: names.changed(by: header))
    }
}
