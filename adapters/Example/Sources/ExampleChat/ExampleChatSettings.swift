public import AdapterKit

/// The settings of an app that uses Example Chat.
public struct ExampleChatSettings: AdapterSettings {
    /// The workspace, which every token names.
    public let workspace: String

    /// Every key, in the order of the manual.
    public static let keys = [SettingKey("workspace", isRequired: true, "the workspace's id, the claim \"workspace\"")]

    /// The settings in `decoder`.
    ///
    /// - Throws: `DecodingError` for a value of another type.
    public init(from decoder: any Decoder) throws { workspace = try decoder.settings().required("workspace") }
}
