public import AdapterKit

/// Braze SDK Authentication: RS256 tokens that name the user given to `changeUser`.
///
/// Source of every rule: Braze's "SDK Authentication" page and the SDKs' own code, see this adapter's README.
///
/// `Adapter` documents what its members promise. The comments here give this vendor's rules for them.
public struct BrazeAdapter: Adapter {
    /// The name in `apps.*.adapter`.
    public static let name = "braze"
    /// Braze, as it spells itself.
    public static let vendor = "Braze"
    /// Braze's codes, and the response to each.
    public static let codes =
        BrazeCode.allCases.flatMap(\.rows) + [
            VendorCode(
                BrazeCode.undocumentedName, matches: "any other code, no code", evidence: .none,
                remedy: BrazeCode.undocumented)
        ]

    private let settings: BrazeSettings
    private let appRecipe: Recipe

    /// An adapter for one app of a workspace.
    ///
    /// - Throws: `SettingsError` for an `sdk_api_key` that is there and empty: Braze checks `iss` against the app's own.
    public init(settings: BrazeSettings) throws(SettingsError) {
        guard settings.sdkAPIKey?.isEmpty != true else {
            throw SettingsError("sdk_api_key", "is empty; copy the app's SDK API key from Braze, or leave it out")
        }
        self.settings = settings
        appRecipe = Recipe(
            algorithm: .rs256, header: Recipe.typeOnly, claims: Self.claims(settings), lifetime: Self.lifetimeBounds)
    }

    /// RS256, the one algorithm that Braze takes ("SDK Authentication").
    public var algorithm: Algorithm { .rs256 }

    /// At most three public keys an app; a token passes if any of them verifies it. Braze's REST calls for keys exist since
    /// April 2025 (its pages "SDK Authentication" endpoints).
    public var keyHandover: KeyHandover {
        KeyHandover(
            origin: .ours, overlap: .several,
            beforePromotion: [
                "Braze holds at most three public keys an app: where there are three, first delete one whose tokens have all expired.",
                "Braze dashboard: Settings > App Settings > the app > SDK Authentication > Add Public Key: paste the PEM; or POST /app_group/sdk_authentication/create with make_primary false.",
                "Repeat for every app that uses this key ring: iOS, Android and Web are separate.",
            ],
            afterPromotion: [
                "SDK Authentication > Manage > Make Primary Key, for every app; or PUT /app_group/sdk_authentication/primary."
            ],
            afterRetirement: [
                "SDK Authentication > Manage > Delete Public Key: the old one (never possible while it is primary), for every app; or DELETE /app_group/sdk_authentication/delete. GET /app_group/sdk_authentication/keys shows what is left."
            ])
    }

    /// The call by which the SDKs set a new token for the signed-in user; `changeUser` with a token is for another
    /// user.
    public var deviceCall: DeviceCall { DeviceCall("setSdkAuthenticationSignature(jwt)") }

    /// In seconds: 12 hours unless configured, a minute to 30 days. Braze states no maximum.
    public var lifetime: LifetimeBounds { Self.lifetimeBounds }

    /// `sub` and `exp`, and by the settings `aud` and `iss`; the same for every user. No `kid`: Braze tries its keys.
    public func recipe(for subject: Subject) -> Recipe { appRecipe }

    /// One of the three spellings of the SDKs' failure, with Braze's code; which remedy each code has is ours (README, "What
    /// the SDKs report").
    public func read(_ report: Report) -> Reading {
        BrazeReport(report, enforcement: settings.enforcement).reading
    }

    /// Web, Android, iOS and React Native report the failing token as `signature` or `original_signature`; Flutter on Android
    /// does not.
    public var reportsFailedToken: Bool { true }

    /// `sub`, the id given to `changeUser`.
    public func subject(named claims: JSONValue) -> Subject? { claims["sub"]?.string.map { Subject(user: $0) } }

    /// From form to content: RS256 by one of `keys`, `exp`, `aud` and `iss` where the token has them, `sub`; each fault with
    /// Braze's own code (10, 20 to 27). The order of Braze's checks is not documented.
    public func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict {
        BrazeVerifier(settings: settings, keys: keys).verdict(on: token, expecting: subject, at: time)
    }

    /// Braze states no maximum. Its sample app lets tokens live 12 hours; its advice (session, cookie or profile refresh
    /// interval, whichever is longest) can ask for weeks.
    private static let lifetimeBounds = LifetimeBounds(standard: 12 * 3600, allowed: 60...(30 * 86_400))

    private static func claims(_ settings: BrazeSettings) -> [Claim] {
        var claims = [Claim("sub", .user), Claim("exp", .expiresAt)]
        if settings.audience { claims.append(Claim("aud", .constant(BrazeVerifier.audience))) }
        if let apiKey = settings.sdkAPIKey { claims.append(Claim("iss", .constant(apiKey))) }
        return claims
    }
}
