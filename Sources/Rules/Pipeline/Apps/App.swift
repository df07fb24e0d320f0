public import AdapterKit

/// A configured integration: an adapter with its settings, the name of a key ring, and a lifetime. Two Braze workspaces
/// are two apps.
public final class App: Sendable {
    public let name: String
    public let adapter: any Adapter
    public let keyRing: String
    /// The lifetime of the app's tokens, in seconds.
    public let lifetime: Int64
    /// The handling of a report without a user.
    package let missingUser: MissingUser
    /// The source that identifies the token's user: the report or the edge.
    package let identity: IdentitySource
    /// The proof that a report must contain to get a token.
    package let proof: ProofDemand
    /// The app's own topics, which no other app's events come from; empty if the app uses the shared topics.
    public let topics: Set<String>
    /// The maximum cut of a token's lifetime, as a share of it. See `LifetimeSpread`.
    public let spread: Double
    /// The look-up before a token is minted; nil for none.
    public let lookup: AppLookup?
    /// The seal for the app's tokens; nil if the worker publishes clear tokens.
    package let seal: TokenSeal?
    /// The other reader of the token records, if there is one.
    package let publication: TokenPublication
    /// The adapter's look-ups; nil for an adapter without any.
    let lookups: (any LookupAdapter)?
    /// The adapter's limits of the loop guard, stored, because a read from the adapter would copy it for each event.
    let loopGuard: LoopGuard
    /// The members that the edge must vouch for, stored for the same reason.
    let requiredVouched: [String]
    /// The `source` of the events about the app's tokens (CloudEvents 1.0).
    let eventSource: [UInt8]
    let keyStart: [UInt8]
    /// The beginning of the value of the app's token records, up to the subject.
    let valueStart: [UInt8]

    /// Creates the app `name`.
    package init(
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
        lookups = adapter.lookups
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

/// An app's look-up at its vendor before it mints, and the use of the answers.
public struct AppLookup: Sendable {
    /// The handling of an event whose look-up has no answer in time.
    public enum OnFailure: String, Sendable, CaseIterable {
        /// The event waits in the retry tiers.
        case retry
        /// The worker mints the token without the look-up's additions.
        case mint
    }

    /// The times for which answers are cached.
    public struct Lifetimes: Sendable, Equatable {
        /// For a user that exists, in microseconds.
        let exists: Int64
        /// For a user that is gone, in microseconds.
        let gone: Int64
        /// For a user that is not known yet, in microseconds.
        let unknown: Int64

        public init(exists: Duration, gone: Duration, unknown: Duration) {
            self.exists = exists.microseconds
            self.gone = gone.microseconds
            self.unknown = unknown.microseconds
        }
    }

    public let account: String
    /// The kind of look-up; never `.off`.
    public let mode: LookupMode
    /// The handling of a user that the vendor does not know.
    public let unknownUser: LookupTerms.UnknownUser
    /// The handling of an event whose look-up has no answer in time.
    public let onFailure: OnFailure
    /// The maximum time for which an event waits in place, with no event queued behind it, in microseconds.
    let patience: Int64
    let lifetimes: Lifetimes

    /// Creates look-ups with the account `account`.
    public init(
        account: String, mode: LookupMode, unknownUser: LookupTerms.UnknownUser, onFailure: OnFailure,
        patience: Duration, lifetimes: Lifetimes
    ) {
        self.account = account
        self.mode = mode
        self.unknownUser = unknownUser
        self.onFailure = onFailure
        self.patience = patience.microseconds
        self.lifetimes = lifetimes
    }
}

/// A credential at an endpoint. All look-ups with it share its limits, connections and circuit breaker.
public struct LookupAccount: Sendable {
    /// The account's name: that of the first app that uses it.
    public let name: String
    public let rates: [LookupTerms.Rate]
    public let batch: Int
    public let concurrency: Int
    public let usesMintedTokens: Bool

    /// Creates the account `name`, with at least one user per request and one concurrent request.
    public init(name: String, rates: [LookupTerms.Rate], batch: Int, concurrency: Int, usesMintedTokens: Bool = false) {
        self.name = name
        self.rates = rates
        self.batch = usesMintedTokens ? 1 : max(1, batch)
        self.concurrency = max(1, concurrency)
        self.usesMintedTokens = usesMintedTokens
    }
}
