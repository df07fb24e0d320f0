public import AdapterKit

/// The settings of a Dotdigital push profile, for its tokens.
public struct DotdigitalSettings: AdapterSettings {
    /// The record that a look-up asks for.
    public enum Lookup: Sendable, Equatable {
        /// The push profile with the user's id.
        case profile
        /// The contact that has the user's id as this identifier: `contactId`, `email`, `mobileNumber`, or the name of a
        /// custom one.
        case contact(by: String)
    }

    /// "Issuer" of the push profile.
    public var issuer: String
    /// "Audience" of the push profile.
    public var audience: String
    /// "ID claim" of the push profile.
    public var idClaim: String
    /// The record that a look-up asks for.
    public var lookup: Lookup

    /// The keys of an app's `settings`, with their meaning.
    public static let keys = [
        SettingKey("issuer", isRequired: true, "\"Issuer\" of the push profile, the claim \"iss\""),
        SettingKey("audience", isRequired: true, "\"Audience\" of the push profile, the claim \"aud\""),
        SettingKey(
            "id_claim", standard: "sub", "\"ID claim\" of the push profile, the claim that contains the user id"),
        SettingKey(
            "lookup", kind: .choice(["profile", "contact"]), standard: "profile",
            "the kind of record that a look-up requests by the user id: profile or contact"),
        SettingKey(
            "lookup_by",
            "the contact's identifier that is the user id: contactId, email, mobileNumber or the name of a custom "
                + "identifier; only for lookup: contact"),
    ]

    /// Settings of a push profile.
    public init(issuer: String, audience: String, idClaim: String = "sub", lookup: Lookup = .profile) {
        self.issuer = issuer
        self.audience = audience
        self.idClaim = idClaim
        self.lookup = lookup
    }

    /// The settings in `decoder`, with the defaults of missing keys.
    ///
    /// - Throws: `DecodingError` for a value of another type.
    public init(from decoder: any Decoder) throws {
        let settings = try decoder.settings()
        issuer = try settings.required("issuer")
        audience = try settings.required("audience")
        idClaim = try settings.optional("id_claim") ?? "sub"
        lookup = try Lookup(settings.optional("lookup"), by: settings.optional("lookup_by"))
    }
}

extension DotdigitalSettings.Lookup {
    fileprivate init(_ target: String?, by identifier: String?) throws(SettingsError) {
        switch (target ?? "profile", identifier) {
        case ("profile", nil): self = .profile
        case ("profile", .some): throw SettingsError("lookup_by", "means nothing without \"lookup: contact\"")
        case ("contact", .some(let identifier)): self = .contact(by: identifier)
        case ("contact", nil):
            throw SettingsError(
                "lookup_by", "is missing; \"lookup: contact\" needs the identifier that is the user id, such as email")
        default: throw SettingsError("lookup", "is neither profile nor contact")
        }
    }

    /// - Throws: `SettingsError` for an identifier that cannot be one.
    func check() throws(SettingsError) {
        guard case .contact(let identifier) = self else { return }
        guard !identifier.isEmpty else {
            throw SettingsError("lookup_by", "is empty; it is the identifier that is the user id, such as email")
        }
        // In another case it would pass for a custom one, which Dotdigital does not have.
        for known in ["contactId", "email", "mobileNumber"]
        where identifier.lowercased() == known.lowercased() && identifier != known {
            throw SettingsError("lookup_by", "must be written \"\(known)\"")
        }
    }
}
