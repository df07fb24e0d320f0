import AdapterKit
import Testing
import WorkerConfiguration

@Suite("Look-ups that are right")
struct LookupTests {
    @Test func `absent look-up settings are the vendor's or the defaults`() throws {
        let lookup = try LookupText.app(LookupText.keyed).lookup()
        #expect(lookup.mode == .verify)
        #expect(lookup.account == "shop")
        #expect(lookup.url == "https://rest.keyed.example")
        #expect(lookup.authorization == .key(scheme: "Bearer"))
        #expect(lookup.credentials == .key("hunter2-key"))
        #expect(lookup.certificateAuthority == nil)
        #expect(lookup.timeout == .seconds(10))
        #expect(lookup.patience == .seconds(1))
        #expect(lookup.unknownUser == .mint)
        #expect(lookup.onFailure == .retry)
        #expect(lookup.existsFor == .seconds(3600))
        #expect(lookup.goneFor == .seconds(600))
        #expect(lookup.unknownFor == .seconds(60))
        #expect(lookup.rates == [.init(250, perSeconds: 60)])
        #expect(lookup.batch == 1)
        #expect(lookup.concurrency == 4)
        #expect(lookup.files.isEmpty)
    }

    @Test func `a vendor's terms are taken over`() throws {
        let lookup = try LookupText.app("basic", LookupText.basic).lookup()
        #expect(lookup.url == "https://api.basic.example")
        #expect(lookup.authorization == .basic)
        #expect(lookup.credentials == .basic(username: "hunter2-name", password: "hunter2-word"))
        #expect(lookup.timeout == .seconds(121))
        #expect(lookup.unknownUser == .reject)
        #expect(lookup.rates == [.init(5), .init(10_000, perSeconds: 3600)])
        #expect(lookup.batch == 50)
    }

    @Test func `a minted token needs no credentials`() throws {
        let lookup = try LookupText.app("minted", ["mode: enrich"]).lookup()
        #expect(lookup.mode == .enrich)
        #expect(lookup.authorization == .mintedToken)
        #expect(lookup.credentials == .none)
        #expect(lookup.url == "https://api.minted.example")
    }

