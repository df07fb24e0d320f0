public import JOSE
import Synchronization

/// Verifies that a request's sender holds its proof's key (RFC 9449), and that the proof was not used before.
public final class DPoPVerifier: Sendable {
    /// The requirements on a proof.
    public let rules: DPoPRules
    private let nonces: ProofNonces?
    private let memory: Mutex<ReplayMemory>

    /// A verifier by `rules`, which remembers proofs from now on. One verifier must see all proofs, because it does not
    /// know those that another one has seen.
    ///
    /// - Parameter nonces: The nonces, one of which a proof must contain; nil for none.
    public init(rules: DPoPRules = DPoPRules(), nonces: ProofNonces? = nil) {
        self.rules = rules
        self.nonces = nonces
        memory = Mutex(ReplayMemory(window: rules.window, capacity: rules.remembered, quota: rules.rememberedByKey))
    }

    /// The number of remembered proofs.
    public var remembered: Int { memory.withLock { $0.count } }

    /// Forgets the proofs that cannot be used again at `now`.
    func sweep(at now: UnixTime) { memory.withLock { $0.sweep(at: now) } }

    /// Checks every part of `proof`, and that it was not used yet. It remembers nothing: a proof is valid until it is
    /// used.
    ///
    /// - Parameters:
    ///   - proof: the value of the request's only `DPoP` header; the header's reader refuses several.
    ///   - accessToken: the session that the proof belongs to.
    ///   - boundKey: the thumbprint that the session is bound to (`cnf.jkt`), if it is bound.
    /// - Throws: `AccessRefusal` with one of the proof's reasons.
    public func check(
        _ proof: [UInt8], for request: ProvenRequest, accessToken: [UInt8], boundTo boundKey: String?, now: UnixTime
    ) throws(AccessRefusal) -> CheckedProof {
        let proof = try DPoPProof(proof, for: request, accessToken: accessToken, rules: rules, now: now)
        if let boundKey, !boundKey.hasSameBytes(as: proof.thumbprint) { throw AccessRefusal(.proofMismatch) }
        let checked = CheckedProof(thumbprint: proof.thumbprint, name: Fingerprint(proof.thumbprint, proof.id))
        if let nonces, !(proof.nonce.map { nonces.isCurrent($0, at: now) } ?? false) {
            throw AccessRefusal(.proofWithoutNonce)
        }
        guard !memory.withLock({ $0.isKnown(checked.name) }) else { throw AccessRefusal(.proofReplayed) }
        return checked
    }

    /// Uses `proof` up, whatever becomes of its request.
    ///
    /// - Throws: `AccessRefusal` with `.proofReplayed` where another request was first; `.proofMemoryFull` and
    ///   `.tooManyProofs` with `.later`.
    public func use(_ proof: CheckedProof, now: UnixTime) throws(AccessRefusal) {
        switch memory.withLock({ $0.use(proof.name, of: Fingerprint(proof.thumbprint), at: now) }) {
        case .new: return
        case .used: throw AccessRefusal(.proofReplayed)
        case .tooMany(let wait): throw AccessRefusal(.tooManyProofs, retryAfter: wait)
        case .full(let wait): throw AccessRefusal(.proofMemoryFull, retryAfter: wait)
        }
    }
}

/// The requirements on a DPoP proof (RFC 9449, section 4.3).
public struct DPoPRules: Sendable {
    /// The algorithms that may sign proofs. HMAC algorithms are never accepted, even if they are in the set.
    public var algorithms: Set<Algorithm> = [.es256, .eddsa, .rs256, .ps256]
    /// The greatest age of a proof.
    public var maxAge = Duration.seconds(60)
    /// The tolerated difference of the device's clock, in addition to `maxAge`, 0 to 300 seconds.
    public var skew = Duration.seconds(30)
    /// The longest proof, in bytes.
    public var mostBytes = 8 << 10
    /// The longest `jti`, in bytes.
    public var longestID = 128
    /// The most proofs remembered in a window of `maxAge` and twice `skew`. Memory is for twice as many, some 40 bytes
    /// for each, and as much again for each key.
    public var remembered = 600_000
    /// The most remembered proofs of one key.
    public var rememberedByKey = 2400

    /// The default rules.
    public init() {}

    var boundedSkew: Duration { min(max(skew, .zero), .seconds(300)) }

    /// The time in which a proof could be used again: from when it is first taken, with `iat` ahead of us, to when it is
    /// last. A second more, for parts of it.
    var window: Duration { max(maxAge, .zero) + boundedSkew * 2 + .seconds(1) }
}

