import Access
import JOSE
import Testing

@Suite("API keys")
struct APIKeyTests {
    private func made(_ byte: UInt8) throws -> (text: [UInt8], hash: String) {
        let key = try APIKey.generate { SecretBytes(copying: [UInt8](repeating: byte, count: $0)) }
        return (key.text.withBytes { Array($0) }, key.hash)
    }

    @Test func `a new API key is recognized by its beginning, and kept as its hash`() throws {
        let (text, hash) = try made(7)
        #expect(String(decoding: text, as: UTF8.self) == "rmk_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc")
        #expect(text.count == 47)
        // sha256sum of that text.
        #expect(hash == "9c40c698c0fa0db6b8a62a861cb0abefced42feb4d7528016cb42aef46eeb4b6")
        let random = try APIKey.generate(random: SecretBytes.random(count:)),
            other = try APIKey.generate(random: SecretBytes.random(count:))
        #expect(random.text.count == 47)
        #expect(random.hash != other.hash)
    }

    @Test func `a key opens the apps it is for`() async throws {
        let (text, hash) = try made(1), (otherText, otherHash) = try made(2)
        let keys = APIKeys([
            try #require(APIKey(name: "crm", hash: hash, scope: .all)),
            try #require(APIKey(name: "shop", hash: otherHash.uppercased(), scope: .apps(["ios", "android"]))),
        ])
        #expect(try keys.verify(text, for: "anything") == "crm")
        #expect(try keys.verify(otherText, for: "ios") == "shop")
        #expect(try keys.verify(otherText, for: "android") == "shop")
        for app in ["web", "", "iOS", "io"] {
            let error = #expect(throws: AccessRefusal.self) { try keys.verify(otherText, for: app) }
            #expect(error?.reason == .appNotAllowed)
            #expect(error?.answer == .forbidden)
        }
    }

    @Test func `a changed key, a key's hash and random bytes open nothing`() async throws {
        let (text, hash) = try made(1)
        let keys = APIKeys([try #require(APIKey(name: "crm", hash: hash, scope: .all))])
        var changed = text
        changed[46] ^= 1
        for other in [
            [], changed, Array(text.dropLast()), text + [0], Array(hash.utf8), SHA256.hash(text),
            [UInt8](repeating: 0x41, count: 31), [UInt8](repeating: 0x41, count: 10_000_000),
        ] {
            await expectRefusal(.unknownAPIKey) { try keys.verify(other, for: "ios") }
        }
        await expectRefusal(.unknownAPIKey) { try APIKeys([]).verify(text, for: "ios") }
        #expect(APIKeys([]).isEmpty && !keys.isEmpty)
    }

    @Test(arguments: [
        "", "ab", String(repeating: "a", count: 63), String(repeating: "a", count: 65),
        String(repeating: "g", count: 64), " " + String(repeating: "a", count: 63),
        String(repeating: "a", count: 62) + "é",
        "  " + String(repeating: "a", count: 62),
    ])
    func `a string that is no hash makes no API key`(hash: String) {
        #expect(APIKey(name: "crm", hash: hash, scope: .all) == nil)
    }
}
