public import JOSE
import Synchronization

/// Tells whether a request's sender holds the key it says (RFC 9449), and that it says so for the first time.
public final class DPoPVerifier: Sendable {
    /// What a proof must be like.
    public let rules: DPoPRules
    private let memory: Mutex<ReplayMemory>

    /// A verifier by `rules`, which remembers proofs from now on. One of them must see all proofs: what another has seen
    /// is not known.
    public init(rules: DPoPRules = DPoPRules()) {
        self.rules = rules
        memory = Mutex(ReplayMemory(window: rules.window, capacity: rules.remembered))
    }

    /// How many proofs are remembered.
    public var remembered: Int { memory.withLock { $0.count } }

    /// The thumbprint of the key that `proof` proves (RFC 7638), which is the device's name.
    ///
    /// A proof that is refused is not remembered, but one that was taken is, whatever becomes of the request.
    ///
    /// - Parameters:
    ///   - proof: the one value of the one `DPoP` header; whoever reads the headers refuses several.
    ///   - accessToken: the session that was shown with it.
    ///   - boundKey: the thumbprint that the session is bound to (`cnf.jkt`), if it is bound.
    /// - Throws: `AccessRefusal` with one of the proof's reasons; `.proofMemoryFull` with `.later`.
    public func verify(
        _ proof: [UInt8], for request: ProvenRequest, accessToken: [UInt8], boundTo boundKey: String?, now: UnixTime
    ) throws(AccessRefusal) -> String {
        let proof = try DPoPProof(proof, for: request, accessToken: accessToken, rules: rules, now: now)
        if let boundKey, !boundKey.hasSameBytes(as: proof.thumbprint) { throw AccessRefusal(.proofMismatch) }
        let name = Fingerprint(proof.thumbprint, proof.id)
        switch memory.withLock({ $0.use(name, at: now) }) {
        case .new: return proof.thumbprint
        case .used: throw AccessRefusal(.proofReplayed)
        case .full(let wait): throw AccessRefusal(.proofMemoryFull, retryAfter: wait)
        }
    }
}
