public import AdapterKit

/// The settings of a OneSignal app.
public struct OneSignalSettings: AdapterSettings {
    /// The credential of a look-up.
    public enum LookupAuthorization: String, Sendable, CaseIterable {
        /// A token minted for the user that is asked about, as the Identity Verification page wants it.
        case mintedJWT = "minted_jwt"
        /// The App API key, as the reference pages have it.
        case key
    }

    /// The OneSignal App ID, `iss` of every token.
    public var appID: String
    /// The credential of a look-up.
    public var lookupAuthorization: LookupAuthorization

    /// The keys of an app's `settings`, with their meaning.
    public static let keys = [
        SettingKey("app_id", isRequired: true, "the OneSignal App ID (a UUID), the claim \"iss\" of every token")
            .ofUUIDs,
        SettingKey(
            "lookup_auth", kind: .choice(LookupAuthorization.allCases.map(\.rawValue)),
            standard: LookupAuthorization.mintedJWT.rawValue,
            "credential of a look-up: minted_jwt (a token minted for the user) or key (the App API key)"),
    ]

    /// Settings for the OneSignal app `appID`.
    public init(appID: String, lookupAuthorization: LookupAuthorization = .mintedJWT) {
        self.appID = appID
        self.lookupAuthorization = lookupAuthorization
    }

    /// The settings in `decoder`, with the defaults of missing keys.
    ///
    /// - Throws: `DecodingError` for a value of another type.
    public init(from decoder: any Decoder) throws {
        let settings = try decoder.settings()
        appID = try settings.required("app_id")
        let authorization: String = try settings.optional("lookup_auth") ?? LookupAuthorization.mintedJWT.rawValue
        guard let known = LookupAuthorization(rawValue: authorization) else {
            throw SettingsError("lookup_auth", "is neither minted_jwt nor key")
        }
        lookupAuthorization = known
    }
}
