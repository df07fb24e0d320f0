public import AdapterKit

/// A configured integration: an adapter with its settings, the name of a key ring, and a lifetime. Two Braze workspaces
/// are two apps.
public final class App: Sendable {
    /// The app's name.
    public let name: String
    /// The vendor's rules.
    public let adapter: any Adapter
    /// The name of the app's key ring.
    public let keyRing: String
    /// The lifetime of the app's tokens, in seconds.
    public let lifetime: Int64
    /// The handling of a report without a user.
    public let missingUser: MissingUser
    /// The source that identifies the token's user: the report or the edge.
    public let identity: IdentitySource
    /// The proof that a report must contain to get a token.
    public let proof: ProofDemand
    /// The app's own topics, which no other app's events come from; empty if the app uses the shared topics.
    public let topics: Set<String>
    /// The maximum cut of a token's lifetime, as a share of it. See `LifetimeSpread`.
    public let spread: Double
    /// The look-up before a token is minted; nil for none.
    public let lookup: AppLookup?
    /// The seal for the app's tokens; nil if the worker publishes clear tokens.
    public let seal: TokenSeal?
    /// The other reader of the token records, if there is one.
    public let publication: TokenPublication
    /// The adapter's limits of the loop guard, stored, because a read from the adapter would copy it for each event.
    let loopGuard: LoopGuard
    /// The members that the edge must vouch for, stored for the same reason.
    let requiredVouched: [String]
    /// The `source` of the events about the app's tokens (CloudEvents 1.0).
    let eventSource: [UInt8]
    /// The beginning of the app's subject keys.
    let keyStart: [UInt8]
    /// The beginning of the value of the app's token records, up to the subject.
    let valueStart: [UInt8]

    /// Creates the app `name`.
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
        requiredVouched = adapter.requiredVouched
        eventSource = Array("/remint/\(name)".utf8)
        keyStart = Subject.keyStart(app: name)
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
