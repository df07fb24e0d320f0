package import AdapterKit
package import Foundation
@_spi(Signing) import JOSE

/// A customer's login, which signs the sessions of a demonstration's or a measurement's devices.
package struct SampleLogin: Sendable {
    package static let issuer = "https://login.remint.example"

    private let key: SigningKey
    /// The public key, as a JWK Set.
    package let keySet: Data

    /// A login with a new key.
    package init() throws {
        key = try SigningKey.generate(.es256, keyID: "session-1")
        keySet = Data(try JWK.setJSON(of: [key.verificationKey]))
    }

    /// Returns a session of `user` for an hour.
    package func session(of user: String, at now: UnixTime) throws -> String {
        var claims = JSONWriter()
        claims.beginObject()
        claims.member("iss", Self.issuer)
        claims.member("sub", user)
        claims.member("iat", now.seconds)
        claims.member("exp", now.seconds + 3600)
        claims.endObject()
        let header = #"{"alg":"ES256","kid":"session-1"}"#
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(claims.bytes)
        return input + "." + Base64.url.encode(try Signer(key).sign(Array(input.utf8)))
    }
}
