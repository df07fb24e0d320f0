public import AdapterKit

/// The settings of an Infobip app.
public struct InfobipSettings: AdapterSettings {
    /// The App Profile's Application Code.
    public var applicationCode: String

    /// The keys of an app's `settings`, with their meaning.
    public static let keys = [
        SettingKey(
            "application_code", isRequired: true,
            "the App Profile's Application Code, the claims \"infobip-api-key\" and \"iss\"; not a REST API key")
    ]

    /// Settings for the App Profile with this Application Code.
    public init(applicationCode: String) { self.applicationCode = applicationCode }

    /// The settings in `decoder`, with the defaults of missing keys.
    ///
    /// - Throws: `DecodingError` for a value of another type.
    public init(from decoder: any Decoder) throws {
        applicationCode = try decoder.settings().required("application_code")
    }
}
