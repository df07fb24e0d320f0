public import AdapterKit

/// What a OneSignal app must be told.
public struct OneSignalSettings: AdapterSettings {
    /// The OneSignal App ID, `iss` of every token.
    public var appID: String

    public static let keys = [
        SettingKey("app_id", isRequired: true, "the OneSignal App ID (a UUID), the claim \"iss\" of every token")
    ]

    /// Settings for the OneSignal app `appID`.
    public init(appID: String) { self.appID = appID }

    public init(from decoder: any Decoder) throws {
        appID = try decoder.settings().required("app_id")
    }
}
