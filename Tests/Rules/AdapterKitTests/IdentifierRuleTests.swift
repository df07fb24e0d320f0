import AdapterKit
import Testing

@Suite("Rules for a user's id")
struct IdentifierRuleTests {
    private func refusal(_ id: String, _ rule: IdentifierRule = .standard) -> String? {
        rule.refusal(of: Subject(user: id))
    }

    @Test func `an id is bounded, by bytes or by characters`() {
        let key = String(repeating: "\u{1F511}", count: 256)
        for rule in [IdentifierRule.standard, IdentifierRule(.characters(256))] {
            #expect(refusal(key, rule) == nil)
            #expect(refusal(key + "x", rule)?.contains(rule.limit.text) == true)
        }
        #expect(IdentifierLimit.bytes(2).admits("\u{E9}") && !IdentifierLimit.bytes(1).admits("\u{E9}"))
        #expect(IdentifierLimit.characters(1).admits("\u{E9}") && !IdentifierLimit.characters(1).admits("e\u{301}"))
        #expect(!IdentifierLimit.characters(4).admits(String(repeating: "a", count: 1 << 20)))
        #expect(IdentifierLimit.bytes(0).admits("") && IdentifierLimit.characters(0).admits(""))
    }

    @Test(arguments: [
        "\u{0}", "a\u{0}", "a\nb", "\u{1F}", "\u{7F}", "a\u{80}", "a\u{9F}b", "", " ", "\u{3000}", "\u{2028}",
    ])
    func `control characters, nothing and blanks are no vendor's ids`(_ id: String) {
        #expect(refusal(id) != nil)
        #expect(IdentifierRule.standard.refusal(of: Subject(user: "u", challenge: id)) != nil || id == "\u{2028}")
        let named = Subject(identifiers: [.init(name: "registered", value: id)])
        #expect(IdentifierRule.standard.refusal(of: named) != nil)
        #expect(IdentifierRule.standard.refusal(of: Subject(identifiers: [.init(name: id, value: "u")])) != nil)
    }

    @Test(arguments: [
        "*", "é", "\u{A0}x", "\u{BF}", "🦊", "\u{202E}x", "a b", " a", "../x", "%00", "null", "{{user}}", "\"\\",
    ])
    func `any other id is a user's where the vendor has no rule`(_ id: String) {
        #expect(refusal(id) == nil)
    }

    @Test func `a vendor's characters and reserved ids are kept to`() throws {
        let word = try #require(IdentifierCharacters("[A-Za-z0-9_=-]")),
            star = try #require(IdentifierCharacters("[^*]"))
        let narrow = IdentifierRule(characters: word, never: ["all", "-"])
        for id in ["u-1", "U_2=", "a"] { #expect(refusal(id, narrow) == nil) }
        for id in ["a.b", "é", "a/b", "all", "-", "a b", "*"] { #expect(refusal(id, narrow) != nil) }
        #expect(refusal("ALL", narrow) == nil, "byte for byte")
        let free = IdentifierRule(characters: star)
        for id in ["u", "é", "🦊", "a/b"] { #expect(refusal(id, free) == nil) }
        for id in ["*", "a*", "*b"] { #expect(refusal(id, free) != nil) }
        #expect(refusal("..", free.excluding([".."])) != nil)
    }

    @Test(arguments: ["", "[]", "[^]", "a-z", "[z-a]", "[\\d]", "[é]", "[a b]", "[[a]", "[a]]", "[a-]x"])
    func `a string that is no class of characters is refused`(_ text: String) {
        #expect(IdentifierCharacters(text) == nil)
    }

    @Test func `a refusal never contains the id`() {
        for id in ["secret\u{0}", String(repeating: "secret", count: 1000), "secret*"] {
            let rule = IdentifierRule(characters: IdentifierCharacters("[a-z]"))
            #expect(refusal(id, rule)?.contains("secret") == false)
        }
    }
}
