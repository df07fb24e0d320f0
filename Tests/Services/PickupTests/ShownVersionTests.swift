import AdapterKit
import Testing

@testable import Pickup

/// A version that a request shows its caller to have.
@Suite struct ShownVersionTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    @Test func `the highest possible version is the floor`() {
        let version = Self.now.microseconds
        #expect(ShownVersion.floor([], at: Self.now) == 0)
        #expect(ShownVersion.floor([-1], at: Self.now) == 0)
        #expect(ShownVersion.floor([version - 2, version - 1], at: Self.now) == version - 1)
        #expect(ShownVersion.floor([version + 300_000_000], at: Self.now) == version + 300_000_000)
        #expect(ShownVersion.floor([7, version + 300_000_001], at: Self.now) == 7, "no worker's clock is so far ahead")
        #expect(ShownVersion.floor([.max], at: Self.now) == 0)
    }

    @Test func `entity tags name versions`() {
        let tags = EntityTags([#""5", W/"9", "x", "", "99999999999999999999""#])
        #expect(tags.versions.sorted() == [5, 9])
    }

    @Test func `a report is known to name a token by the end of its signature`() {
        let signature = String(repeating: "s", count: 60) + "0123456789-_abcdefghijkl"
        let token = HeldToken(text: Array("e.e.\(signature)".utf8), version: 1, expiresAt: .max)
        for report in [
            #"{"token":"e.e.\#(signature)"}"#, #"{"t":"x e.e.\#(signature)\n"}"#, "e.e.\(signature)",
            #"{"a":"e.e.\#(String(repeating: "o", count: 80))","b":"e.e.\#(signature)"}"#,
        ] {
            #expect(NamedTokens(in: Array(report.utf8)).contain(token), "\(report)")
        }
        for report in ["", "e.e.", #"{"token":"e.e.\#(signature)x"}"#, String(repeating: ".", count: 60_000)] {
            #expect(!NamedTokens(in: Array(report.utf8)).contain(token), "\(report.prefix(20))")
        }
        let long = Array(repeating: "x.\(signature)", count: 600).joined(separator: " ")
        #expect(NamedTokens(in: Array(long.utf8)).contain(token))
    }
}
