public import AdapterKit

/// Infobip Mobile Messaging: HS256 tokens with a hex secret, pulled by the SDK before every call.
///
/// Source of every rule: Infobip's documentation of JWT authorization and the SDKs' own code, see this adapter's README.
///
/// What its members promise is said at `Adapter`; those with words of their own follow a rule of this vendor's.
public struct InfobipAdapter: Adapter {
    public static let name = "infobip"
    public static let vendor = "Infobip"

    private let settings: InfobipSettings
    private let appRecipe: Recipe

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

    public var deviceCall: DeviceCall { DeviceCall("return it from getJwt()") }

    public var lifetime: LifetimeBounds { Self.lifetimeBounds }

    public var secretEncoding: SecretEncoding? { .hex }

    public func recipe(for subject: Subject) -> Recipe { appRecipe }

    public func read(_ report: Report) -> Reading {
        InfobipReport(report, applicationCode: settings.applicationCode).reading
    }

    public func subject(reissuing user: JSONValue) throws(Rejection) -> Subject {
        try Subject(reissuing: user, within: Self.userLimit)
    }

    public func subject(named claims: JSONValue) -> Subject? { claims["sub"]?.string.map { Subject(user: $0) } }

    /// Each account has its own host. Minting asks nobody, so an unknown user is given a token unless the app says
    /// otherwise.
    public var lookupTerms: LookupTerms? {
        LookupTerms(authorization: .key(scheme: "App"), batch: InfobipLookup.batch, rates: [Self.lookupRate])
    }

    public func lookup(for subjects: [Subject], mode: LookupMode) -> Lookup {
        InfobipLookup().requests(for: subjects, mode: mode)
    }

    public func verdicts(from response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict] {
        InfobipLookup().verdicts(on: response, for: subjects)
    }

    public func stub(_ setting: StubSetting) -> (any VendorStub)? { InfobipStub(setting) }

    public func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict {
        InfobipVerifier(applicationCode: settings.applicationCode, keys: keys)
            .verdict(on: token, expecting: subject, at: time)
    }

    /// 5 requests a second for an account. Matches are allowed 15; the lesser figure is kept for both.
    static let lookupRate = LookupTerms.Rate(5)

    /// `externalId` of the People API's specification.
    static let userLimit = IdentifierLimit.characters(256)

    /// A device whose clock runs ahead "expires" good tokens, hence the least of 300 s.
    private static let lifetimeBounds = LifetimeBounds(standard: 900, allowed: 300...86_400)
}
