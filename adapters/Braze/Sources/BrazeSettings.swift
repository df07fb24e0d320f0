public import AdapterKit

/// The settings of a Braze app.
public struct BrazeSettings: AdapterSettings {
    /// The state of SDK Authentication that the app has in Braze.
    public enum Enforcement: String, Sendable, CaseIterable {
        /// Braze refuses a request without a valid token.
        case required
        /// Braze reports the failure and accepts the request.
        case optional
    }

    /// Whether tokens carry `aud`, which Braze accepts and does not ask for.
    public var audience: Bool
    /// The app's SDK API key. Where set, tokens carry it as `iss`, which Braze then checks against that very app.
    public var sdkAPIKey: String?
    /// The app's state in Braze, for reports that do not contain it.
    public var enforcement: Enforcement

    /// The keys of an app's `settings`, with their meaning.
    public static let keys = [
        SettingKey("audience", kind: .boolean, standard: "false", "true adds the claim \"aud\": \"braze\""),
        SettingKey(
            "sdk_api_key", "the app's SDK API key; if set, tokens contain this key as the claim \"iss\"; default none"),
        SettingKey(
            "enforcement", kind: .choice(Enforcement.allCases.map(\.rawValue)), standard: Enforcement.required.rawValue,
            "state of SDK Authentication in Braze, required or optional, for reports without the member \"optional\""),
    ]

    /// Settings with these values.
    public init(audience: Bool = false, sdkAPIKey: String? = nil, enforcement: Enforcement = .required) {
        self.audience = audience
        self.sdkAPIKey = sdkAPIKey
        self.enforcement = enforcement
    }

    /// The settings in `decoder`, with the defaults of missing keys.
    ///
    /// - Throws: `DecodingError` for a value of another type, `SettingsError` for an unknown state.
    public init(from decoder: any Decoder) throws {
        let settings = try decoder.settings()
        audience = try settings.optional("audience") ?? false
        sdkAPIKey = try settings.optional("sdk_api_key")
        let state: String = try settings.optional("enforcement") ?? Enforcement.required.rawValue
        guard let known = Enforcement(rawValue: state) else {
            throw SettingsError("enforcement", "is neither required nor optional")
        }
        enforcement = known
    }
}
