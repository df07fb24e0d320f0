import AdapterKit
import Testing

@testable import Signing

/// A header, a payload, and a policy's verdict on them.
struct SigningCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var header = #"{"alg":"ES256"}"#
    var payload = #"{"exp":1800003600,"iss":"shop"}"#
    var algorithms: Set<Algorithm>?
    var longestLife: Duration?
    var issuer: String?
    let violation: PolicyViolation?

    var policy: SigningPolicy {
        SigningPolicy(
            SigningPolicy.any.templates, algorithms: algorithms,
            longestLife: longestLife ?? SigningPolicy.any.longestLife, issuer: issuer)
    }

    static let all = [
        SigningCase(testDescription: "a token", violation: nil),
        SigningCase(testDescription: "one that has expired", payload: #"{"exp":1}"#, violation: nil),
        SigningCase(testDescription: "an exp with a fraction", payload: #"{"exp":1800003600.5}"#, violation: .template),
        SigningCase(testDescription: "400 days", payload: #"{"exp":1834560000}"#, violation: nil),
        SigningCase(testDescription: "a second more", payload: #"{"exp":1834560001}"#, violation: .expiry),
        SigningCase(testDescription: "for ever", payload: #"{"exp":1e300}"#, violation: .expiry),
        SigningCase(
            testDescription: "an exp that is no number", payload: #"{"exp":"1800003600"}"#, violation: .noExpiry),
        SigningCase(testDescription: "an exp that is too large", payload: #"{"exp":1e400}"#, violation: .noExpiry),
        SigningCase(testDescription: "no exp", payload: #"{"iat":1}"#, violation: .noExpiry),
        SigningCase(testDescription: "two of them", payload: #"{"exp":1,"exp":1e300}"#, violation: .notClaims),
        SigningCase(testDescription: "an array", payload: #"[{"exp":1}]"#, violation: .notClaims),
        SigningCase(testDescription: "no JSON", payload: "exp", violation: .notClaims),
        SigningCase(testDescription: "no payload", payload: "", violation: .notSigningInput),
        SigningCase(testDescription: "a header that is no object", header: "[]", violation: .notSigningInput),
        SigningCase(testDescription: "no header", header: "", violation: .notSigningInput),
        SigningCase(testDescription: "no alg", header: "{}", violation: .headerAlgorithm),
        SigningCase(testDescription: "alg none", header: #"{"alg":"none"}"#, violation: .headerAlgorithm),
        SigningCase(testDescription: "another alg", header: #"{"alg":"ES384"}"#, violation: .headerAlgorithm),
        SigningCase(testDescription: "an algorithm of the policy", algorithms: [.es256, .rs256], violation: nil),
        SigningCase(testDescription: "none of the policy", algorithms: [.rs256], violation: .algorithm),
        SigningCase(
            testDescription: "a critical header", header: #"{"alg":"ES256","crit":["b64"],"b64":false}"#,
            violation: .template),
        SigningCase(
            testDescription: "another kind of token", header: #"{"alg":"ES256","typ":"dpop+jwt"}"#,
            violation: .template),
        SigningCase(
            testDescription: "a claim more", payload: #"{"exp":1800003600,"iss":"shop","server":true}"#,
            violation: .template),
        SigningCase(testDescription: "a blank", payload: #"{"exp": 1800003600}"#, violation: .template),
        SigningCase(testDescription: "an end before all times", payload: #"{"exp":-1e300}"#, violation: .template),
        SigningCase(
            testDescription: "the least of all ends", payload: #"{"exp":-9223372036854775808}"#, violation: .template),
        SigningCase(testDescription: "an hour of an hour", longestLife: .seconds(3600), violation: nil),
        SigningCase(testDescription: "too long a life", longestLife: .seconds(3599), violation: .expiry),
        SigningCase(testDescription: "the issuer", issuer: "shop", violation: nil),
        SigningCase(testDescription: "another issuer", issuer: "bank", violation: .issuer),
        SigningCase(testDescription: "no issuer", payload: #"{"exp":1}"#, issuer: "shop", violation: .issuer),
    ]
}

extension SigningPolicy {
    /// The terms of a ring that the configuration does not mention.
    static let any = SigningPolicy(
        Algorithm.allCases.map { TokenTemplate(PlainAdapter($0), lifetime: 400 * 86_400) }, algorithms: nil,
        longestLife: .seconds(400 * 86_400), issuer: nil)
}

/// An app whose tokens have an end and, where the edge knows them, an issuer and a string.
struct PlainAdapter: Adapter {
    struct Settings: AdapterSettings {
        static let keys: [SettingKey] = []
        init(from decoder: any Decoder) throws {}
    }

    static let name = "plain"
    static let vendor = "Plain"
    let algorithm: Algorithm
    let lifetime = LifetimeBounds(standard: 3600, allowed: 1...(400 * 86_400))
    let tokensNameUser = false

    init(_ algorithm: Algorithm) { self.algorithm = algorithm }

    init(settings: Settings) throws(SettingsError) { self.init(.hs256) }

    func read(_ report: Report) -> Reading { .rejected(Rejection(.malformedReport, "nothing is understood")) }

    func recipe(for subject: Subject) -> Recipe {
        let claims = [
            Claim("exp", .expiresAt), Claim("iss", .enrichment("iss")), Claim("text", .enrichment("text")),
        ]
        return Recipe(algorithm: algorithm, header: [], claims: claims, lifetime: lifetime)
    }

    func subject(named claims: JSONValue) -> Subject? { nil }

    func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict { .accepted }
}

@Suite struct SigningPolicyTests {
    @Test(arguments: SigningCase.all) func `a policy admits only tokens within its terms`(_ token: SigningCase) {
        let input = SignerBench.input(token.header, token.payload).bytes
        #expect(
            token.policy.violation(of: input, signedWith: .es256, keyID: nil, at: SignerBench.now) == token.violation)
    }

    @Test(arguments: ["", "e30", ".", "e30.", ".e30", "e30.e30.e30", "e30.e 0", "e30=.e30", "é.é"])
    func `a string that is no signing input violates the policy`(_ text: String) {
        let violation = SigningPolicy.any.violation(
            of: Array(text.utf8), signedWith: .es256, keyID: nil, at: SignerBench.now)
        #expect(violation == .notSigningInput)
    }

    @Test func `each violation has its own description`() {
        #expect(Set(PolicyViolation.allCases.map(\.description)).count == PolicyViolation.allCases.count)
    }
}
