public import AdapterKit

/// Example Chat, a vendor that does not exist: HS256 tokens of a workspace.
///
/// `Adapter` documents what its members promise. The comments here give this vendor's rules for them.
public struct ExampleChatAdapter: Adapter {
    /// The name in `apps.*.adapter`.
    public static let name = "example-chat"
    /// Example Chat, as it spells itself.
    public static let vendor = "Example Chat"
    /// Example Chat's codes, and the response to each.
    public static let codes = ExampleChatCode.rows

    private let settings: ExampleChatSettings
    private let appRecipe: Recipe

    /// An adapter for one workspace.
    ///
    /// - Throws: `SettingsError` where `workspace` is empty.
    public init(settings: ExampleChatSettings) throws(SettingsError) {
        guard !settings.workspace.isEmpty else {
            throw SettingsError("workspace", "is empty; it is the id on the vendor's page Settings > Workspace")
        }
        self.settings = settings
        appRecipe = Recipe(
            algorithm: .hs256, header: Recipe.typeOnly,
            claims: [
                Claim("workspace", .constant(settings.workspace)),
                Claim("sub", .user),
                Claim("iat", .issuedAt),
                Claim("exp", .expiresAt),
            ],
            lifetime: Self.lifetimeBounds)
    }

    /// HS256, the vendor's only algorithm.
    public var algorithm: Algorithm { .hs256 }

    /// In seconds: an hour unless configured, one minute to a day.
    public var lifetime: LifetimeBounds { Self.lifetimeBounds }

    /// The vendor shows its secret as text; the text's bytes are the key.
    public var secretEncoding: SecretEncoding? { .utf8 }

    /// The vendor holds two secrets, so tokens of both are good while the key changes.
    public var keyHandover: KeyHandover {
        KeyHandover(
            origin: .vendor, overlap: .several,
            beforePromotion: ["Settings > Secrets > Add: import the secret with remint keys import."],
            afterRetirement: ["Settings > Secrets: delete the old secret."])
    }

    /// The SDK accepts a token in one call.
    public var deviceCall: DeviceCall { DeviceCall("chat.setToken(token)") }

    /// At most 64 characters, without `*`, which the vendor reserves.
    public var identifiers: IdentifierRule {
        IdentifierRule(.characters(64), characters: IdentifierCharacters("[^*]"))
    }

    /// The SDK's error with its code and its member.
    public func read(_ report: Report) -> Reading { ExampleChatReport(report).reading }

    /// `workspace`, `sub`, `iat` and `exp`.
    public func recipe(for subject: Subject) -> Recipe { appRecipe }

    /// `sub`, the member's id.
    public func subject(named claims: JSONValue) -> Subject? { claims["sub"]?.string.map { Subject(user: $0) } }

    /// The server's checks in their order: a token, the signature, the claims, the expiry.
    public func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict {
        guard token.contains(where: { $0 > 0x20 }) else { return .refused(.tokenMissing) }
        let inspection = TokenInspection(token)
        guard inspection.isSigned(byAnyOf: keys.filter { $0.algorithm == .hs256 }), let claims = inspection.claims,
            claims["workspace"]?.string == settings.workspace, let user = claims["sub"]?.string,
            user.hasSameBytes(as: subject.user), let expiresAt = inspection.time("exp")
        else { return .refused(.tokenInvalid) }
        return expiresAt > time.seconds ? .accepted : .refused(.tokenExpired)
    }

    private static let lifetimeBounds = LifetimeBounds(standard: 3600, allowed: 60...86_400)
}

extension VendorVerdict {
    /// Returns the refusal with `code`.
    fileprivate static func refused(_ code: ExampleChatCode) -> VendorVerdict {
        .refused(code: code.number, name: code.rawValue)
    }
}
