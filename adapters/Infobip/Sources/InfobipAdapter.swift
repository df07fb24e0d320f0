public import AdapterKit
public import AdapterStubs

/// Infobip Mobile Messaging: HS256 tokens with a hex secret, pulled by the SDK before every call.
///
/// Source of every rule: Infobip's documentation of JWT authorization and the SDKs' own code, see this adapter's README.
///
/// `Adapter` documents what its members promise. The comments here give this vendor's rules for them.
public struct InfobipAdapter: StubbedAdapter {
    /// The name in `apps.*.adapter`.
    public static let name = "infobip"
    /// Infobip, as it spells itself.
    public static let vendor = "Infobip"
    /// Infobip's codes, and the response to each.
    public static let codes = InfobipCode.rows

    private let settings: InfobipSettings
    private let appRecipe: Recipe

    /// An adapter for one App Profile.
    ///
    /// - Throws: `SettingsError` where `application_code` is empty.
    public init(settings: InfobipSettings) throws(SettingsError) {
        guard !settings.applicationCode.isEmpty else {
            throw SettingsError(
                "application_code", "is empty; it is the App Profile's Application Code, not a REST API key")
        }
        self.settings = settings
        appRecipe = Recipe(
            algorithm: .hs256, header: Recipe.typeAndKeyID,
            claims: [
                Claim("typ", .constant(InfobipVerifier.tokenType)),
                Claim("sub", .user),
                Claim("infobip-api-key", .constant(settings.applicationCode)),
                Claim("iss", .constant(settings.applicationCode)),
                Claim("iat", .issuedAt),
                Claim("exp", .expiresAt),
                Claim("jti", .uuid),
            ],
            lifetime: Self.lifetimeBounds)
    }

    /// HS256, the only algorithm of Infobip's JWT authorization.
    public var algorithm: Algorithm { .hs256 }

    /// Keys are chosen by `kid`; several seem possible.
    public var keyHandover: KeyHandover {
        KeyHandover(
            origin: .vendor, overlap: .several,
            beforePromotion: [
                "Infobip portal: App Profile > JWT private keys > Generate key: an id and a secret in hex.",
                "Import the secret under that id: remint keys import --id ID --encoding hex.",
            ],
            afterRetirement: ["App Profile > JWT private keys > delete the old key."])
    }

    /// iOS and Android pull a token before every call; the wrappers are handed one with `setUserDataJwt`.
    public var deviceCall: DeviceCall { DeviceCall("return it from getJwt()") }

    /// In seconds: 15 minutes unless configured, 5 minutes to a day.
    public var lifetime: LifetimeBounds { Self.lifetimeBounds }

    /// The App Profile page shows the JWT private key in hex; the bytes that it stands for are the key.
    public var secretEncoding: SecretEncoding? { .hex }

    /// `typ` (Bearer), `sub`, the Application Code as `infobip-api-key` and `iss`, `iat`, `exp` and a fresh `jti`; with the
    /// key's `kid`.
    public func recipe(for subject: Subject) -> Recipe { appRecipe }

    /// An error in one of the SDKs' or the server's shapes. No SDK supplies `externalUserId`, so the app adds it. Codes that
    /// are not about the token are skipped (ours).
    public func read(_ report: Report) -> Reading {
        InfobipReport(report, applicationCode: settings.applicationCode).reading
    }

    /// At most 256 characters: `externalId` of the People API's specification.
    public var identifiers: IdentifierRule { IdentifierRule(.characters(256)) }

    /// `sub`, the external user id.
    public func subject(named claims: JSONValue) -> Subject? { claims["sub"]?.string.map { Subject(user: $0) } }

    /// Each account has its own host. Minting asks nobody, so an unknown user gets a token unless the app's
    /// configuration forbids it.
    public var lookupTerms: LookupTerms? {
        LookupTerms(authorization: .key(scheme: "App"), batch: InfobipLookup.batch, rates: [Self.lookupRate])
    }

    /// One user by `GET /people/2/persons`, several by `POST …/match`, 50 at most (ours: the bound is not documented).
    public func lookup(for subjects: [Subject], mode: LookupMode) -> Lookup {
        InfobipLookup().requests(for: subjects, mode: mode)
    }

    /// Returns the verdicts of the People API, which confirms a user by that very external id. A user that it leaves
    /// out is not met yet, and nobody is ever gone.
    public func verdicts(from response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict] {
        InfobipLookup().verdicts(on: response, for: subjects)
    }

    /// Both calls of the People API, an `InfobipStub`.
    public func stub(_ setting: StubSetting) -> (any VendorStub)? { InfobipStub(setting) }

    /// First as the device checks a token, for its members alone (codes 10 to 16), then as the server: 401 UNAUTHORIZED.
    public func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict {
        InfobipVerifier(applicationCode: settings.applicationCode, keys: keys)
            .verdict(on: token, expecting: subject, at: time)
    }

    /// 5 requests a second for an account. Matches are allowed 15; the lesser figure is kept for both.
    static let lookupRate = LookupTerms.Rate(5)

    /// A device whose clock runs ahead "expires" good tokens, hence the least of 300 s.
    private static let lifetimeBounds = LifetimeBounds(standard: 900, allowed: 300...86_400)
}
