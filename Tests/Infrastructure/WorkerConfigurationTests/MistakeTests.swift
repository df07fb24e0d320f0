import Testing
import WorkerConfiguration

/// Mistakes that no file of `Fixtures/broken` has; most mistakes are there, each with its message.
@Suite("Mistakes in a configuration")
struct MistakeTests {
    /// The section stands from line 10 on.
    private static func pickup(_ lines: String...) -> ConfigurationFile {
        let listen = ["pickup:", "listen: 127.0.0.1:8080"]
        return SampleText.with((listen + lines).joined(separator: "\n  ") + "\n")
    }

    private static let session = "session: { issuer: https://login.example, jwks: keys.json }"

    static let all: [Mistake] = [
        Mistake(
            "an unknown key in worker.lookups", SampleText.with("worker: { lookups: { cash: 1000 } }\n"),
            says: "10:22 unknown key worker.lookups.cash; did you mean cache?"),
        Mistake(
            "an adapter nobody has", SampleText.replacing("braze", "somebody"),
            says: "8:14 no adapter is called somebody; known: braze, dotdigital, bloomreach"),
        Mistake(
            "a large memory for look-ups", SampleText.with("worker: { lookups: { cache: 10000001 } }\n"),
            says: "10:29 worker.lookups.cache must be a whole number from 100 to 10000000"),
        Mistake(
            "every required setting is missing", SampleText.replacing("braze", "dotdigital"),
            says: "7:3 apps.ios.settings.issuer is missing", "7:3 apps.ios.settings.audience is missing"),
        Mistake(
            "a list of the wrong things",
            SampleText.replacing("braze", "bloomreach\n    settings: { mode: stream, ids: [[a]] }"),
            says: "9:36 apps.ios.settings.ids has the wrong type"),
        Mistake(
            "one topic for both inputs", SampleText.with("topics: { invalidations: a, invalidations_bulk: a }\n"),
            says: "10:26 two topics share the name a", "10:49 two topics share the name a"),
        Mistake(
            "a property that is a mapping", SampleText.replacing("keys:", "  properties: { a: { b: c } }\nkeys:"),
            says: "3:20 kafka.properties.a must be a string or a number"),
        Mistake(
            "metrics on the gateway's own address", pickup(session, "metrics: 127.0.0.1:8080"),
            says:
                "13:12 pickup.metrics and pickup.listen both listen on port 8080 of one address; write another port in pickup.metrics"
        ),
        Mistake(
            "metrics on every address", pickup(session, "metrics: 0.0.0.0:8080"),
            says: "13:12 pickup.metrics and pickup.listen both listen on port 8080"),
        Mistake(
            "keys of another host that only looks like this machine",
            pickup("session: { issuer: i, jwks: 'http://127.0.0.1:80@evil.example/jwks' }"),
            says: "12:31 pickup.session.jwks must not hold a user name or a password"),
        Mistake(
            "an alias inside its own anchor", ConfigurationFile("kafka: &k [*k]\n"),
            says: "1:12 not YAML: found undefined alias"),
        Mistake(
            "an unknown escape", ConfigurationFile("kafka: \"\\q\"\n"),
            says: "1:9 not YAML: found unknown escape character"),
    ]

    @Test(arguments: all) func `a mistake is reported with its place`(_ mistake: Mistake) { mistake.check() }

    @Test func `a URL of keys may have a query`() throws {
        let url = "https://login.example/tenant/keys?p=policy"
        let file = Self.pickup("session: { issuer: i, jwks: '\(url)' }")
        #expect(try file.configuration().pickup?.sessions.first?.keySet == url)
    }
}
