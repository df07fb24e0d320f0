import Testing
import WorkerConfiguration

@Suite("Mistakes in pickup")
struct PickupMistakeTests {
    /// The section stands from line 10 on.
    private static func pickup(_ lines: String...) -> ConfigurationFile {
        SampleText.with((["pickup:"] + lines.map { "  \($0)" }).joined(separator: "\n") + "\n")
    }

    private static let listen = "listen: 127.0.0.1:8080"
    private static let session = "session: { issuer: https://login.example, jwks: keys.json }"

    static let all: [Mistake] = [
        Mistake(
            "an unknown key", pickup(listen, session, "lisen: x"),
            says: "13:3 unknown key pickup.lisen; did you mean listen?"),
        Mistake("no address", pickup(session), says: "10:1 pickup.listen is missing"),
        Mistake(
            "an address without a port", pickup("listen: 127.0.0.1", session),
            says: "11:11 pickup.listen must be host:port, such as 127.0.0.1:8080"),
        Mistake(
            "metrics on the gateway's own address", pickup(listen, session, "metrics: 127.0.0.1:8080"),
            says:
                "13:12 pickup.metrics and pickup.listen both listen on port 8080 of one address; write another port in pickup.metrics"
        ),
        Mistake(
            "metrics on every address", pickup(listen, session, "metrics: 0.0.0.0:8080"),
            says: "13:12 pickup.metrics and pickup.listen both listen on port 8080"),
        Mistake("nobody may ask", pickup(listen), says: "10:1 pickup has neither session nor api_keys"),
        Mistake(
            "a proof that nobody knows", pickup(listen, session, "proof: mtls"),
            says: "13:10 pickup.proof must be none or dpop"),
        Mistake(
            "a cache of nothing", pickup(listen, session, "cache: 1kB"), says: "13:10 pickup.cache must be from 1MB to"
        ),
        Mistake(
            "a rate of nothing", pickup(listen, session, "user_rate: 0"), says: "13:14 pickup.user_rate must be"),
        Mistake(
            "an origin with a path", pickup(listen, session, "origins: [https://shop.example/]"),
            says: "13:12 pickup.origins are origins as browsers send them"),
        Mistake(
            "an origin in capitals", pickup(listen, session, "origins: [https://Shop.example]"),
            says: "13:12 pickup.origins are origins as browsers send them"),
        Mistake(
            "an app's origin in another spelling", pickup(listen, session, "origins: [capacitor://localhost/]"),
            says: "13:12 pickup.origins are origins as browsers send them"),
        Mistake(
            "an origin of a scheme that no browser has", pickup(listen, session, "origins: [ftp://shop.example]"),
            says: "13:12 pickup.origins are origins as browsers send them"),
        Mistake(
            "an origin of all", pickup(listen, session, "origins: ['*']"),
            says: "13:12 pickup.origins are origins as browsers send them"),
        Mistake(
            "origins that are no list", pickup(listen, session, "origins: https://shop.example"),
            says: "13:12 pickup.origins must be a list of texts"),
        Mistake(
            "a public URL without a scheme", pickup(listen, session, "public_url: tokens.example"),
            says: "13:15 pickup.public_url must be a URL that begins with https://"),
        Mistake(
            "a session without an issuer", pickup(listen, "session: { jwks: keys.json }"),
            says: "12:3 pickup.session.issuer is missing"),
        Mistake(
            "a session without keys", pickup(listen, "session: { issuer: https://login.example }"),
            says: "12:3 pickup.session.jwks is missing"),
        Mistake(
            "keys in plain text over the network",
            pickup(listen, "session: { issuer: i, jwks: 'http://login.example/jwks' }"),
            says: "12:31 pickup.session.jwks must be an https URL, or a file"),
        Mistake(
            "keys of another host that only looks like this machine",
            pickup(listen, "session: { issuer: i, jwks: 'http://127.0.0.1:80@evil.example/jwks' }"),
            says: "12:31 pickup.session.jwks must not hold a user name or a password"),
        Mistake(
            "sessions signed with a shared secret",
            pickup(listen, "session: { issuer: i, jwks: keys.json, algorithms: [HS256] }"),
            says: "12:54 pickup.session.algorithms knows"),
        Mistake(
            "a clock that may be anything", pickup(listen, "session: { issuer: i, jwks: keys.json, skew: 1h }"),
            says: "12:48 pickup.session.skew must be"),
        Mistake(
            "a key set fetched all the time", pickup(listen, "session: { issuer: i, jwks: keys.json, cool_down: 0s }"),
            says: "12:53 pickup.session.cool_down must be"),
        Mistake(
            "a session for an app that is not there", pickup(listen, session, "apps: { andriod: { issuer: i } }"),
            says: "13:11 apps has no app called andriod"),
        Mistake(
            "an API key instead of its hash", pickup(listen, "api_keys: { backend: { hash: rmk_abc } }"),
            says: "12:32 pickup.api_keys.backend.hash must be 64 hexadecimal digits"),
        Mistake(
            "an API key for an app that is not there",
            pickup(listen, "api_keys: { backend: { hash: \(String(repeating: "0", count: 64)), apps: [web] } }"),
            says: "12:105 apps has no app called web"),
        Mistake(
            "a certificate without a key", pickup(listen, session, "tls: { certificate: chain.pem }"),
            says: "13:3 pickup.tls.key is missing"),
    ]

    @Test(arguments: all) func `a mistake in pickup is reported with its place`(mistake: Mistake) { mistake.check() }

    @Test func `a URL of keys may have a query`() throws {
        let url = "https://login.example/tenant/keys?p=policy"
        let file = Self.pickup(Self.listen, "session: { issuer: i, jwks: '\(url)' }")
        #expect(try file.configuration().pickup?.sessions.first?.keySet == url)
    }
}
