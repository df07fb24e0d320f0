import AdapterKit
import Testing

@Suite struct TokenHashTests {
    /// SHA-256 of "abc" (FIPS 180-4, example B.1).
    private static let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    private static let base64url = "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"

    @Test func `a token's hash is the same from the token, from hexadecimal digits and from base64url`() {
        let hash = TokenHash(of: "abc".utf8)
        #expect(TokenHash(text: Self.hex) == hash)
        #expect(TokenHash(text: Self.hex.uppercased()) == hash)
        #expect(TokenHash(text: Self.base64url) == hash)
        #expect(TokenHash(of: "abd".utf8) != hash)
        #expect(Set([hash, TokenHash(of: "abc".utf8)]).count == 1)
    }

    private static let bad: [String] = [
        "", "abc", String(hex.dropLast()), "\(hex)0", "g\(hex.dropFirst())", "\u{FF11}\(hex.dropFirst(3))",
        " \(hex.dropFirst())",
        String(base64url.dropLast()), "\(base64url)=", "+\(base64url.dropFirst())", "\(base64url.dropLast())1",
    ]

    @Test(arguments: bad) func `a string that is no token hash is refused`(_ text: String) {
        #expect(TokenHash(text: text) == nil)
    }

    @Test func `a printed token hash does not contain the token`() {
        #expect(!String(describing: TokenHash(of: "a-token".utf8)).contains("a-token"))
    }

    @Test func `a hash's prefix is a number, the same from a hasher that is used again`() throws {
        #expect(TokenHash(of: "abc".utf8).prefix == 0xba78_16bf_8f01_cfea)
        let hasher = try SHA256Hasher()
        let bytes = Array("xabcx".utf8)
        #expect(hasher.prefix(of: bytes, in: 1..<4) == TokenHash(of: "abc".utf8).prefix)
        #expect(hasher.prefix(of: bytes, in: 0..<5) == TokenHash(of: "xabcx".utf8).prefix)
        #expect(hasher.prefix(of: bytes, in: 2..<2) == TokenHash(of: "".utf8).prefix)
        #expect(hasher.prefix(of: bytes, in: 1..<4) == TokenHash(of: "abc".utf8).prefix)
        #expect(hasher.prefix(of: bytes, in: 3..<6) == nil)
    }
}
