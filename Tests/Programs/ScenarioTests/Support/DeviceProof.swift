import AdapterKit
import Foundation
@_spi(Signing) import JOSE
import Testing

/// Proofs of possession as RFC 9449, section 4.2 has them.
enum DeviceProof {
    /// A proof that the holder of `key` makes for a call of `method` to `url` with `session`.
    ///
    /// - Parameter nonce: what the server gave out.
    static func make(
        _ key: SigningKey, _ session: String, _ method: String, _ url: String, nonce: String? = nil
    ) throws -> String {
        let jwk = String(decoding: try #require(try JWK.publicJSON(of: key.verificationKey)), as: UTF8.self)
        let header = #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(jwk)}"#
        let hash: String = Base64.url.encode(SHA256.hash(Array(session.utf8)))
        let nonce = nonce.map { #","nonce":"\#($0)"# + "\"" } ?? ""
        let claims =
            #"{"jti":"\#(UUID())","htm":"\#(method)","htu":"\#(url)","iat":\#(Int64(Date.now.timeIntervalSince1970)),"ath":"\#(hash)"\#(nonce)}"#
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array(claims.utf8))
        return input + "." + Base64.url.encode(try Signer(key).sign(Array(input.utf8)))
    }
}
