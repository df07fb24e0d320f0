import AdapterKit
import Testing

@Suite struct EvidenceWordsTests {
    /// Words of LiveKit, Beams, PostgREST, jose and jsonwebtoken.
    @Test(arguments: [
        "go-jose/go-jose/jwt: validation failed, token is expired (exp)",
        "validation failed, token not valid yet (nbf)", "Invalid JWT claims: Token used before issued",
        "JWT expired", "JWT issued at future", "\"exp\" claim timestamp check failed: token Expired", "jwt not active",
    ])
    func `words about a clock or an expiry do not blame the key`(_ text: String) {
        #expect(Evidence.key.given(text: text) == .none)
        #expect(Evidence.expired.given(text: text) == .expired)
        #expect(Evidence.revoked.given(text: text) == .revoked)
    }

    @Test(arguments: [nil, "", "signature is invalid", "Invalid issuer", "invalid authorization token"])
    func `other words leave the evidence of the code`(_ text: String?) {
        #expect(Evidence.key.given(text: text) == .key)
        #expect(Evidence.none.given(text: text) == .none)
    }
}
