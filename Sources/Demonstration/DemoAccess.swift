import Access
import AdapterKit
import Foundation
@_spi(Signing) import JOSE

/// What the demonstration's devices show a gateway: sessions of a login of their own, and an API key of a backend for users that a
/// session does not name, because they have several ids.
struct DemoAccess: Sendable {
    private static let issuer = "https://login.demo.example"
    private static let audience = "remint-demo"

    private let session: SigningKey
    private let apiKey: APIKey.Generated

    /// Makes keys and leaves the login's public one in `folder`.
    init(folder: URL) throws {
        session = try SigningKey.generate(.es256, keyID: "session-1")
        apiKey = try APIKey.generate(random: SecretBytes.random(count:))
        try Data(JWK.setJSON(of: [session.verificationKey])).write(to: folder.appending(path: "sessions.json"))
    }

    /// The gateway's section of a configuration in the same folder.
    var yaml: String {
        """
        pickup:
          listen: 127.0.0.1:0
          user_rate: 100000
          caller_rate: 100000
          address_rate: 100000
          total_rate: 100000
          session: { issuer: \(Self.issuer), audience: \(Self.audience), jwks: sessions.json }
          api_keys: { backend: { hash: \(apiKey.hash) } }

        """
    }

    /// The headers by which the device of `event` says who it is.
    func headers(for event: DemoEvent, at now: UnixTime) throws -> [(String, String)] {
        switch event.user ?? .somebody {
        case .user(let user): [("authorization", "Bearer \(try session(of: user, at: now))")]
        case .identifiers(let ids):
            [
                ("x-api-key", apiKey.text.withBytes { String(decoding: $0, as: UTF8.self) }),
                ("remint-vouched", String(decoding: Self.members(ids), as: UTF8.self)),
            ]
        }
    }

    private static func members(_ ids: [(name: String, value: String)]) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("ids")
        json.beginObject()
        for id in ids { json.member(id.name, id.value) }
        json.endObject()
        json.endObject()
        return json.bytes
    }

    private func session(of user: String, at now: UnixTime) throws -> String {
        var claims = JSONWriter()
        claims.beginObject()
        claims.member("iss", Self.issuer)
        claims.member("aud", Self.audience)
        claims.member("sub", user)
        claims.member("iat", now.seconds)
        claims.member("exp", now.seconds + 3600)
        claims.endObject()
        let header = #"{"alg":"ES256","kid":"session-1"}"#
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(claims.bytes)
        return input + "." + Base64.url.encode(try Signer(session).sign(Array(input.utf8)))
    }
}
