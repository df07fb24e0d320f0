public import AdapterKit

/// A key that signs, by name: what the pipeline knows of it. Every token holds one, so it is a reference.
public final class SigningKeyReference: Sendable, Hashable {
    /// The ring it is the active version of.
    public let ring: String
    /// The version's id.
    public let version: String
    /// `kid`, where tokens name their key.
    public let keyID: String?
    /// The only algorithm it signs with.
    public let algorithm: Algorithm
    /// The moment no token of it may outlive; nil for none.
    public let retireAfter: UnixTime?
    /// The hash of the names, for every signature looks a signer up by its key.
    private let hash: Int
    /// A part of it, by which admission tells the keys of the tokens that it remembers apart.
    var fingerprint: UInt32 { UInt32(truncatingIfNeeded: hash) }

    /// The active version of `ring`.
    public init(ring: String, version: String, keyID: String?, algorithm: Algorithm, retireAfter: UnixTime?) {
        self.ring = ring
        self.version = version
        self.keyID = keyID
        self.algorithm = algorithm
        self.retireAfter = retireAfter
        var hasher = Hasher()
        hasher.combine(ring)
        hasher.combine(version)
        hash = hasher.finalize()
    }

    public static func == (left: SigningKeyReference, right: SigningKeyReference) -> Bool {
        left === right
            || left.ring == right.ring && left.version == right.version && left.keyID == right.keyID
                && left.algorithm == right.algorithm && left.retireAfter == right.retireAfter
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// Something to sign.
public struct SigningRequest: Sendable {
    /// With which key.
    public let key: SigningKeyReference
    /// What: `header.payload`.
    public let input: SigningInput

    /// `input`, to be signed with `key`.
    public init(key: SigningKeyReference, input: SigningInput) {
        self.key = key
        self.input = input
    }
}

/// How much of what a signer has a call may take.
public enum SigningUrgency: Sendable {
    /// Somebody waits: everything there is.
    case live
    /// Nobody waits for these, but somebody may wait for what is next: something is left for them.
    case background
}

/// Who signs: asynchronous and in batches, so that a process, an HSM or a KMS can stand behind it.
public protocol SigningPort: Sendable {
    /// The key of `ring` that signs now; nil where there is none.
    func activeKey(of ring: String) -> SigningKeyReference?

    /// The versions of `ring` that a token may have been signed with, as far as they can be verified here; none by default.
    func verificationKeys(of ring: String) -> [RingKey]

    /// Another number whenever an active key may be another one, so that nobody asks for a thousand keys to learn that none
    /// has changed; nil from one that cannot tell, which is asked for each batch.
    var keysRevision: Int? { get }

    /// Whether a batch may be signed in several calls that are under way at once. One that has to share a wire or a patience
    /// among them is asked once for each batch.
    var takesCallsAtOnce: Bool { get }

    /// The JWS signatures of `requests`, in their order; for each, what kept it from being signed.
    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>]
}

extension SigningPort {
    public func verificationKeys(of ring: String) -> [RingKey] { [] }
    public var keysRevision: Int? { nil }
    public var takesCallsAtOnce: Bool { false }
}
