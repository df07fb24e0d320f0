public import AdapterKit

/// The settings of a Braze app.
public struct BrazeSettings: AdapterSettings {
    /// Whether tokens carry `aud`, which Braze accepts and does not ask for.
    public var audience: Bool
    /// The app's SDK API key. Where set, tokens carry it as `iss`, which Braze then checks against that very app.
    public var sdkAPIKey: String?

    /// The keys of an app's `settings`, with their meaning.
    public static let keys = [
        SettingKey("audience", kind: .boolean, standard: "false", "true adds the claim \"aud\": \"braze\""),
        SettingKey("sdk_api_key", "the app's SDK API key; where set, tokens carry it as \"iss\"; default none"),
    ]

    /// Settings with these values.
    public init(audience: Bool = false, sdkAPIKey: String? = nil) {
        self.audience = audience
        self.sdkAPIKey = sdkAPIKey
    }

    /// The settings in `decoder`, with the defaults of missing keys.
    ///
    /// - Throws: `DecodingError` for a value of another type.
    public init(from decoder: any Decoder) throws {
        let settings = try decoder.settings()
        audience = try settings.optional("audience") ?? false
        sdkAPIKey = try settings.optional("sdk_api_key")
    }
}
