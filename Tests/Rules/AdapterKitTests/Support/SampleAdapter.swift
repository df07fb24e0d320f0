import AdapterKit

/// The least an adapter can be: tokens that name a user, reports that are a user and a code.
struct SampleAdapter: Adapter {
    struct Settings: AdapterSettings {
        var color: String
        var size: Int?

        static let keys = [SettingKey("color", isRequired: true, "any"), SettingKey("size", "a number; default none")]

        init(from decoder: any Decoder) throws {
            let settings = try decoder.settings()
            color = try settings.required("color")
            size = try settings.optional("size")
        }
    }

    static let name = "sample"
    static let vendor = "Sample"

    let settings: Settings

    init(settings: Settings) throws(SettingsError) {
        guard settings.color != "plaid" else { throw SettingsError("color", "is no color; name one") }
        self.settings = settings
    }

    var algorithm: Algorithm { .hs256 }
    var lifetime: LifetimeBounds { Self.recipe().lifetime }

    func read(_ report: Report) -> Reading { .rejected(Rejection(.malformedReport, "nothing is understood")) }

    func recipe(for subject: Subject) -> Recipe { Self.recipe() }

    func subject(named claims: JSONValue) -> Subject? { claims["sub"]?.string.map { Subject(user: $0) } }

    func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict { .accepted }

    static func recipe(
        header: [Recipe.HeaderMember] = Recipe.typeOnly,
        claims: [Claim] = [Claim("sub", .user), Claim("exp", .expiresAt)]
    ) -> Recipe {
        Recipe(
            algorithm: .hs256, header: header, claims: claims, lifetime: LifetimeBounds(standard: 60, allowed: 1...3600)
        )
    }
}

extension JSONValue {
    init(_ text: String) throws { self = try JSONDocument(parsing: Array(text.utf8)).root }
}

extension Report {
    /// The report in `text`, observed at an arbitrary moment.
    init(_ text: String) throws { self.init(try JSONValue(text), observedAt: UnixTime(seconds: 1_800_000_000)) }
}

func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
