public import AdapterKit

/// A reference to a signing key by name. A class, because every token has one.
public final class SigningKeyReference: Sendable, Hashable {
    /// The ring whose active version this is.
    public let ring: String
    public let version: String
    /// The `kid`, if tokens name their key.
    public let keyID: String?
    public let algorithm: Algorithm
    /// The latest expiry of the key's tokens; nil for none.
    public let retireAfter: UnixTime?
    /// The hash of the names, stored, because every signature looks up a signer by its key.
    private let hash: Int
    /// A part of the hash, by which admission distinguishes the keys of remembered tokens.
    var fingerprint: UInt32 { UInt32(truncatingIfNeeded: hash) }

    /// Creates a reference to the active version of `ring`.
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

    /// Returns whether both name the same version, with the same `kid`, algorithm and end.
    public static func == (left: SigningKeyReference, right: SigningKeyReference) -> Bool {
        left === right
            || left.ring == right.ring && left.version == right.version && left.keyID == right.keyID
                && left.algorithm == right.algorithm && left.retireAfter == right.retireAfter
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

public struct SigningRequest: Sendable {
    public let key: SigningKeyReference
    /// The input: `header.payload`.
    public let input: SigningInput

    /// Creates a request to sign `input` with `key`.
    public init(key: SigningKeyReference, input: SigningInput) {
        self.key = key
        self.input = input
    }
}

/// The share of a signer's capacity that a call may use.
public enum SigningUrgency: Sendable {
    /// A user waits: the call may use the full capacity.
    case live
    /// No user waits for this call, but one may wait for the next: the call leaves some capacity free.
    case background
}

/// A signer of tokens. Asynchronous and in batches, so that a process, an HSM or a KMS can implement it.
public protocol SigningPort: Sendable {
    /// Returns the active key of `ring`; nil if there is none.
    func activeKey(of ring: String) -> SigningKeyReference?

    /// Returns the versions of `ring` that may have signed a token, if they can be verified here; none by default.
    func verificationKeys(of ring: String) -> [RingKey]

    /// A counter that changes whenever an active key may have changed, so that unchanged keys need no look-up. nil if
    /// the signer has no such counter: then keys are looked up for each batch.
    var keysRevision: Int? { get }

    /// Whether a batch may be signed in several concurrent calls. A signer whose calls share a connection or a timeout
    /// gets one call per batch.
    var takesCallsAtOnce: Bool { get }

    /// Returns the JWS signatures of `requests`, in order. A request that was not signed has the reason instead.
    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>]
}

extension SigningPort {
    /// Returns no key: the signer verifies nothing here.
    public func verificationKeys(of ring: String) -> [RingKey] { [] }
    /// nil: keys are looked up for each batch.
    public var keysRevision: Int? { nil }
    public var takesCallsAtOnce: Bool { false }
}

/// A version of a key ring that may have signed a token.
public struct RingKey: Sendable {
    public let version: String
    /// The state of the version, as a token's signer: active, passive, prepared or retired.
    package let signer: TokenSigner
    public let key: VerificationKey

    /// Creates the `key` of `version` in the state `signer`.
    package init(_ key: VerificationKey, version: String, signer: TokenSigner) {
        self.version = version
        self.key = key
        self.signer = signer
    }
}
