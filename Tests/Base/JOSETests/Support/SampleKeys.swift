@_spi(Signing) import JOSE
import Testing

extension SecretBytes {
    convenience init(text: String) { self.init(copying: text.utf8) }

    var array: [UInt8] { withBytes { Array($0) } }
    var text: String { String(decoding: array, as: UTF8.self) }
}

extension Base64 {
    func encode(text: String) -> String { encode(Array(text.utf8)) }
    func decode(text: String) throws -> [UInt8] { try decode(Array(text.utf8)[...]) }
}

/// Expects `body` to be refused with `code`, and the refusal to have a message.
func expectRefusal<Result>(
    _ code: JOSEError.Code, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    by body: () throws -> Result
) {
    let error = #expect(throws: JOSEError.self, comment, sourceLocation: sourceLocation) { _ = try body() }
    #expect(error?.code == code, comment, sourceLocation: sourceLocation)
    #expect(error?.message.isEmpty == false, comment, sourceLocation: sourceLocation)
}

/// One key of each family, made once, for tests that do not care which.
enum SampleKeys {
    private static let rsa = Result { try SigningKey.generate(.rs256).privateKeyPEM() }

    /// A key for `algorithm`; the RSA algorithms share one key pair.
    static func make(_ algorithm: Algorithm, keyID: String? = nil) throws -> SigningKey {
        guard algorithm.keyType == .rsa else { return try SigningKey.generate(algorithm, keyID: keyID) }
        return try SigningKey(pem: try #require(try rsa.get()), algorithm: algorithm, keyID: keyID)
    }
}

/// Tokens as text, the way a test wants to see them.
enum SampleToken {
    static let claims = #"{"sub":"user-1","iat":1700000000,"exp":1700003600}"#

    static func make(_ key: SigningKey, header: String? = nil, payload: String = claims) throws -> String {
        let header = header ?? #"{"alg":"\#(key.algorithm.rawValue)","typ":"JWT"}"#
        return try make(key, encodedHeader: Base64.url.encode(text: header), payload: payload)
    }

    static func make(_ key: SigningKey, encodedHeader: String, payload: String) throws -> String {
        let input = SigningInput(encodedHeader: Array(encodedHeader.utf8), payload: Array(payload.utf8))
        let signature = try Signer(key).sign(input.bytes)
        return String(decoding: input.token(signature: signature), as: UTF8.self)
    }
}

extension CompactJWS {
    init(text: String, limits: Limits = Limits()) throws { try self.init(parsing: Array(text.utf8), limits: limits) }
}

extension String {
    /// The three parts of a compact token.
    var parts: [String] { split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
}
