import Access
import AdapterKit
import Formats
@_spi(Decryption) import JOSE
import Logging
import Pipeline
import Synchronization
import Wiring
import WorkerConfiguration

/// The terms that calls are served by, from the configuration: apps, callers and their limits, keys that open tokens.
/// Terms never change; another configuration makes other terms.
final class PickupTerms: Sendable {
    let configuration: Configuration
    let apps: [String: PickupApp]
    let access: AskerAccess
    let forecaster: EventForecaster
    let seals: OpenedTokens
    let frame: PickupFrame
    let sources: [KeySourceFile]
    fileprivate let limits: SharedLimits

    fileprivate init(
        _ configuration: Configuration, apps: [String: PickupApp], access: AskerAccess, seals: OpenedTokens,
        frame: PickupFrame, sources: [KeySourceFile], limits: SharedLimits
    ) {
        self.configuration = configuration
        self.apps = apps
        self.access = access
        self.seals = seals
        self.frame = frame
        self.sources = sources
        self.limits = limits
        forecaster = EventForecaster(
            apps: configuration.pipelineApps,
            maximumBytes: configuration.worker.maximumEventBytes, liveTopic: configuration.topics.invalidations,
            bulkTopic: configuration.topics.invalidationsBulk)
    }

    /// Returns whether every caller that these terms let ask for `app` may also ask for it by `later`.
    func open(_ app: String, asIn later: PickupTerms) -> Bool {
        if self === later { return true }
        guard later.apps[app] != nil, let old = configuration.pickup, let new = later.configuration.pickup else {
            return false
        }
        return old.opens(app, asIn: new)
    }
}

final class CurrentTerms: Sendable {
    private let terms: Mutex<PickupTerms>

    init(_ terms: PickupTerms) { self.terms = Mutex(terms) }

    var current: PickupTerms { terms.withLock { $0 } }

    /// Replaces the terms for all further calls. Open streams continue where `new` opens their app as before.
    func replace(with new: PickupTerms) { terms.withLock { $0 = new } }
}

/// Makes terms. It keeps, or takes over, everything that the process must remember from one configuration to the next.
struct TermsMaker: Sendable {
    /// The gateway's section as it was at the start, for what needs a restart.
    let started: Configuration.Pickup
    let nonces: ProofNonces?
    /// The verifier that remembers used proofs; a proof that it forgot could be shown again.
    private let proofs: DPoPVerifier
    let metrics: PickupMetrics
    let logger: Logger
    let now: @Sendable () -> UnixTime
    private let isClockInDoubt: @Sendable () -> Bool

    /// - Parameters:
    ///   - started: the gateway's section as it was at the start.
    ///   - nonces: the nonces that proofs must name; nil for none.
    ///   - isClockInDoubt: whether the clock may be wrong.
    init(
        started: Configuration.Pickup, nonces: ProofNonces?, metrics: PickupMetrics, logger: Logger,
        now: @escaping @Sendable () -> UnixTime, isClockInDoubt: @escaping @Sendable () -> Bool
    ) {
        self.isClockInDoubt = isClockInDoubt
        self.started = started
        self.nonces = nonces
        self.metrics = metrics
        self.logger = logger
        self.now = now
        proofs = DPoPVerifier(rules: DPoPRules(for: started), nonces: nonces)
    }

    /// Returns terms for `configuration` that follow `before`. Fetched keys and used-up limits are kept where their
    /// configuration did not change.
    ///
    /// - Throws: `PickupError` where a file cannot be used.
    func terms(_ configuration: Configuration, after before: PickupTerms? = nil) throws(PickupError) -> PickupTerms {
        guard let pickup = configuration.pickup else { throw PickupError("the section pickup is gone") }
        let apps = configuration.apps.map { app in
            PickupApp(app, pickup, topic: app.topics.first ?? configuration.topics.invalidations)
        }
        let sources = pickup.sessions.map { session in
            before?.sources.first { $0.isOf(session) }
                ?? KeySourceFile(
                    session, after: before?.sources.first { $0.isAtPlace(of: session) }, logger: logger)
        }
        let isLimitedAlike = before?.configuration.pickup.map { $0.limits == pickup.limits } ?? false
        let limits = isLimitedAlike ? before?.limits : nil
        return try make(
            configuration, pickup, Dictionary(apps.map { ($0.name, $0) }) { first, _ in first }, sources,
            limits: limits ?? SharedLimits(pickup.limitRules, now: { .now }),
            devices: devices(pickup, sources, after: before))
    }

    /// Returns the access that verifies devices' sessions. It is the one of `before` where both would know the same
    /// sessions: it remembers verified sessions, and a flood of forged ones shuts out devices that it does not
    /// remember.
    private func devices(
        _ pickup: Configuration.Pickup, _ sources: [KeySourceFile], after before: PickupTerms?
    ) -> DeviceAccess? {
        if let before, let old = before.configuration.pickup, old.knowsSessions(as: pickup) {
            return before.access.devices
        }
        let verifiers = zip(pickup.sessions, sources).map { session, source in
            SessionVerifier(rules: SessionRules(session, of: pickup), keys: source.keys)
        }
        guard !verifiers.isEmpty else { return nil }
        return DeviceAccess(sessions: verifiers, proofs: proofs, requiresProof: pickup.proof == .dpop)
    }

