package import JOSE

/// Makes keys in the forms that vendors hand out.
package enum KeyGeneration {
    /// Returns a new key; a secret in text form consists of letters and digits.
    package static func key(_ algorithm: Algorithm, encoding: SecretEncoding?, rsaBits: Int, id: String?) throws
        -> SigningKey
    {
        guard algorithm.keyType == .secret, encoding == .utf8 else {
            return try SigningKey.generate(algorithm, rsaBits: rsaBits, keyID: id)
        }
        let text = SecretEncoding.base64url.encode(try SecretBytes.random(count: algorithm.digestBytes))
        return try SigningKey(secret: text, algorithm: algorithm, keyID: id)
    }
}
