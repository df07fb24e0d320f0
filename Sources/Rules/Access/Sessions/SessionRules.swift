public import JOSE

/// The requirements on a JWT that is a customer's session.
public struct SessionRules: Sendable {
    /// The name of the rules, which sessions that satisfy them carry.
    public var name = "session"
    /// `iss`, byte for byte.
    public var issuer: String
    /// The required audience, as `aud` or in its list. Nil for an issuer that signs for nobody else: any token of that
    /// issuer passes.
    public var audience: String?
    /// The algorithms that may sign sessions. HMAC algorithms only work with shared secrets given by hand: a key set
    /// that is fetched holds none.
    public var algorithms: Set<Algorithm>
    /// The tolerated difference of the issuer's clock, 0 to 300 seconds.
    public var skew: Duration
    /// Further audiences that some app asks for. A session carries those that it names.
    public var audiences: [String]
    /// The claims that name a user for some app. A session names a user by one of them at least.
    public var userClaims: [String]
    /// The longest session, in bytes.
    public var mostBytes: Int

    /// Rules for sessions. By default the common asymmetric algorithms are allowed, clocks may differ by 30 seconds,
    /// `sub` is the user, and a session has at most 8 kB.
    public init(
        issuer: String, audience: String?, algorithms: Set<Algorithm> = [.rs256, .ps256, .es256, .eddsa],
        skew: Duration = .seconds(30), audiences: [String] = [], userClaims: [String] = ["sub"],
        mostBytes: Int = 8 << 10
    ) {
        self.issuer = issuer
        self.audience = audience
        self.algorithms = algorithms
        self.skew = skew
        self.audiences = audiences
        self.userClaims = userClaims
        self.mostBytes = mostBytes
    }

    /// The longest name of a user, in bytes.
    public static let longestUser = 1024

    /// The time ahead from which `exp` cannot be meant in seconds: ten years.
    static let longestLife: Int64 = 3650 * 86_400

    /// `skew` within its bounds.
    var boundedSkew: Duration { min(max(skew, .zero), .seconds(300)) }

    /// The types of tokens that declare to be something else than a session (RFC 8725, section 3.11; IANA's media types
    /// for JWTs).
    static let foreignTypes: Set<String> = [
        "dpop+jwt", "jwe", "jose", "jose+json", "logout+jwt", "secevent+jwt", "oauth-authz-req+jwt",
        "token-introspection+jwt", "entity-statement+jwt", "kb+jwt",
    ]
}