    private func make(
        _ configuration: Configuration, _ pickup: Configuration.Pickup, _ apps: [String: PickupApp],
        _ sources: [KeySourceFile], limits: SharedLimits, devices: DeviceAccess?
    ) throws(PickupError) -> PickupTerms {
        let backends = APIKeys(
            pickup.apiKeys.compactMap { key in
                APIKey(name: key.name, hash: key.hash, scope: key.apps.isEmpty ? .all : .apps(key.apps))
            })
        let refused: @Sendable (String) -> Void = { [metrics] in metrics.refused($0) }
        let access = AskerAccess(
            apps: apps, devices: devices, backends: backends,
            arrivals: Arrivals(devices: devices, backends: backends, limits: limits, now: now, refused: refused),
            publicURL: try pickup.baseURL(of: started), now: now, isClockInDoubt: isClockInDoubt, refused: refused)
        return PickupTerms(
            configuration, apps: apps, access: access, seals: OpenedTokens(try PickupFiles.sealKeys(pickup)),
            frame: PickupFrame(
                origins: Set(pickup.origins), metrics: metrics, nextNonce: { [now, nonces] in nonces?.nonce(at: now()) }
            ),
            sources: sources, limits: limits)
    }
}

extension Configuration.Pickup {
    /// Returns the URL at which devices reach the gateway, without a path: `public_url`, or the address of `started`,
    /// the section at the start.
    ///
    /// - Throws: `PickupError` where no call can have a URL: each would be refused.
    func baseURL(of started: Self) throws(PickupError) -> String {
        let address = HostAndPort(host: String(started.host.prefix { $0 != "%" }), port: started.port)
        let url = publicURL ?? "\(started.certificate == nil ? "http" : "https")://\(address)"
        guard url.utf8.count <= ComparableURL.mostBytes - PickupCall.mostBytes, ComparableURL(url) != nil else {
            throw PickupError(
                "pickup.public_url: \(url) is no URL that a call can have; write one such as https://tokens.example.com"
            )
        }
        return url
    }

    /// Returns whether `later` still has, unchanged, everything that opens `app` here.
    fileprivate func opens(_ app: String, asIn later: Self) -> Bool {
        let way = apps[app]
        return way == later.apps[app] && (way == nil || proof == later.proof)
            && sessions.filter { $0.issuer == way?.issuer }.allSatisfy(later.sessions.contains)
            && apiKeys.filter { $0.apps.isEmpty || $0.apps.contains(app) }.allSatisfy { key in
                later.apiKeys.contains { $0.name == key.name && $0.hash == key.hash && $0.apps == key.apps }
            }
    }

    fileprivate func knowsSessions(as other: Self) -> Bool {
        sessions == other.sessions && apps == other.apps && proof == other.proof
    }

    /// Every limit of callers' rates.
    fileprivate var limits: [String: Int] {
        let rates = [
            "user": userRate, "caller": callerRate, "address": addressRate, "refused": refusedRate, "total": totalRate,
        ]
        return rates.merging(apiKeys.map { ("backend \($0.name)", $0.rate) }) { first, _ in first }
    }

    /// The limits as rules.
    fileprivate var limitRules: LimitRules {
        func rate(_ perSecond: Int) -> RequestRate { RequestRate(perSecond: Double(perSecond), burst: perSecond * 2) }
        var rules = LimitRules()
        (rules.subject, rules.caller, rules.address) = (rate(userRate), rate(callerRate), rate(addressRate))
        (rules.refused, rules.total) = (rate(refusedRate), rate(totalRate))
        for key in apiKeys { rules.backends[key.name] = rate(key.rate) }
        return rules
    }
}

/// Fetches the keys of the present session issuers, each in a task of its own.
final class KeyFetching: Sendable {
    private let tasks = Mutex<[(source: KeySourceFile, task: Task<Void, Never>)]>([])

    /// Fetches for `sources`, and stops fetching for all others.
    func follow(_ sources: [KeySourceFile]) {
        tasks.withLock { tasks in
            for (source, task) in tasks where !sources.contains(where: { $0.keys === source.keys }) { task.cancel() }
            tasks = sources.map { source in
                tasks.first { $0.source.keys === source.keys } ?? (source, Task.detached { await source.run() })
            }
        }
    }
}

extension SessionRules {
    /// The rules of a session's section, with the claims that the apps require.
    init(_ session: Configuration.Pickup.Session, of pickup: Configuration.Pickup) {
        let ways = pickup.ways(of: session.name)
        self.init(
            issuer: session.issuer, audience: session.audience, algorithms: session.algorithms, skew: session.skew,
            audiences: ways.compactMap(\.audience), userClaims: ways.isEmpty ? [session.userClaim] : ways.map(\.claim))
        name = session.name
    }
}

extension DPoPRules {
    /// Rules whose memory holds the proofs that the limits of `pickup` admit in a window of two minutes.
    init(for pickup: Configuration.Pickup) {
        self.init()
        remembered = min(max(remembered, pickup.totalRate * 121), Self.mostRemembered)
        rememberedByKey = max(rememberedByKey, pickup.callerRate * 121)
    }

    /// The maximum number of proofs in memory: about 400 MB.
    private static let mostRemembered = 5_000_000
}
