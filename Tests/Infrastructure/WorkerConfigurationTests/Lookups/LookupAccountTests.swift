import AdapterKit
import Testing
import WorkerConfiguration

@Suite("Accounts of look-ups")
struct LookupAccountTests {
    /// Apps in the order given, a line each from line 5 on.
    private static func apps(_ apps: (name: String, adapter: String, lookup: String)...) -> ConfigurationFile {
        LookupText.apps(
            apps.map { "  \($0.name): { key: k, adapter: \($0.adapter), lookup: { mode: verify, \($0.lookup) } }\n" }
                .joined())
    }

    private static func accounts(_ file: ConfigurationFile) throws -> [String?] {
        try file.configuration().apps.map { $0.lookup?.account }
    }

    @Test func `one endpoint and one key are one account, however they are written`() throws {
        let file = Self.apps(
            ("ios", "keyed", "endpoint: https://a.example, key: one"),
            ("web", "keyed", "endpoint: https://b.example, key: one"),
            ("android", "keyed", "endpoint: 'https://A.example:443/', key_file: rest"),
            ("other", "keyed", "endpoint: https://a.example, key: two"),
            ("tv", "keyed", "endpoint: https://a.example/tv, key: one"),
            ("again", "keyed", "endpoint: https://b.example, key: \"${ONE}\""))
        #expect(
            try Self.accounts(file.with(environment: ["ONE": "one"], files: ["conf/rest": "one\n"]))
                == ["ios", "web", "ios", "other", "tv", "web"])
    }

    @Test func `one user name and one password are one account`() throws {
        let file = Self.apps(
            ("a", "basic", "username: n, password: w"), ("b", "basic", "username: n, password: x"),
            ("c", "basic", "username: m, password: w"), ("d", "basic", "password: w, username: n"))
        #expect(try Self.accounts(file) == ["a", "b", "c", "a"])
    }

    @Test func `a minted token is nobody's account, and another vendor is another account`() throws {
        let file = Self.apps(
            ("a", "minted", "timeout: 1s"), ("b", "minted", "timeout: 2s"),
            ("c", "keyed", "endpoint: https://a, key: one, timeout: 1s"),
            ("d", "twin", "endpoint: https://a, key: one, timeout: 2s"))
        #expect(try Self.accounts(file) == ["a", "b", "c", "d"])
    }

    @Test func `an app that asks nothing has no part in an account`() throws {
        let file = LookupText.apps(
            """
              off: { key: k, adapter: keyed, lookup: { mode: off, endpoint: https://a, key: one, timeout: 1s } }
              on: { key: k, adapter: keyed, lookup: { mode: verify, endpoint: https://a, key: one } }

            """)
        #expect(try Self.accounts(file) == [nil, "on"])
    }

    @Test func `settings of the app's own may differ within an account`() throws {
        let file = Self.apps(
            ("a", "basic", "username: n, password: w"),
            (
                "b", "basic",
                "username: n, password: w, timeout: 121s, concurrency: 4, unknown_user: mint, on_failure: mint, patience: 0s, cache: { gone: 1s }"
            ))
        #expect(try Self.accounts(file) == ["a", "a"])
        let lookups = try file.configuration().apps.map(\.lookup)
        #expect(lookups.map { $0?.patience } == [.seconds(1), .zero])
        #expect(lookups.map { $0?.unknownUser } == [.reject, .mint])
    }

    @Test func `settings of the account must not differ between its apps`() {
        let same = "both ask one endpoint with the same credentials; write the same in both"
        let file = Self.apps(
            ("a", "keyed", "endpoint: https://a, key: hunter2, rate: 2/s"),
            ("b", "keyed", "endpoint: https://b, key: x"),
            ("c", "keyed", "key: hunter2, endpoint: https://a, timeout: 1s, concurrency: 5, certificate_authority: ca"),
            ("d", "keyed", "key: hunter2, endpoint: https://a, rate: 120/m"))
        #expect(
            file.with(files: ["conf/ca": "-----BEGIN CERTIFICATE-----"]).errors().map { $0.dropFirst(17) } == [
                "7:143: error: apps.c.lookup.certificate_authority differs from that of apps.a: \(same)",
                "7:100: error: apps.c.lookup.timeout differs from that of apps.a: \(same)",
                "7:40: error: apps.c.lookup.rate differs from that of apps.a: \(same)",
                "7:117: error: apps.c.lookup.concurrency differs from that of apps.a: \(same)",
                "8:97: error: apps.d.lookup.rate differs from that of apps.a: \(same)",
            ])
    }

    @Test func `an account keeps to the limits of all its apps`() throws {
        let file = LookupText.apps(
            """
              a: { key: k, adapter: basic, settings: { limit: 5 }, lookup: &l { mode: verify, username: n, password: w } }
              b: { key: k, adapter: basic, settings: { limit: 15 }, lookup: *l }
              c: { key: k, adapter: basic, settings: { limit: 5 }, lookup: *l }
              d: { key: k, adapter: basic, lookup: { mode: verify, username: n, password: v } }

            """)
        let apps = try file.configuration().apps
        #expect(apps.map { $0.lookup?.account } == ["a", "a", "a", "d"])
        for app in apps.prefix(3) { #expect(app.lookup?.rates == [.init(5), .init(15)]) }
        #expect(apps.last?.lookup?.rates == [.init(5), .init(10_000, perSeconds: 3600)])
    }
}
