import AdapterKit
import Testing
import WorkerConfiguration

@Suite("Mistakes in a look-up")
struct LookupMistakeTests {
    /// `keyed` with `lines` from line 12 on.
    private static func keyed(_ lines: String...) -> ConfigurationFile { LookupText.app(LookupText.keyed + lines) }

    /// `basic` with `lines` from line 12 on.
    private static func basic(_ lines: String...) -> ConfigurationFile {
        LookupText.app("basic", LookupText.basic + lines)
    }

    static let values: [Mistake] = [
        Mistake(
            "a key far from every other", keyed("unrelated-thing: 1"),
            says:
                "12:7 unknown key apps.shop.lookup.unrelated-thing; known here: mode, endpoint, insecure, certificate_authority, key_file, key, username, password_file, password, unknown_user, on_failure, timeout, patience, rate, concurrency, cache"
        ),
        Mistake(
            "a misspelt key", keyed("on_failur: mint"),
            says: "12:7 unknown key apps.shop.lookup.on_failur; did you mean on_failure?"),
        Mistake(
            "a mode nobody offers", LookupText.app(["mode: enritch"]),
            says: "9:13 apps.shop.lookup.mode must be off or verify or enrich; did you mean enrich?"),
        Mistake(
            "a switch of another word", keyed("insecure: yes"),
            says: "12:17 apps.shop.lookup.insecure must be true or false"),
        Mistake(
            "a timeout without a unit", keyed("timeout: 10"),
            says:
                "12:16 apps.shop.lookup.timeout must be a duration such as 20ms, 10s, 1m, 12h or 30d; did you mean 10s?"
        ),
        Mistake(
            "no timeout", keyed("timeout: 0s"),
            says: "12:16 apps.shop.lookup.timeout must be from 100ms to 5m"),
        Mistake(
            "a negative patience", keyed("patience: -1s"),
            says: "12:17 apps.shop.lookup.patience must be a duration such as 20ms, 10s, 1m, 12h or 30d"),
        Mistake(
            "a belief too short and one too long", keyed("cache: { exists: 999ms, gone: 8d }"),
            says: "12:24 apps.shop.lookup.cache.exists must be from 1s to 7d",
            "12:37 apps.shop.lookup.cache.gone must be from 1s to 7d"),
        Mistake(
            "a belief of nothing", keyed("cache: { unknown: 0s }"),
            says: "12:25 apps.shop.lookup.cache.unknown must be from 1s to 7d"),
        Mistake(
            "too many at once", keyed("concurrency: 65"),
            says: "12:20 apps.shop.lookup.concurrency must be a whole number from 1 to 64"),
        Mistake(
            "a key that is a list", LookupText.app(["mode: verify", "endpoint: https://a", "key: [hunter2]"]),
            says: "11:12 apps.shop.lookup.key must be a string"),
        Mistake(
            "an endpoint that is a list", LookupText.app(["mode: verify", "endpoint: [https://a]", "key: hunter2"]),
            says: "10:17 apps.shop.lookup.endpoint must be a string"),
        Mistake(
            "what is off and of the wrong type",
            LookupText.app(["mode: off", "timeout: long", "key: []", "endpoint: rest", "rate: fast"]),
            says: "12:17 apps.shop.lookup.endpoint must be a URL that begins with https://",
            "11:12 apps.shop.lookup.key must be a string",
            "10:16 apps.shop.lookup.timeout must be a duration such as 20ms, 10s, 1m, 12h or 30d",
            "13:13 apps.shop.lookup.rate must be requests a second or a minute, such as 4/s or 200/m"),
    ]

