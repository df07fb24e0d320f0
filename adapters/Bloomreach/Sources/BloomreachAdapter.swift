public import AdapterKit

/// Bloomreach's two tokens, which cannot replace each other: the stream token of Data hub event streams (HS512)
/// and the customer token of Engagement projects (HS256). An app is configured for one of them.
///
/// Source of every rule: the Bloomreach mobile SDK documentation and the SDKs' own code, see this adapter's README.
///
/// `Adapter` documents what its members promise. The comments here give this vendor's rules for them.
public struct BloomreachAdapter: Adapter {
    /// The name in `apps.*.adapter`.
    public static let name = "bloomreach"
    /// Bloomreach, as it spells itself.
    public static let vendor = "Bloomreach"
    /// Bloomreach's codes of both modes, and the response to each.
    public static let codes = BloomreachCode.rows

    let settings: BloomreachSettings
    private let appRecipe: Recipe

    /// An adapter for one stream, or one project's customer tokens.
    ///
    /// - Throws: `SettingsError` for an empty list of `ids`, and for a `lookup_project` that is no project's token.
    public init(settings: BloomreachSettings) throws(SettingsError) {
        guard !settings.ids.isEmpty else {
            throw SettingsError("ids", "is an empty list; name the customer ids that tokens may hold, or leave it out")
        }
        // It becomes a part of a path, where a slash or dots would mean another one.
        guard settings.lookupProject.map(Self.isProjectToken) != false else {
            throw SettingsError(
                "lookup_project", "is not a project token; copy it from Bloomreach: Project settings > General")
        }
        self.settings = settings
        appRecipe = settings.mode.recipe
    }

    /// HS512 for the stream token, HS256 for the customer token; neither is taken for the other.
    public var algorithm: Algorithm { appRecipe.algorithm }

    /// A stream chooses among several keys by `kid`. An API key of an Engagement project keeps its `kid` over two secrets.
    public var keyHandover: KeyHandover {
        switch settings.mode {
        case .stream:
            KeyHandover(
                origin: .vendor, overlap: .several,
                beforePromotion: [
                    "Bloomreach: the event stream > add a signing key.",
                    "Import its secret under its id: remint keys import --id ID --encoding utf8.",
                ],
                afterRetirement: ["The event stream > delete the old signing key."])
        case .customerToken:
            KeyHandover(
                origin: .vendor, overlap: .several,
                beforePromotion: [
                    "Rotate the private API key's secret (POST …/access-keys/rotate); its id does not change, and the old secret is accepted for 24 hours. Not again within 24 hours: that kills the old secret at once.",
                    "Import the new secret at once: remint keys import --id NAME --kid ID --encoding utf8, and promote it with --now.",
                ],
                afterRetirement: ["Nothing: the old secret ends 24 hours after the rotation."])
        }
    }

    /// The stream's SDKs are handed a token; the customer token they pull from the app's own provider.
    public var deviceCall: DeviceCall {
        switch settings.mode {
        case .stream: DeviceCall("setSdkAuthToken(jwt)")
        case .customerToken: DeviceCall("return it from the authorization provider")
        }
    }

    /// In seconds: the stream token 15 minutes, the customer token an hour unless configured; two minutes to a day. The SDK
    /// asks again a minute before the end, so less would never stop asking.
    public var lifetime: LifetimeBounds { appRecipe.lifetime }

    /// The secret's text is the key: its UTF-8 bytes, for the stream's signing key as for the API Secret.
    public var secretEncoding: SecretEncoding? { .utf8 }

    /// `ids` and `exp`, or `sub`, an object, and `exp`; with the key's `kid`, by which Bloomreach finds the key.
    public func recipe(for subject: Subject) -> Recipe { appRecipe }

    /// Returns the failure that the SDKs of the app's mode report. A report of the other mode's token is refused.
    public func read(_ report: Report) -> Reading { BloomreachReport(report, settings: settings).reading }

    /// The edge vouches for ids by name: `{"ids":{"registered":"ann@example.com"}}`.
    public func vouchedUser(_ members: JSONValue) throws(Rejection) -> VouchedUser {
        try VouchedUser.requireObject(members, of: ["ids"])
        guard let ids = members["ids"], ids.isObject else {
            throw Rejection(
                .malformedEvent, "\"vouched.ids\" must be an object of ids by name, such as {\"registered\": …}")
        }
        do throws(Rejection) {
            if let subject = try settings.customer(ids) { return VouchedUser(subject) }
        } catch { throw Rejection(.malformedEvent, "\"vouched.ids\": \(error.detail)") }
        throw Rejection(.malformedEvent, "\"vouched.ids\" holds no id that a token may name")
    }

    /// A batch job names ids by name: `{"reissue":{"ids":{"registered":"ann@example.com"}}}`.
    public func subject(reissuing user: JSONValue) throws(Rejection) -> Subject {
        guard user.isObject else {
            throw Rejection(
                .malformedReport, "\"reissue.ids\" must be an object of ids by name, such as {\"registered\": …}")
        }
        guard let subject = try settings.customer(user) else {
            throw Rejection(.missingUser, "\"reissue.ids\" holds no id that a token may name")
        }
        return subject
    }

    /// The ids under `ids` or `sub`.
    public func subject(named claims: JSONValue) -> Subject? {
        guard let ids = claims[settings.mode.subjectClaim] else { return nil }
        // All ids, also those that our own tokens would not hold; the soft one only where ours would.
        let isSoftAllowed = settings.ids.contains(CustomerIDs.softID)
        let names = isSoftAllowed ? ids.members.map(\.name) : nil
        return try? CustomerIDs(ids, allowing: names, needsHardID: false).subject
    }

    /// Returns the verdict of the stream or the project: by the key that the `kid` names, unexpired, about the same
    /// customer.
    public func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict {
        BloomreachVerifier(mode: settings.mode, keys: keys).verdict(on: token, expecting: subject, at: time)
    }

    /// Tokens are UUIDs in every example; all that is relied on is that they are ASCII letters, digits and hyphens.
    private static func isProjectToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
