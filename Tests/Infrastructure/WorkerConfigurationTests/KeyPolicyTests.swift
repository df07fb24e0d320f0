import AdapterKit
import Testing
import WorkerConfiguration

@Suite("Policies of key rings") struct KeyPolicyTests {
    private func file(_ policy: String) -> ConfigurationFile {
        SampleText.replacing("path: keys/shop", "path: keys/shop, policy: \(policy)")
    }

    @Test func `a written policy is read, and absent members have their defaults`() throws {
        let policy = "{ algorithms: [RS256, ES256], longest_life: 24h, issuer: shop }"
        let keys = try file(policy).configuration().keys
        #expect(keys.first?.policy.algorithms == [.rs256, .es256])
        #expect(keys.first?.policy.longestLife == .seconds(86_400))
        #expect(keys.first?.policy.issuer == "shop")
        #expect(keys.last?.policy == Configuration.SigningPolicy())
        #expect(Configuration.SigningPolicy().longestLife == .seconds(400 * 86_400))
        #expect(try file("{}").configuration().keys.first?.policy == Configuration.SigningPolicy())
    }

    @Test(arguments: [
        ("{ longest_live: 1h }", "unknown key keys.shop.policy.longest_live; did you mean longest_life?"),
        ("{ longest_life: 401d }", "keys.shop.policy.longest_life must be from 1s to 400d"),
        ("{ longest_life: 0s }", "keys.shop.policy.longest_life must be from 1s to 400d"),
        ("{ algorithms: RS256 }", "keys.shop.policy.algorithms must be a list such as [ES256]"),
        ("{ algorithms: [] }", "keys.shop.policy.algorithms must be a list such as [ES256]"),
        ("{ algorithms: [none] }", "keys.shop.policy.algorithms knows "),
        ("{ issuer: '' }", "keys.shop.policy.issuer is empty"),
        ("strict", "keys.shop.policy must be a mapping of names to values"),
    ]) func `a mistake is refused`(policy: String, says: String) {
        #expect(file(policy).errors().contains { $0.contains("error: \(says)") }, "\(file(policy).errors())")
    }

    @Test func `a ring behind a signer has its policy there`() {
        let file = SampleText.replacing("path: keys/shop", "signer: s, policy: { issuer: shop }")
        #expect(file.errors().contains { $0.contains("keys.shop has both policy and signer") })
    }
}