    static let terms: [Mistake] = [
        Mistake(
            "a vendor without a look-up", LookupText.app("mute", ["mode: verify"]),
            says:
                "9:13 apps.shop.lookup.mode must be off: Mute has no look-up, or apps.shop.settings lacks what it takes (not set: lacks, limit); see the adapter's README.md"
        ),
        Mistake(
            "settings that lack what it takes", LookupText.app("basic", settings: "{ lacks: true }", LookupText.basic),
            says:
                "9:13 apps.shop.lookup.mode must be off: Basic has no look-up, or apps.shop.settings lacks what it takes (not set: limit); see the adapter's README.md"
        ),
        Mistake(
            "answers that add nothing",
            LookupText.app(["mode: enrich", "endpoint: https://a", "key: hunter2"]),
            says: "9:13 apps.shop.lookup.mode must be off or verify: Keyed's answers add nothing to a token"),
        Mistake(
            "no endpoint", LookupText.app(["mode: verify", "key: hunter2"]),
            says:
                "8:5 apps.shop.lookup.endpoint is missing: each account of Keyed has its own; write its https URL"),
        Mistake(
            "an empty endpoint where the vendor has one", basic("endpoint: ''"),
            says: "12:17 apps.shop.lookup.endpoint is empty; give it a value or remove it"),
        Mistake(
            "a rate above the vendor's", keyed("rate: 251/m"),
            says: "12:13 apps.shop.lookup.rate must be at most 250/m, which is what Keyed allows"),
        Mistake(
            "a rate above the vendor's in another unit", keyed("rate: 5/s"),
            says: "12:13 apps.shop.lookup.rate must be at most 250/m, which is what Keyed allows"),
        Mistake(
            "a rate above the most a vendor allows", LookupText.app("roomy", LookupText.keyed + ["rate: 41/s"]),
            says: "12:13 apps.shop.lookup.rate must be at most 40/s, which is what Roomy allows"),
        Mistake(
            "a rate above the least of the vendor's", basic("rate: 167/m"),
            says: "12:13 apps.shop.lookup.rate must be at most 10000 in 3600s, which is what Basic allows"),
    ]

    static let credentials: [Mistake] = [
        Mistake(
            "no key", LookupText.app(["mode: verify", "endpoint: https://a"]),
            says:
                "8:5 apps.shop.lookup.key is missing: Keyed takes a key; or name its file with apps.shop.lookup.key_file"
        ),
        Mistake(
            "a username and a password for a key", keyed("username: hunter2", "password: hunter2"),
            says: "12:7 Keyed takes a key, not a username; remove apps.shop.lookup.username",
            "13:7 Keyed takes a key, not a password; remove apps.shop.lookup.password"),
        Mistake(
            "the file of a password in place of a key",
            LookupText.app(["mode: verify", "endpoint: https://a", "password_file: hunter2"]),
            says: "11:7 Keyed takes a key, not a password; remove apps.shop.lookup.password_file",
            "8:5 apps.shop.lookup.key is missing: Keyed takes a key; or name its file with apps.shop.lookup.key_file"),
        Mistake(
            "an empty variable",
            LookupText.app(["mode: verify", "endpoint: https://a", "key: ${KEY}"]).with(environment: ["KEY": ""]),
            says: "11:12 apps.shop.lookup.key is empty; write the key there"),
        Mistake(
            "an undefined variable", LookupText.app(["mode: off", "key: ${KEY}"]),
            says:
                "10:12 the environment variable KEY is not defined; write ${KEY:-default} for a default"),
        Mistake(
            "a key with an accent", LookupText.app(["mode: verify", "endpoint: https://a", "key: hünter2"]),
            says: "11:12 apps.shop.lookup.key must be up to 4096 visible ASCII characters without spaces"),
        Mistake(
            "a header in a key",
            LookupText.app(["mode: verify", "endpoint: https://a", "key: \"hunter2\\r\\nx: y\""]),
            says: "11:12 apps.shop.lookup.key must be up to 4096 visible ASCII characters without spaces"),
        Mistake(
            "a long key",
            LookupText.app(["mode: verify", "endpoint: https://a", "key: \(String(repeating: "k", count: 4097))"]),
            says: "11:12 apps.shop.lookup.key must be up to 4096 visible ASCII characters without spaces"),
        Mistake(
            "neither username nor password", LookupText.app("basic", ["mode: verify"]),
            says: "8:5 apps.shop.lookup.username is missing: Basic takes a username and a password",
            "8:5 apps.shop.lookup.password is missing: Basic takes a username and a password; or name its file with apps.shop.lookup.password_file"
        ),
        Mistake(
            "a key for a username and a password", basic("key: hunter2", "key_file: hunter2"),
            says: "12:7 Basic takes a username and a password, not a key; remove apps.shop.lookup.key",
            "13:7 Basic takes a username and a password, not a key; remove apps.shop.lookup.key_file"),
        Mistake(
            "an empty username and an empty password",
            LookupText.app("basic", ["mode: verify", "username: ''", "password: ''"]),
            says: "10:17 apps.shop.lookup.username is empty; give it a value",
            "11:17 apps.shop.lookup.password is empty; write the password there"),
        Mistake(
            "control characters",
            LookupText.app("basic", ["mode: verify", "username: \"hunter2\\x07\"", "password: \"hunter2\\x85\""]),
            says:
                "10:17 apps.shop.lookup.username must be up to 4096 bytes without control characters (RFC 7617, section 2)",
            "11:17 apps.shop.lookup.password must be up to 4096 bytes without control characters (RFC 7617, section 2)"),
        Mistake(
            "anything for a minted token",
            LookupText.app("minted", ["mode: verify", "key: hunter2", "username: hunter2", "password_file: hunter2"]),
            says:
                "10:7 Minted takes a token minted for the user who is asked about, not a key; remove apps.shop.lookup.key",
            "11:7 Minted takes a token minted for the user who is asked about, not a username; remove apps.shop.lookup.username",
            "12:7 Minted takes a token minted for the user who is asked about, not a password; remove apps.shop.lookup.password_file"
        ),
    ]

