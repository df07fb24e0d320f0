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
