import AdapterKit

/// A vendor's description of its REST API, in these tests.
protocol AskedVendor: Sendable {
    static var name: String { get }
    static var vendor: String { get }
    static func terms(_ rates: [LookupTerms.Rate]?) -> LookupTerms?
}

/// Each account has an endpoint of its own, a key opens it, and the answers add nothing.
enum Keyed: AskedVendor {
    static let name = "keyed"
    static let vendor = "Keyed"
    static func terms(_ rates: [LookupTerms.Rate]?) -> LookupTerms? {
        LookupTerms(authorization: .key(scheme: "Bearer"), rates: rates ?? [.init(250, perSeconds: 60)])
    }
}

/// The same terms under another name.
enum Twin: AskedVendor {
    static let name = "twin"
    static let vendor = "Twin"
    static func terms(_ rates: [LookupTerms.Rate]?) -> LookupTerms? { Keyed.terms(rates) }
}

/// The same again, but for accounts to which the vendor allows more.
enum Roomy: AskedVendor {
    static let name = "roomy"
    static let vendor = "Roomy"
    static func terms(_ rates: [LookupTerms.Rate]?) -> LookupTerms? {
        LookupTerms(
            authorization: .key(scheme: "Bearer"), rates: rates ?? [.init(250, perSeconds: 60), .init(40)],
            ceiling: .init(40), unknownUser: .reject)
    }
}

/// One endpoint for all, user name and password, users in batches; the answers add to a token.
enum Basic: AskedVendor {
    static let name = "basic"
    static let vendor = "Basic"
    static func terms(_ rates: [LookupTerms.Rate]?) -> LookupTerms? {
        LookupTerms(
            endpoint: "https://api.basic.example", authorization: .basic, batch: 50,
            rates: rates ?? [.init(5), .init(10_000, perSeconds: 3600)], timeout: 121, unknownUser: .reject,
            enriches: true)
    }
}

/// The user's own token is the credential.
enum Minted: AskedVendor {
    static let name = "minted"
    static let vendor = "Minted"
    static func terms(_ rates: [LookupTerms.Rate]?) -> LookupTerms? {
        LookupTerms(
            endpoint: "https://api.minted.example", authorization: .mintedToken, rates: rates ?? [.init(1)],
            enriches: true)
    }
}

/// No REST API.
enum Mute: AskedVendor {
    static let name = "mute"
    static let vendor = "Mute"
    static func terms(_ rates: [LookupTerms.Rate]?) -> LookupTerms? { nil }
}

/// An adapter that has terms and does nothing else.
struct AskingAdapter<Vendor: AskedVendor>: LookupAdapter {
    struct Settings: AdapterSettings {
        /// Whether the settings lack what a look-up takes.
        var lacks: Bool
        /// The limit in requests a second, where it is not the vendor's usual one.
        var limit: Int?

        static var keys: [SettingKey] { [SettingKey("lacks", "true or false"), SettingKey("limit", "a number")] }

        init(from decoder: any Decoder) throws {
            let settings = try decoder.settings()
            lacks = try settings.optional("lacks") ?? false
            limit = try settings.optional("limit")
        }
    }

    static var name: String { Vendor.name }
    static var vendor: String { Vendor.vendor }

    let settings: Settings
    let algorithm = Algorithm.hs256
    let lifetime = LifetimeBounds(standard: 60, allowed: 1...3600)

    init(settings: Settings) throws(SettingsError) { self.settings = settings }

    var lookupTerms: LookupTerms? { settings.lacks ? nil : Vendor.terms(settings.limit.map { [.init($0)] }) }

    func read(_ report: Report) -> Reading { .rejected(Rejection(.malformedReport, "nothing is understood")) }

    func recipe(for subject: Subject) -> Recipe {
        Recipe(algorithm: algorithm, header: Recipe.typeOnly, claims: [Claim("sub", .user)], lifetime: lifetime)
    }

    func subject(named claims: JSONValue) -> Subject? { nil }

    func lookup(for subjects: [Subject], mode: LookupMode) -> Lookup { .none }

    func verdicts(from response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict] { [] }

    func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict { .accepted }
}