    @Test func `every key is read`() throws {
        let lines = [
            "mode: enrich", "endpoint: https://Proxy.Example:8443/basic/", "insecure: false",
            "certificate_authority: tls/ca.pem", "username: name", "password_file: secrets/word",
            "unknown_user: mint", "on_failure: mint", "timeout: 2500ms", "patience: 250ms",
            "cache: { exists: 7d, gone: 1s, unknown: 90s }", "rate: 2/s", "concurrency: 64",
        ]
        let file = LookupText.app("basic", lines).with(files: [
            "conf/tls/ca.pem": "A root\n-----BEGIN CERTIFICATE-----\n", "conf/secrets/word": "hunter2-word\n",
        ])
        let lookup = try file.lookup()
        #expect(file.warnings().isEmpty)
        #expect(lookup.mode == .enrich)
        #expect(lookup.url == "https://proxy.example:8443/basic")
        #expect(lookup.certificateAuthority == "conf/tls/ca.pem")
        #expect(lookup.credentials == .basic(username: "name", password: "hunter2-word"))
        #expect(lookup.unknownUser == .mint)
        #expect(lookup.onFailure == .mint)
        #expect(lookup.timeout == .milliseconds(2500))
        #expect(lookup.patience == .milliseconds(250))
        #expect(lookup.existsFor == .seconds(604_800))
        #expect(lookup.goneFor == .seconds(1))
        #expect(lookup.unknownFor == .seconds(90))
        #expect(lookup.rates == [.init(5), .init(10_000, perSeconds: 3600), .init(2)])
        #expect(lookup.concurrency == 64)
        #expect(lookup.files.map(\.path) == ["conf/tls/ca.pem", "conf/secrets/word"])
        #expect(lookup.files.map(\.content) == [.certificates, .secret])
        #expect(
            lookup.files.map(\.place) == [
                FileLocation(file: ConfigurationFile.name, line: 12, column: 30),
                FileLocation(file: ConfigurationFile.name, line: 14, column: 22),
            ])
    }

    @Test(arguments: ["off", "'off'", "~", ""]) func `a look-up of mode off is off, whatever keys are beside it`(
        _ mode: String
    ) throws {
        let lines = [
            "mode: \(mode)", "endpoint: http://plain.example", "insecure: true", "certificate_authority: nowhere.pem",
            "key: a b", "key_file: nowhere", "username: ''", "password: \"${WORD:-}\"", "rate: 4/m",
        ]
        for adapter in ["keyed", "basic", "minted", "mute"] {
            let configuration = try LookupText.app(adapter, lines).configuration()
            #expect(configuration.apps.map(\.name) == ["shop"])
            #expect(configuration.apps.first?.lookup == nil)
        }
    }

    @Test(arguments: ["0s", "0ms", "1ms", "10s"]) func `an event may wait, or not at all`(_ patience: String) throws {
        let wanted: [String: Duration] = ["0s": .zero, "0ms": .zero, "1ms": .milliseconds(1), "10s": .seconds(10)]
        #expect(try LookupText.app(LookupText.keyed + ["patience: \(patience)"]).lookup().patience == wanted[patience])
    }

    @Test(arguments: [("4/s", 4, 1), ("250/m", 250, 60), ("1/m", 1, 60), ("'007/m'", 7, 60)])
    func `a rate is added to the vendor's`(_ text: String, _ requests: Int, _ seconds: Int) throws {
        let vendor = LookupTerms.Rate(250, perSeconds: 60), own = LookupTerms.Rate(requests, perSeconds: seconds)
        let rates = try LookupText.app(LookupText.keyed + ["rate: \(text)"]).lookup().rates
        #expect(rates == (own == vendor ? [vendor] : [vendor, own]))
    }

    @Test(arguments: [
        ("40/s", [LookupTerms.Rate(40)]), ("10/s", [.init(40), .init(10)]),
        ("251/m", [.init(40), .init(251, perSeconds: 60)]),
        ("250/m", [.init(250, perSeconds: 60), .init(40)]),
        ("4/s", [.init(250, perSeconds: 60), .init(40), .init(4)]),
    ])
    func `a rate replaces slower ones where the vendor allows some accounts more`(
        _ text: String, _ rates: [LookupTerms.Rate]
    ) throws {
        #expect(try LookupText.app("roomy", LookupText.keyed + ["rate: \(text)"]).lookup().rates == rates)
    }

    @Test func `the vendor's rule for unknown users can be overruled`() throws {
        #expect(try LookupText.app("roomy", LookupText.keyed).lookup().unknownUser == .reject)
        #expect(try LookupText.app("roomy", LookupText.keyed + ["unknown_user: mint"]).lookup().unknownUser == .mint)
        #expect(
            try LookupText.app("roomy", LookupText.keyed).lookup().rates == [.init(250, perSeconds: 60), .init(40)])
    }

    // MARK: Secrets

    @Test(arguments: [
        ("secret", "secret"), ("secret\n", "secret"), ("secret\r\n", "secret"), ("a~!/+=.-_", "a~!/+=.-_"),
    ])
    func `a key is the text of its file without the last line's end`(_ contents: String, _ key: String) throws {
        let lines = ["mode: verify", "endpoint: https://e.example", "key_file: ${FOLDER}/rest"]
        let file = LookupText.app(lines).with(environment: ["FOLDER": "/run/s"], files: ["/run/s/rest": contents])
        #expect(try file.lookup().credentials == LookupCredentials.key(key))
    }

    @Test func `credentials come from the environment`() throws {
        let environment = ["NAME": "näme", "WORD": "a: \"b\" ${c}", "AT": "api.example"]
        let lines = ["mode: verify", "endpoint: https://${AT}/", "username: ${NAME}", "password: ${WORD}"]
        let lookup = try LookupText.app("basic", lines).with(environment: environment).lookup()
        #expect(lookup.credentials == .basic(username: "näme", password: "a: \"b\" ${c}"))
        #expect(lookup.url == "https://api.example")
    }

    @Test func `a key of digits stays a string`() throws {
        let lines = ["mode: verify", "endpoint: https://e.example", "key: 00123"]
        #expect(try LookupText.app(lines).lookup().credentials == .key("00123"))
    }

    @Test func `credentials show in no form of the configuration`() throws {
        let files = [
            LookupText.app(LookupText.keyed), LookupText.app("basic", LookupText.basic),
            LookupText.app(["mode: verify", "endpoint: https://e.example", "key_file: f"])
                .with(files: ["conf/f": "hunter2-file"]),
        ]
        for file in files {
            let configuration = try file.configuration()
            let lookup = try #require(configuration.apps.first?.lookup)
            var dumps = ["", "", ""]
            dump(configuration, to: &dumps[0])
            dump(lookup, to: &dumps[1])
            dump(lookup.credentials, to: &dumps[2])
            let texts = [
                "\(configuration)", String(reflecting: configuration), "\(lookup)", String(reflecting: lookup),
                "\(lookup.credentials)", String(reflecting: lookup.credentials), "\([lookup.credentials])",
                "\(Mirror(reflecting: lookup.credentials).children.map { "\($0)" })",
            ]
            for text in texts + dumps { #expect(!text.contains("hunter2")) }
            #expect(texts[2].contains(file.text.contains("username") ? "a username and a password" : "a key"))
        }
        #expect("\(LookupCredentials.none)" == "no credentials")
    }
}
