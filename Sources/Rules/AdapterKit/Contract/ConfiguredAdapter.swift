/// An adapter whose type is known at run time alone, decoded from its settings.
///
/// The decoder must carry `userInfo(for:)`, which names the settings' adapter.
package struct ConfiguredAdapter: Decodable, Sendable {
    /// The adapter.
    package let adapter: any Adapter

    /// The adapter that `decoder` names in its `userInfo`, with the settings in it.
    ///
    /// - Throws: `SettingsError` or `DecodingError` for settings that the adapter refuses.
    package init(from decoder: any Decoder) throws {
        let registration = CodingUserInfoKey(rawValue: Self.key).flatMap { decoder.userInfo[$0] }
        guard let registration = registration as? AdapterRegistry.Registration else {
            throw SettingsError("", "no adapter to decode settings for")
        }
        adapter = try registration.make(decoder)
    }

    /// Returns the `userInfo` that the decoder of `registration`'s settings must carry.
    package static func userInfo(for registration: AdapterRegistry.Registration) -> [CodingUserInfoKey: any Sendable] {
        CodingUserInfoKey(rawValue: key).map { [$0: registration] } ?? [:]
    }

    private static let key = "remint.adapter.registration"
}