    private static func keyFile(_ contents: String?) -> ConfigurationFile {
        LookupText.app(["mode: verify", "endpoint: https://a", "key_file: rest"])
            .with(files: contents.map { ["conf/rest": $0] } ?? [:])
    }

    private static func authority(_ contents: String?) -> ConfigurationFile {
        keyed("certificate_authority: ca.pem").with(files: contents.map { ["conf/ca.pem": $0] } ?? [:])
    }

    static let files: [Mistake] = [
        Mistake(
            "a key's file that is not there", keyFile(nil),
            says: "11:17 the file of apps.shop.lookup.key_file cannot be read"),
        Mistake(
            "a file without a name", LookupText.app(["mode: verify", "endpoint: https://a", "key_file: ''"]),
            says: "11:17 apps.shop.lookup.key_file is empty; give it a value"),
        Mistake(
            "a password's file that is not there",
            LookupText.app("basic", ["mode: verify", "username: a", "password_file: word"]),
            says: "11:22 the file of apps.shop.lookup.password_file cannot be read"),
    ]

    static let all: [Mistake] = [values, terms, credentials, files].flatMap { $0 }

    @Test(arguments: all)
    func `each mistake in a look-up is reported with its place and without its secret`(_ mistake: Mistake) {
        let errors = mistake.file.errors()
        let wanted = mistake.says.map { say in
            let parts = say.split(separator: " ", maxSplits: 1).map(String.init)
            return "\(ConfigurationFile.name):\(parts[0]): error: \(parts[1])"
        }
        #expect(errors == wanted)
        for diagnostic in mistake.file.read().diagnostics { #expect(!diagnostic.description.contains("hunter2")) }
    }

    @Test(arguments: [
        "4", "/s", "4/h", "4/S", "4 / s", "4/s ", "0/s", "-4/s", "+4/s", "4.5/s", "4/sec", "1000001/m", "٤/s",
        "99999999999999999999/m", "s/4", "4//s", "4/60s",
    ])
    func `a string that is no rate is refused`(_ rate: String) {
        #expect(
            Self.keyed("rate: '\(rate)'").errors() == [
                "\(ConfigurationFile.name):12:13: error: apps.shop.lookup.rate must be requests a second or a minute, such as 4/s or 200/m"
            ])
    }

    @Test func `a look-up is checked even if the adapter is unknown`() {
        Mistake(
            "", LookupText.app("keyd", ["mode: verify", "timeout: 1"]),
            says: "6:14 no adapter is called keyd", "10:16 apps.shop.lookup.timeout must be a duration"
        ).check()
    }

    @Test func `a secret in the place of anything else is not repeated`() {
        let names = [
            "mode", "endpoint", "insecure", "certificate_authority", "key_file", "username", "password_file",
            "unknown_user", "on_failure", "timeout", "patience", "cache", "rate", "concurrency",
        ]
        for name in names {
            for value in ["${SECRET}", "[\"${SECRET}\"]", "https://${SECRET}@a"] {
                var lines = ["mode: verify", "key: a"].filter { !$0.hasPrefix("\(name):") }
                lines.append("\(name): \"\(value)\"".replacing("\"[", with: "[").replacing("]\"", with: "]"))
                let file = LookupText.app(lines).with(environment: ["SECRET": "hunter2 secret"])
                #expect(!file.errors().isEmpty)
                for diagnostic in file.read().diagnostics { #expect(!diagnostic.description.contains("hunter2")) }
            }
        }
    }
}
