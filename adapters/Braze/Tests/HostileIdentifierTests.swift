import AdapterKit
import AdapterTestKit
import BrazeAdapter
import Testing

/// The suite of hostile ids finds an adapter that lets one through.
@Suite struct HostileIdentifierTests {
    /// Braze's adapter with one flaw.
    private struct Flawed: Adapter {
        static let name = "flawed"
        static let vendor = "Flawed"
        /// Changes a reported id.
        var change: @Sendable (String) -> String = { $0 }
        var claims = [Claim("sub", .user), Claim("exp", .expiresAt)]
        var identifiers = IdentifierRule.standard

        init() {}
        init(settings: BrazeSettings) throws(SettingsError) {}

        let algorithm = Algorithm.hs256
        let lifetime = LifetimeBounds(standard: 60, allowed: 60...60)
        func read(_ report: Report) -> Reading {
            guard let user = report.field("userId").text else {
                return .rejected(Rejection(.missingUser, "nobody"))
            }
            return .failure(
                AuthenticationFailure(
                    subject: Subject(user: change(user)), reason: "R", evidence: .expired, remedy: .mint))
        }
        func recipe(for subject: Subject) -> Recipe {
            Recipe(algorithm: algorithm, header: Recipe.typeOnly, claims: claims, lifetime: lifetime)
        }
        func subject(named claims: JSONValue) -> Subject? { claims["sub"]?.string.map { Subject(user: $0) } }
        func verify(
            _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
        ) -> VendorVerdict { .accepted }
    }

    private func violations(_ adapter: Flawed) throws -> [String] {
        let report = Array(#"{"userId":"u-1"}"#.utf8)
        let suite = HostileIdentifiers(
            adapter, reports: [report], users: [Subject(user: "u-1")], at: UnixTime(seconds: 1_800_000_000))
        return try #require(suite).violations()
    }

    @Test func `an adapter without a flaw passes`() throws { #expect(try violations(Flawed()) == []) }

    @Test func `an adapter that changes an id is found`() throws {
        var adapter = Flawed()
        adapter.change = { $0 == " a" || $0 == "../x" ? "x" : $0 }
        #expect(try violations(adapter).contains { $0.contains("../x") && $0.contains("became another one") })
    }

    @Test func `an id that reaches a URL unencoded is found`() throws {
        var adapter = Flawed()
        adapter.claims.append(Claim("url", .text([.constant("https://h/"), .user])))
        #expect(try violations(adapter).contains { $0.contains("a/b") && $0.contains("claims.url") })
        adapter.claims[2] = Claim("url", .text([.constant("https://h/"), .userInURL]))
        #expect(try violations(adapter) == [])
    }

    @Test func `an id that is left out of its place is found`() throws {
        var adapter = Flawed()
        adapter.claims[0] = Claim("sub", .constant("u-7f3a9c"))
        #expect(try !violations(adapter).isEmpty)
    }
}
