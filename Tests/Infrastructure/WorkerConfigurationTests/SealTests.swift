import AdapterKit
import Testing
import WorkerConfiguration

@Suite("The recipients of an app's tokens")
struct SealTests {
    /// The public keys of RFC 7517, appendix A.1, made recipients.
    private static let curve =
        #""kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","#
        + #""y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM""#
    private static let rsa =
        #""kty":"RSA","e":"AQAB","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tS"#
        + "oc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSq"
        + "zs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0L"
        + #"s1jF44-csFCur-kEgU8awapJzKnqDKgw""#
    private static let named = #","kid":"pickup-1","alg":"ECDH-ES+A256KW""#
    /// The secret that no message may repeat.
    private static let secret = "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE"

    /// An app whose `seal` names a file with `jwk`, in line 10 from column 11; nil for no file.
    private static func app(_ jwk: String?, _ more: String = "") -> ConfigurationFile {
        SampleText.with("    seal: recipient.jwk\n\(more)").with(files: jwk.map { ["conf/recipient.jwk": $0] } ?? [:])
    }

    private static func app(members: String) -> ConfigurationFile { app("{\(members)}") }

    @Test(arguments: [
        "{\(curve),\"kid\":\"pickup-1\",\"alg\":\"ECDH-ES+A256KW\",\"use\":\"enc\"}",
        "{\(rsa),\"kid\":\"pickup-1\",\"alg\":\"RSA-OAEP-256\"}\n",
    ])
    func `a seal's public key with a kid is read from a file beside the configuration`(_ jwk: String) throws {
        let app = try #require(try Self.app(jwk).configuration().apps.first)
        #expect(app.seal?.keyID == "pickup-1")
        #expect(app.publication == .none)
    }

    @Test func `an app without seal and publication has neither, written or not`() throws {
        for more in ["", "    seal:\n    publish: none\n", "    seal: null\n    publish:\n"] {
            let app = try #require(try SampleText.with(more).configuration().apps.first)
            #expect(app.seal == nil && app.publication == .none)
        }
    }

    @Test func `Centrifugo's headers are asked for by name`() throws {
        let file = SampleText.with("    publish: centrifugo\n")
        #expect(try file.configuration().apps.map(\.publication) == [.centrifugo])
        #expect(file.warnings().isEmpty)
    }

    @Test func `devices that are handed what they cannot open are pointed out`() throws {
        let file = Self.app("{\(Self.curve)\(Self.named)}", "    publish: centrifugo\n")
        let app = try #require(try file.configuration().apps.first)
        #expect(app.seal != nil && app.publication == .centrifugo)
        #expect(
            file.warnings() == [
                "conf/remint.yaml:11:14: warning: apps.ios.publish hands devices what apps.ios.seal keeps from them: they cannot open it; remove one of the two"
            ])
    }

    static let mistakes: [Mistake] = [
        Mistake(
            "a variable that is empty", SampleText.with("    seal: ${SEAL:-}\n"), says: "10:11 apps.ios.seal is empty"),
        Mistake("a list", SampleText.with("    seal: [a.jwk]\n"), says: "10:11 apps.ios.seal must be a string"),
        Mistake(
            "a switch", SampleText.with("    seal: true\n"), says: "10:11 the file of apps.ios.seal cannot be read"),
        Mistake(
            "a private key", app(members: #"\#(curve)\#(named),"d":"\#(secret)""#),
            says:
                "10:11 the file of apps.ios.seal cannot be used: the JWK holds a private key (\"d\"); name a file with its public members alone"
        ),
        Mistake(
            "a key for signatures", app(members: #"\#(curve),"kid":"k","alg":"ES256""#),
            says:
                "10:11 the file of apps.ios.seal cannot be used: the JWK's \"alg\" is neither ECDH-ES+A256KW nor RSA-OAEP-256"
        ),
        Mistake(
            "another use", app(members: #"\#(curve)\#(named),"use":"sig""#),
            says: "10:11 the file of apps.ios.seal cannot be used: the JWK's \"use\" is not \"enc\""),
        Mistake(
            "no alg", app(members: #"\#(curve),"kid":"k""#),
            says: "10:11 the file of apps.ios.seal cannot be used: the JWK has no string \"alg\"; state"),
        Mistake(
            "the other algorithm", app(members: #"\#(rsa)\#(named)"#),
            says: "10:11 the file of apps.ios.seal cannot be used: ECDH-ES+A256KW needs a JWK whose \"kty\" is EC"),
        Mistake(
            "a set of keys", app(members: #""keys":[{\#(curve)\#(named)}]"#),
            says: "10:11 the file of apps.ios.seal cannot be used: the JWK has no \"kty\""),
        Mistake("an empty file", app(""), says: "10:11 the file of apps.ios.seal cannot be used: not a JWK: "),
        Mistake(
            "a misspelt reader", SampleText.with("    publish: centrifuge\n"),
            says: "10:14 apps.ios.publish must be none or centrifugo; did you mean centrifugo?"),
        Mistake(
            "a misspelt seal", SampleText.with("    seel: recipient.jwk\n"),
            says: "10:5 unknown key apps.ios.seel; did you mean seal?"),
    ]

    @Test(arguments: mistakes) func `a mistake in a seal is reported with its place`(_ mistake: Mistake) {
        mistake.check()
        for error in mistake.file.errors() { #expect(!error.contains(Self.secret)) }
    }
}
