public import AdapterKit
public import AdapterStubs

/// OneSignal Identity Verification: ES256 tokens that name the external id given to `login`.
///
/// Source of every rule: OneSignal's "Identity Verification" page (beta) and the SDKs' own code, see this adapter's
/// README.
///
/// `Adapter` documents what its members promise. The comments here give this vendor's rules for them.
public struct OneSignalAdapter: StubbedAdapter {
    /// The name in `apps.*.adapter`.
    public static let name = "onesignal"
    /// OneSignal, as it spells itself.
    public static let vendor = "OneSignal"
    /// The one reason, since OneSignal's SDKs report no code. The remedy repeats within the guard's two tokens.
    public static let codes = [
        VendorCode(
            OneSignalReport.reason, matches: "every report", when: "two tokens in a row, then a dead letter",
            evidence: OneSignalReport.evidence, remedy: .mint)
    ]

    let settings: OneSignalSettings
    private let appRecipe: Recipe

    /// An adapter for one OneSignal app.
    ///
    /// - Throws: `SettingsError` where `app_id` is empty.
    public init(settings: OneSignalSettings) throws(SettingsError) {
        guard !settings.appID.isEmpty else {
            throw SettingsError("app_id", "is empty; it is the OneSignal App ID, a UUID under Settings > Keys & IDs")
        }
        self.settings = settings
        appRecipe = Recipe(
            algorithm: .es256, header: Recipe.typeOnly,
            claims: [
                Claim("iss", .constant(settings.appID)),
                Claim("exp", .expiresAt),
                Claim("identity", .object([Claim("external_id", .user)])),
                Claim("subscriptions", .enrichment("subscriptions")),
            ],
            lifetime: Self.lifetimeBounds)
    }

    /// ES256, by the P-256 key of "Generate New Keys".
    public var algorithm: Algorithm { .es256 }

    /// One key at a time; whether the one before survives is not documented, so it is taken not to.
    public var keyHandover: KeyHandover {
        KeyHandover(
            origin: .vendor, overlap: .none,
            beforePromotion: [
                "Choose a quiet hour: every token of the old key is taken to be refused from the next step on.",
                "OneSignal dashboard: Settings > Keys & IDs > Identity Verification > Generate New Keys; download.",
                "Import the private key (remint keys import) and promote it at once, with --now.",
            ],
            afterPromotion: [
                "Every active user reports once; calls in flight may report again.",
                "In trouble: switch Identity Verification off, repair, switch it on.",
            ])
    }

    /// The SDKs want the external id beside its token.
    public var deviceCall: DeviceCall {
        DeviceCall("OneSignal.updateUserJwt(externalId, token)", wantsIdentifier: true)
    }

    /// In seconds: an hour unless configured, a minute to a day. The vendor states no maximum.
    public var lifetime: LifetimeBounds { Self.lifetimeBounds }

    /// The SDK gives no reason. Android's late 401 can drop a fresh token, so a second one is minted; a third report
    /// means a wrong key or App ID.
    public var loopGuard: LoopGuard { LoopGuard(tokens: 2, countsEveryReport: true) }

    /// `iss` (the App ID), `exp`, `identity.external_id`, and `subscriptions` where they are granted or looked up. No `kid`.
    public func recipe(for subject: Subject) -> Recipe { appRecipe }

    /// Placeholders are no external ids (OneSignal's page "Users"): many people would share one user.
    public var identifiers: IdentifierRule { Self.identifierRule }

    /// The external id and nothing else, which is all that the SDKs report; a report that names another app is refused.
    public func read(_ report: Report) -> Reading { OneSignalReport(report, appID: settings.appID).reading }

    /// The user's id and, to add an e-mail address or a phone number, the pairs to grant:
    /// `{"user":"u-42","subscriptions":[{"type":"Email","token":"ann@example.com"}]}`. OneSignal lets a device add an address
    /// that its token names, so a pair comes from the app's backend and never from a device.
    public func vouchedUser(_ members: JSONValue) throws(Rejection) -> VouchedUser {
        let user = try VouchedUser.id("user", in: members, besides: [GrantedSubscriptions.name])
        guard let granted = members[GrantedSubscriptions.name] else { return VouchedUser(Subject(user: user)) }
        let claim = try GrantedSubscriptions(granted).claim
        return VouchedUser(Subject(user: user), grants: Enrichment([GrantedSubscriptions.name: claim]))
    }

    /// Pairs of a type and an address, as the app's backend and the look-up give them.
    public func admits(_ value: JSONValue, as name: String) -> Bool {
        value.isArray
            && value.elements.allSatisfy { pair in
                pair.members.count == 2 && ["Email", "SMS"].contains(pair["type"]?.string)
                    && pair["token"]?.isString == true
            }
    }

    /// `identity.external_id`, the id given to `login`.
    public func subject(named claims: JSONValue) -> Subject? {
        claims["identity"]?["external_id"]?.string.map { Subject(user: $0) }
    }

    /// 1 request a second for an app (OneSignal, "Rate limits"), without batches. A first login is met by its token, so an
    /// unknown user is given one.
    public var lookupTerms: LookupTerms? {
        LookupTerms(
            endpoint: "https://api.onesignal.com",
            authorization: settings.lookupAuthorization == .key ? .key(scheme: "Key") : .mintedToken,
            rates: [LookupTerms.Rate(1)], enriches: true)
    }

    /// The identity, or the whole user where its subscriptions become a claim; one user a request.
    public func lookup(for subjects: [Subject], mode: LookupMode) -> Lookup {
        OneSignalLookup(appID: settings.appID).requests(for: subjects, mode: mode)
    }

    /// Returns the verdict of OneSignal, which confirms a user by that very external id. A 404 is a user not met yet,
    /// and a deleted one looks alike.
    public func verdicts(from response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict] {
        guard let subject = subjects.first, subjects.count == 1 else {
            return subjects.map { _ in .unanswered(LookupFailure(.unreadable, "the answer is about one user")) }
        }
        return [OneSignalLookup(appID: settings.appID).verdict(on: response, for: subject)]
    }

    /// Both calls of the REST API, a `OneSignalStub`.
    public func stub(_ setting: StubSetting) -> (any VendorStub)? { OneSignalStub(setting, for: self) }

    /// Accepted, or 401 Unauthorized, whatever was wrong: signature, `iss`, `exp` or the external id.
    public func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict {
        let inspection = TokenInspection(token)
        guard inspection.partCount == 3, inspection.isSigned(byAnyOf: keys.filter { $0.algorithm == .es256 }),
            let claims = inspection.claims, claims["iss"]?.string == settings.appID,
            let expiresAt = inspection.time("exp"), expiresAt > time.seconds,
            let user = claims["identity"]?["external_id"]?.string, user.hasSameBytes(as: subject.user)
        else { return Self.unauthorized }
        return .accepted
    }

    private static let identifierRule = IdentifierRule(
        never: ["NA", "NULL", "null", "0", "-1", "all", "00000000-0000-0000-0000-000000000000"])

    /// The vendor gives no reason, whatever was wrong.
    private static let unauthorized = VendorVerdict.refused(code: "401", name: "Unauthorized")

    /// The sample code's hour; the vendor states no maximum, so a day is ours.
    private static let lifetimeBounds = LifetimeBounds(standard: 3600, allowed: 60...86_400)
}
