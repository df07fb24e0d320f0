/// A vendor's rules.
///
/// An adapter decides and the worker acts: it does no I/O, holds no key and reads no clock, so every function gives the
/// same answer to the same question. It is made once per configured app and asked from several threads.
///
/// An event asks the questions `read` and `recipe`, in this order. Tests, `remint inspect` and stub vendors ask `verify`. An
/// adapter that asks the vendor's REST API before it mints is a `LookupAdapter`. `AdapterConformance` in AdapterTestKit
/// checks that an adapter keeps the promises made here.
public protocol Adapter: Sendable {
    /// The type of `apps.*.settings`.
    associatedtype Settings: AdapterSettings

    /// The name in `apps.*.adapter`: the service's, lowercase.
    static var name: String { get }

    /// The vendor's own spelling of its name.
    static var vendor: String { get }

    /// The vendor's codes and the response to each, for people: `remint codes` prints them.
    static var codes: [VendorCode] { get }

    /// The name of this very adapter in `apps.*.adapter`. Where one type serves many vendors, it is not the type's.
    var name: String { get }

    /// The vendor's own spelling of its name, for this very adapter.
    var vendor: String { get }

    /// An adapter for one app.
    ///
    /// - Throws: `SettingsError` for settings that cannot be meant.
    init(settings: Settings) throws(SettingsError)

    /// The algorithm the app's key must be for.
    var algorithm: Algorithm { get }

    /// The bounds on a token's lifetime.
    var lifetime: LifetimeBounds { get }

    /// The encoding in which the vendor's dashboard shows its shared secret; nil where the key is a pair. A key ring
    /// with another encoding gets a warning and keeps its own: the encoding is configured, never guessed.
    var secretEncoding: SecretEncoding? { get }

    /// The way in which the vendor gets a new key. `remint keys` and `remint rotate` print its steps for their
    /// operator.
    var keyHandover: KeyHandover { get }

    /// The call by which the app hands a token to the SDK. The gateway returns it to devices.
    var deviceCall: DeviceCall { get }

    /// The rule by which one user's reports show that the vendor refuses the tokens we mint.
    var loopGuard: LoopGuard { get }

    /// The rule that a user's id must keep. The pipeline checks the id of every report, vouched user and re-issue with it.
    var identifiers: IdentifierRule { get }

    /// Returns the meaning of a report. `report` is any JSON value, from anyone. The adapter bounds its work on a
    /// report of any size, and its answer never contains a token.
    func read(_ report: Report) -> Reading

    /// Whether the SDKs' reports hold the token that failed, so that an app may ask for it (`apps.*.proof`).
    var reportsFailedToken: Bool { get }

    /// Returns the user that the edge vouches for, from the adapter's own members: `{"user":"u-42"}` unless the vendor
    /// names users differently.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`.
    func vouchedUser(_ members: JSONValue) throws(Rejection) -> VouchedUser

    /// The members besides the user that the edge must vouch for, because a token without them is of no use: one that opens
    /// no room, for instance. An event that lacks one has no token.
    var requiredVouched: [String] { get }

    /// Returns the subject that an operator or the edge names under `reissue.user` or `reissue.ids`.
    ///
    /// - Throws: `Rejection` with `.missingUser`, `.malformedReport` or, where a token answers a challenge,
    ///   `.missingChallenge`.
    func subject(reissuing user: JSONValue) throws(Rejection) -> Subject

    /// Returns everything that the signer needs except the key: exactly the vendor's members, nothing extra.
    func recipe(for subject: Subject) -> Recipe

    /// Whether a token may have `value` where the recipe asks a look-up or the edge for `name`. A signer asks, who knows neither.
    func admits(_ value: JSONValue, as name: String) -> Bool

    /// Whether the vendor's tokens name their user. Where a site or an app is the subject, a token is everybody's.
    var tokensNameUser: Bool { get }

    /// Returns the subject that a token's claims name; nil where they name nobody. It serves people who inspect a token
    /// and is no reason to trust one.
    func subject(named claims: JSONValue) -> Subject?

    /// Returns the vendor's verdict on `token` from `subject`'s device at `time`, if the vendor held `keys`.
    func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict
}

extension Adapter {
    /// The default of a type that serves many vendors, whose codes are not the type's.
    public static var codes: [VendorCode] { [] }

    /// A vendor whose key is a pair has none.
    public var secretEncoding: SecretEncoding? { nil }

    /// The default handover: the vendor accepts the new key before it signs, and keeps the old one until it is removed.
    public var keyHandover: KeyHandover {
        KeyHandover(
            origin: secretEncoding == nil ? .ours : .shared, overlap: .several,
            beforePromotion: ["Give the new key to \(vendor)."],
            afterRetirement: ["Remove the old key at \(vendor)."])
    }

    /// The default call: whichever call of the app's SDK accepts a token.
    public var deviceCall: DeviceCall { DeviceCall("hand the token to the SDK") }

    /// The default guard: one token; a report is a refusal where its remedy makes it one.
    public var loopGuard: LoopGuard { LoopGuard() }

    /// A vendor that states nothing: any id of at most 1,024 bytes without control characters.
    public var identifiers: IdentifierRule { .standard }

    /// The default of a vendor whose reports hold no token.
    public var reportsFailedToken: Bool { false }

    /// The default of a vendor whose devices name a user by one id, in the member `user`.
    public func vouchedUser(_ members: JSONValue) throws(Rejection) -> VouchedUser {
        VouchedUser(Subject(user: try VouchedUser.id("user", in: members)))
    }

    /// The default: any value.
    public func admits(_ value: JSONValue, as name: String) -> Bool { true }

    /// The default: a token is for one user and names that user.
    public var tokensNameUser: Bool { true }

    /// The default: the user is enough for a token.
    public var requiredVouched: [String] { [] }

    /// Returns a user with a single id.
    public func subject(reissuing user: JSONValue) throws(Rejection) -> Subject { try Subject(reissuing: user) }

    /// The type's name.
    public var name: String { Self.name }

    /// The type's vendor.
    public var vendor: String { Self.vendor }
}

/// The rule by which one user's reports are a loop, which another token would only continue.
public struct LoopGuard: Sendable, Equatable {
    /// The number of tokens in a row that may be minted for a user whose reports refuse each of them.
    public let tokens: Int
    /// Whether any report that follows a fresh token from the same device is a refusal of it, for SDKs that give no
    /// reason. Otherwise a report without the failed token is one only where its remedy is to mint once.
    public let countsEveryReport: Bool

    /// A guard that allows `tokens` in a row, at least one.
    public init(tokens: Int = 1, countsEveryReport: Bool = false) {
        self.tokens = max(1, tokens)
        self.countsEveryReport = countsEveryReport
    }
}

/// A vendor's verdict on a token.
public enum VendorVerdict: Sendable, Equatable {
    /// The token is good for this user at this time.
    case accepted
    /// The token is refused, with the vendor's own code and the name the vendor gives it.
    case refused(code: String, name: String)

    /// Whether the token is good.
    public var isAccepted: Bool { self == .accepted }
}
