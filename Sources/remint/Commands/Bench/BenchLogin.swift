import AdapterKit
import Foundation
@_spi(Signing) import JOSE

/// The customer's login, as a measurement has it: who signs the devices' sessions.
struct BenchLogin: Sendable {
    static let issuer = "https://login.bench.example"

    private let key: SigningKey
    /// The public key, as a JWK Set.
    let keySet: Data

    init() throws {
        key = try SigningKey.generate(.es256, keyID: "session-1")
        keySet = Data(try JWK.setJSON(of: [key.verificationKey]))
    }

    /// A session of `user` for an hour.
    func session(of user: String) throws -> String {
        var claims = JSONWriter()
        claims.beginObject()
        claims.member("iss", Self.issuer)
        claims.member("sub", user)
        claims.member("exp", UnixTime.system().seconds + 3600)
        claims.endObject()
        let header = #"{"alg":"ES256","kid":"session-1"}"#
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(claims.bytes)
        return input + "." + Base64.url.encode(try Signer(key).sign(Array(input.utf8)))
    }
}
