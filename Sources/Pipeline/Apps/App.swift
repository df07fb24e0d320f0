public import AdapterKit

/// One configured integration: an adapter with its settings, the name of a key ring, a lifetime. Two Braze workspaces are
/// two apps.
public final class App: Sendable {
    /// The app's name.
    public let name: String
    /// The vendor's rules.
    public let adapter: any Adapter
    /// The name of its key ring.
    public let keyRing: String
    /// How long its tokens live, in seconds.
    public let lifetime: Int64
    /// What becomes of a report that lacks its user.
    public let missingUser: MissingUser
    /// Whose word says whom a token is for.
    public let identity: IdentitySource
    /// What a report must show for a token.
    public let proof: ProofDemand
    /// The topics that the app's events come from, and no other app's; empty where they come from the shared ones.
    public let topics: Set<String>
    /// The most that a token's life is cut by, as a share of it: see `LifetimeSpread`.
    public let spread: Double
    /// What the vendor is asked before a token is minted; nil for nothing.
    public let lookup: AppLookup?
    /// Whom its tokens are sealed for before they are published; nil where they are published as they are.
    public let seal: TokenSeal?
    /// By whom else its tokens' records are to be read.
    public let publication: TokenPublication
    /// When a user's reports are a loop, as its adapter says: for each event it would be copied to be asked.
    let loopGuard: LoopGuard
    /// `source` of the events about its tokens (CloudEvents 1.0).
    let eventSource: [UInt8]
    /// How the value of each of its tokens' records begins, up to the subject.
    let valueStart: [UInt8]

    /// The app `name`.
    public init(
        name: String, adapter: any Adapter, keyRing: String, lifetime: Int64, missingUser: MissingUser = .deadLetter,
        identity: IdentitySource = .reported, proof: ProofDemand = .none, topics: Set<String> = [], spread: Double = 0,
        lookup: AppLookup? = nil, seal: TokenSeal? = nil, publication: TokenPublication = .none
    ) {
        self.identity = identity
        self.proof = proof
        self.topics = topics
        self.spread = spread
        self.lookup = lookup
        self.seal = seal
        self.publication = publication
        loopGuard = adapter.loopGuard
        eventSource = Array("/remint/\(name)".utf8)
        valueStart = ByteWriter.bytes { json in
            json.append(#"{"app":"#)
            json.append(quoting: name)
            json.append(#","vendor":"#)
            json.append(quoting: adapter.name)
            json.append(#","subject":"#)
        }
        self.name = name
        self.adapter = adapter
        self.keyRing = keyRing
        self.lifetime = lifetime
        self.missingUser = missingUser
    }
}
