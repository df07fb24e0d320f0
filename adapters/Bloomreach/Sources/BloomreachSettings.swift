public import AdapterKit

/// The settings of a Bloomreach app.
public struct BloomreachSettings: AdapterSettings {
    /// The one of Bloomreach's two tokens that the app uses.
    public enum Mode: String, Sendable, Decodable, CaseIterable {
        /// The token of a Data hub event stream ("SDK auth token").
        case stream
        /// The customer token of an Engagement project with advanced authentication.
        case customerToken = "customer_token"
    }

    /// The token that the app uses.
    public var mode: Mode
    /// The names of the ids a token may hold. A name that nobody configured could be that of an id which a device is not to choose.
    public var ids: [String]
    /// The hard id that every project has (Bloomreach's page "External ID").
    public static let standardIDs = ["registered"]
    /// The token of the Engagement project that is asked about customers; nil where nobody is asked.
    public var lookupProject: String?

    /// The keys of an app's `settings`, with their meaning.
    public static let keys = [
        SettingKey(
            "mode", kind: .choice(Mode.allCases.map(\.rawValue)), isRequired: true,
            "the kind of Bloomreach's token that the app uses: stream or customer_token"),
        SettingKey(
            "ids", kind: .texts,
            "list of the customer id names that a token may contain; other ids are omitted; default registered alone"),
        SettingKey(
            "lookup_project",
            "token of the Engagement project for look-ups; without this token, the app has no look-up; default none"),
    ]

    /// Settings for tokens of `mode` that may hold `ids`, of customers looked up in `lookupProject`.
    public init(mode: Mode, ids: [String] = Self.standardIDs, lookupProject: String? = nil) {
        self.mode = mode
        self.ids = ids
        self.lookupProject = lookupProject
    }

    /// The settings in `decoder`, with the defaults of missing keys.
    ///
    /// - Throws: `DecodingError` for a value of another type.
    public init(from decoder: any Decoder) throws {
        let settings = try decoder.settings()
        mode = try settings.required("mode")
        ids = try settings.optional("ids") ?? Self.standardIDs
        lookupProject = try settings.optional("lookup_project")
    }
}

extension BloomreachSettings {
    /// The customer that `ids` name, as far as tokens may; nil for an anonymous one. A customer token must hold an id
    /// that is not soft (Bloomreach's page "Customer Token").
    func customer(_ ids: JSONValue) throws(Rejection) -> Subject? {
        try CustomerIDs(ids, allowing: self.ids, needsHardID: needsHardID).subject
    }

    /// The vouched customer, where `ids` name no other.
    func customer(_ ids: JSONValue?, vouchedFor vouched: VouchedUser) throws(Rejection) -> Subject {
        try CustomerIDs.subject(ids, vouchedFor: vouched, allowing: self.ids)
    }

    private var needsHardID: Bool { mode == .customerToken }
}

extension BloomreachSettings.Mode {
    var recipe: Recipe {
        switch self {
        case .stream:
            // The SDK asks for a new token 60 s before the end: shorter than 120 s would never stop asking.
            Recipe(
                algorithm: .hs512, header: Recipe.typeAndKeyID,
                claims: [Claim("exp", .expiresAt), Claim("ids", .identifiers)],
                lifetime: LifetimeBounds(standard: 900, allowed: 120...86_400))
        case .customerToken:
            Recipe(
                algorithm: .hs256, header: Recipe.typeAndKeyID,
                claims: [Claim("sub", .identifiers), Claim("exp", .expiresAt)],
                lifetime: LifetimeBounds(standard: 3600, allowed: 120...86_400))
        }
    }
}
