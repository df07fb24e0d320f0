public import AdapterKit

/// What a Dotdigital push profile says about its tokens.
public struct DotdigitalSettings: AdapterSettings {
    /// "Issuer" of the push profile.
    public var issuer: String
    /// "Audience" of the push profile.
    public var audience: String
    /// "ID claim" of the push profile.
    public var idClaim: String

    public static let keys = [
        SettingKey("issuer", isRequired: true, "\"Issuer\" of the push profile, the claim \"iss\""),
        SettingKey("audience", isRequired: true, "\"Audience\" of the push profile, the claim \"aud\""),
        SettingKey("id_claim", "\"ID claim\" of the push profile, the claim that holds the user id; default sub"),
    ]

    /// Settings of a push profile.
    public init(issuer: String, audience: String, idClaim: String = "sub") {
        self.issuer = issuer
        self.audience = audience
        self.idClaim = idClaim
    }

    public init(from decoder: any Decoder) throws {
        let settings = try decoder.settings()
        issuer = try settings.required("issuer")
        audience = try settings.required("audience")
        idClaim = try settings.optional("id_claim") ?? "sub"
    }
}
