/// The call by which an app hands a token to the vendor's SDK.
public struct DeviceCall: Sendable, Equatable {
    /// The call, in the SDK's own words; its languages' spellings are in the adapter's README.
    public let call: String
    /// Whether the call wants the user's id beside the token.
    public let wantsIdentifier: Bool

    /// The call `call`.
    public init(_ call: String, wantsIdentifier: Bool = false) {
        self.call = call
        self.wantsIdentifier = wantsIdentifier
    }
}