/// The request that a proof is for.
public struct ProvenRequest: Sendable, Hashable {
    /// The method, as it came.
    public let method: String
    /// The URL of the request as the caller sees it: behind a proxy, with the public scheme and host.
    public let url: ComparableURL

    /// A request of `method` to `url`.
    public init(method: String, url: ComparableURL) {
        self.method = method
        self.url = url
    }
}

/// A proof that is good, and that no request has used yet.
public struct CheckedProof: Sendable, Hashable {
    /// The thumbprint of the key that it proves (RFC 7638), which is the device's name.
    public let thumbprint: String
    let name: Fingerprint
}

/// A proof that a request's sender holds a key (RFC 9449, section 4.2), checked but for whether it was used before.
struct DPoPProof: Sendable {
    /// The RFC 7638 thumbprint of the key.
    let thumbprint: String
    let id: String
    /// The proof's `nonce`, where it has one.
    let nonce: String?

    /// - Throws: `AccessRefusal` with one of the proof's reasons.
    init(
        _ bytes: [UInt8], for request: ProvenRequest, accessToken: [UInt8], rules: DPoPRules, now: UnixTime
    ) throws(AccessRefusal) {
        let token: CompactJWS
        let claims: JSONValue
        do throws(JOSEError) {
            token = try CompactJWS(parsing: bytes, limits: .init(bytes: rules.mostBytes))
            claims = try token.claims()
        } catch { throw AccessRefusal(.proofMalformed) }
        guard token.header["typ"]?.string?.mediaSubtype == "dpop+jwt" else { throw AccessRefusal(.proofMalformed) }
        id = try Self.id(claims, rules)
        nonce = claims["nonce"]?.string
        try Self.check(claims, names: request)
        try Self.checkTime(claims, rules, now)
        let ath = Base64.url.encode(SHA256.hash(accessToken))
        guard ath.hasSameBytes(as: claims["ath"]?.string) else { throw AccessRefusal(.proofWrongSession) }
        // The signature is what costs, and comes last.
        let key = try Self.key(of: token, rules)
        guard key.isValid(token.signature, of: token.signingInput) else { throw AccessRefusal(.proofBadSignature) }
        thumbprint = try Self.thumbprint(of: key)
    }

    private static func id(_ claims: JSONValue, _ rules: DPoPRules) throws(AccessRefusal) -> String {
        guard let id = claims["jti"]?.string, !id.isEmpty, id.utf8.count <= rules.longestID else {
            throw AccessRefusal(.proofMalformed)
        }
        return id
    }

    private static func check(_ claims: JSONValue, names request: ProvenRequest) throws(AccessRefusal) {
        guard let method = claims["htm"]?.string, let url = claims["htu"]?.string else {
            throw AccessRefusal(.proofMalformed)
        }
        guard method.hasSameBytes(as: request.method), ComparableURL(url) == request.url else {
            throw AccessRefusal(.proofWrongRequest)
        }
    }

    private static func checkTime(_ claims: JSONValue, _ rules: DPoPRules, _ now: UnixTime) throws(AccessRefusal) {
        guard let issued = claims["iat"]?.numericDate else { throw AccessRefusal(.proofMalformed) }
        let last = issued.advanced(by: max(rules.maxAge, .zero) + rules.boundedSkew)
        guard issued <= now.advanced(by: rules.boundedSkew), now <= last else {
            throw AccessRefusal(.proofWrongTime)
        }
    }

    /// Returns the key in the header, for the header's algorithm: it is the sender's own key, and can be no key of
    /// another kind.
    private static func key(of token: CompactJWS, _ rules: DPoPRules) throws(AccessRefusal) -> VerificationKey {
        guard let algorithm = Algorithm(named: token.algorithmName), algorithm.keyType != .secret,
            rules.algorithms.contains(algorithm), let jwk = token.header["jwk"], jwk.isObject, isModest(jwk),
            jwk.jwkMember("use").map({ $0.string == "sig" }) ?? true,
            let key = try? JWK.publicKeys(from: jwk, for: [algorithm]).first
        else { throw AccessRefusal(.proofWrongKey) }
        return key
    }

    /// Returns whether the key is short enough: a long key costs the gateway more than its sender. RSA keys end at 4096
    /// bits, which are 683 characters.
    private static func isModest(_ jwk: JSONValue) -> Bool { jwk["n"].map { $0.rawBytes.count <= 683 } ?? true }

    private static func thumbprint(of key: VerificationKey) throws(AccessRefusal) -> String {
        guard let thumbprint = try? JWK.thumbprint(of: key) else { throw AccessRefusal(.proofWrongKey) }
        return thumbprint
    }
}
