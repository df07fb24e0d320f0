public import AdapterKit
public import AdapterStubs

/// Dotdigital's push SDK (Comapi): a session start is a challenge, and the token that answers it holds its nonce.
///
/// A token is good for one start: it is never made ahead, never reused and never sent to another device. Source of every
/// rule: the Comapi documentation and the SDKs' own code, see this adapter's README.
///
/// `Adapter` documents what its members promise. The comments here give this vendor's rules for them.
public struct DotdigitalAdapter: StubbedAdapter {
    /// The name in `apps.*.adapter`.
    public static let name = "dotdigital"
    /// Dotdigital, as it spells itself.
    public static let vendor = "Dotdigital"
    /// The reasons that an app may send, and the response to each.
    public static let codes = DotdigitalReason.rows

    private let settings: DotdigitalSettings
    private let appRecipe: Recipe

    /// An adapter for one push profile.
    ///
    /// - Throws: `SettingsError` where `issuer`, `audience` or `id_claim` is empty, where the ID claim is another claim's name,
    ///   and where a look-up's target cannot be meant.
    public init(settings: DotdigitalSettings) throws(SettingsError) {
        for (key, value) in [
            ("issuer", settings.issuer), ("audience", settings.audience), ("id_claim", settings.idClaim),
        ]
        where value.isEmpty {
            throw SettingsError(key, "is empty; copy it from the push profile in Dotdigital")
        }
        guard !Self.otherClaims.contains(settings.idClaim) else {
            throw SettingsError("id_claim", "is the name of another claim of the token; the usual one is \"sub\"")
        }
        try settings.lookup.check()
        self.settings = settings
        appRecipe = Recipe(
            algorithm: .hs256, header: Recipe.typeOnly,
            claims: [
                Claim("iss", .constant(settings.issuer)),
                Claim("aud", .constant(settings.audience)),
                Claim(settings.idClaim, .user),
                Claim("nonce", .challenge),
                Claim("iat", .issuedAt),
                Claim("exp", .expiresAt),
            ],
            lifetime: Self.lifetimeBounds)
    }

    /// HS256, the only algorithm of the documentation's tokens.
    public var algorithm: Algorithm { .hs256 }

    /// One secret per push profile; no grace after a change is documented, so none is assumed.
    public var keyHandover: KeyHandover {
        KeyHandover(
            origin: .shared, overlap: .none,
            beforePromotion: [
                "Dotdigital: the push profile > change the shared secret to the prepared one, then promote it at once, with --now."
            ],
            afterRetirement: ["Keep the old secret for diagnosis only."])
    }

    /// The call by which a device answers the challenge, once; null gives the start up.
    public var deviceCall: DeviceCall { DeviceCall("authenticateWithToken(jwt)") }

    /// In seconds: 15 minutes unless configured, a minute to 12 hours ("minutes to hours").
    public var lifetime: LifetimeBounds { Self.lifetimeBounds }

    /// The push profile's shared secret is a string: its UTF-8 bytes are the key.
    public var secretEncoding: SecretEncoding? { .utf8 }

    /// `iss`, `aud`, the push profile's ID claim, the challenge's `nonce`, and `iat` and `exp` in whole seconds. No `kid`.
    public func recipe(for subject: Subject) -> Recipe { appRecipe }

    /// A challenge, or what came of one. Its deadline is the earlier of `expiresOn` and 300 s after it was observed, which is
    /// how long the Android SDK waits, less 5 s (ours).
    public func read(_ report: Report) -> Reading { DotdigitalReport(report).reading }

    /// A token answers one challenge of one device, so there is nothing a batch job could make ahead.
    public func subject(reissuing user: JSONValue) throws(Rejection) -> Subject {
        throw Rejection(
            .missingChallenge, "a Dotdigital token answers a device's challenge and cannot be made ahead of it")
    }

    /// The push profile's ID claim with `nonce`; a token without either answers nobody.
    public func subject(named claims: JSONValue) -> Subject? {
        guard let user = claims[settings.idClaim]?.string, let nonce = claims["nonce"]?.string else { return nil }
        return Subject(user: user, challenge: nonce)
    }

    /// Each region has its own host. The limits' figures are not published; 121 s is the client time-out that the
    /// specification asks for. The start of a session makes the profile, so a first-time user is not known yet.
    public var lookupTerms: LookupTerms? {
        LookupTerms(authorization: .basic, rates: [Self.lookupRate], timeout: 121)
    }

    /// The profile or the contact, whichever the settings name; one user a request.
    public func lookup(for subjects: [Subject], mode: LookupMode) -> Lookup {
        DotdigitalLookup(target: settings.lookup).requests(for: subjects, mode: mode)
    }

    /// Returns the verdict of the answer to `lookup`, which confirms a user by the very bytes of the id. A first-time
    /// user is normally not met yet.
    public func verdicts(from response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict] {
        guard let subject = subjects.first, subjects.count == 1 else {
            return subjects.map { _ in .unanswered(LookupFailure(.unreadable, "the answer is about one user")) }
        }
        return [DotdigitalLookup(target: settings.lookup).verdict(on: response, for: subject)]
    }

    /// Both calls of the REST API, a `DotdigitalStub`.
    public func stub(_ setting: StubSetting) -> (any VendorStub)? { DotdigitalStub(setting) }

    /// Accepted, or 403 Invalid JWT, whatever was wrong: signature, issuer, audience, user, nonce or times.
    public func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict {
        let inspection = TokenInspection(token)
        guard inspection.partCount == 3, inspection.isSigned(byAnyOf: keys.filter { $0.algorithm == .hs256 }),
            let claims = inspection.claims, claims["iss"]?.string == settings.issuer,
            claims["aud"]?.string == settings.audience, let user = claims[settings.idClaim]?.string, !user.isEmpty,
            user.hasSameBytes(as: subject.user), let nonce = claims["nonce"]?.string,
            nonce.hasSameBytes(as: subject.challenge),
            isSeconds(claims["iat"]), isSeconds(claims["exp"]), let expiresAt = inspection.time("exp"),
            expiresAt > time.seconds
        else { return Self.invalid }
        return .accepted
    }

    /// The refusal of every faulty token, whatever was wrong.
    private static let invalid = VendorVerdict.refused(code: "403", name: "Invalid JWT")

    /// Documented as minutes to hours. A token serves one start, and Android logs it: short.
    private static let lifetimeBounds = LifetimeBounds(standard: 900, allowed: 60...43_200)

    /// The highest rate of requests, under a limit that nobody publishes.
    static let lookupRate = LookupTerms.Rate(5)

    private static let otherClaims: Set<String> = ["iss", "aud", "nonce", "iat", "exp"]

    /// Integers below 10^11: anything above counts milliseconds, the cause of a 403 the vendor documents.
    private func isSeconds(_ claim: JSONValue?) -> Bool {
        guard let seconds = claim?.integer else { return false }
        return seconds < 100_000_000_000
    }
}
