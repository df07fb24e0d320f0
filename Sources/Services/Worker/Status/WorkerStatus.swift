import AdapterKit
import JOSE
import Keyring
public import Pipeline
import Synchronization

/// The state of a running worker, and the requests to it. The loop writes the state; the admin server and signal
/// handlers read it and make requests.
public final class WorkerStatus: Sendable {
    /// A condition for a worker to be ready.
    public enum Dependency: String, Sendable, CaseIterable, Comparable {
        /// The brokers can be reached.
        case brokers
        /// The topics exist.
        case topics
        /// The output topics can be written.
        case publishing
        /// The events of every app get tokens: no app's tokens are too large for their topic, or cannot be made.
        case minting
        /// The key rings can be read.
        case keys
        /// The machine's clock agrees with others.
        case clock
        /// Events that wait are settled.
        case progress
        /// The worker is neither starting, nor quiet, nor stopping.
        case worker

        /// Whether the name of `left` is first in the alphabet.
        public static func < (left: Dependency, right: Dependency) -> Bool { left.rawValue < right.rawValue }
    }

    /// An app, as `remint apps` shows it.
    public struct AppStatus: Sendable, Equatable {
        /// The app's name.
        public var name: String
        /// The adapter's name.
        public var adapter: String
        /// The app's key ring.
        public var keyRing: String
        /// The version that signs; nil where there is none.
        public var keyVersion: String?
        /// The app's suspension; nil where it is not suspended.
        public var suspension: Suspension?
        /// The time from which this worker sends the next probe; nil while one is out, and without a suspension.
        var nextProbe: UnixTime?

        /// An app with these parts.
        package init(
            name: String, adapter: String, keyRing: String, keyVersion: String?, suspension: Suspension?
        ) {
            self.name = name
            self.adapter = adapter
            self.keyRing = keyRing
            self.keyVersion = keyVersion
            self.suspension = suspension
        }
    }

    /// The reason why a worker without its first live partitions is not ready.
    static let starting = "it is starting"

    private struct State {
        var name = ""
        var brokers: String?
        var problems = SteadyProblems<Dependency>()
        var isClockCompared = false
        var keyProblems: [String: String] = [:]
        var apps: [AppStatus] = []
        var lanePauses: [LanePause] = []
        var keySets: [String: String] = [:]
        var isQuiet = false
        var isRenewalDue = false
        var heartbeat: Duration
        var step = "it begins"
        var progress = SessionProgress()
    }

    private let state: Mutex<State>
    private let elapsed: @Sendable () -> Duration

    /// The parts that do not work as they should, while the worker answers events.
    let degradations = Degradations()

    /// The status of a worker that is starting.
    public convenience init() {
        let start = ContinuousClock.now
        self.init(elapsed: { .now - start })
    }

    /// - Parameter elapsed: the time since any moment, by a clock that nobody sets.
    init(elapsed: @escaping @Sendable () -> Duration) {
        self.elapsed = elapsed
        var first = State(heartbeat: elapsed())
        first.problems.set(.worker, Self.starting, isFault: false, at: first.heartbeat)
        state = Mutex(first)
        degradations.watch(.apps) { [weak self] in self?.waitingApps }
        degradations.watch(.lanes) { [weak self] in self?.waitingLanes }
    }

    /// The worker's transactional id; empty until it has one.
    public var name: String { state.withLock { $0.name } }

    func set(name: String) { state.withLock { $0.name = name } }

    /// The brokers' address; nil until the worker has one.
    var brokers: String? { state.withLock { $0.brokers } }

    func set(brokers: String) { state.withLock { $0.brokers = brokers } }

    // MARK: Readiness

    /// The missing dependencies, each with the reason; empty if the worker is ready.
    public var problems: [Dependency: String] {
        state.withLock { state in
            let now = elapsed()
            var problems = state.problems.all(at: now)
            let silence = now - state.heartbeat
            guard silence >= Self.silentAfter else { return problems }
            problems[.progress] = "the worker's loop stands still for \(silence.components.seconds)s: \(state.step)"
            return problems
        }
    }

    /// The begin of each problem.
    var problemsSince: [Dependency: ContinuousClock.Instant] {
        let (now, instant) = (elapsed(), ContinuousClock.now)
        return state.withLock { $0.problems.begins(at: now) }.mapValues { instant - (now - $0) }
    }

    /// Whether nothing keeps the worker from working.
    public var isReady: Bool { problems.isEmpty }

    /// The readiness in one line, for people.
    public var summary: String {
        let problems = problems.sorted { $0.key < $1.key }.map { "\($0.key.rawValue): \($0.value)" }
        return problems.isEmpty ? "ready" : "not ready: \(problems.joined(separator: "; "))"
    }

    /// The time without a heartbeat after which the worker is not ready. A batch may take some seconds.
    private static let silentAfter = Duration.seconds(30)
    /// The time without a heartbeat after which the loop counts as stuck.
    static let stuckAfter = Duration.seconds(60)

    /// Whether the loop works: it has had a heartbeat within the last minute, and events in hand do not stand still for no
    /// reason that is known. Another start would not help against a known one.
    public var isAlive: Bool {
        state.withLock { state in
            let now = elapsed()
            let isExplained = state.problems.all(at: now).keys.contains { $0 != .progress }
            return now - state.heartbeat < Self.stuckAfter && (isExplained || !state.progress.isStuck(at: now))
        }
    }

    /// The time since the loop's last heartbeat.
    public var sinceHeartbeat: Duration { state.withLock { elapsed() - $0.heartbeat } }

    /// Sets the problem of `dependency`; nil where there is none.
    ///
    /// - Parameter isFault: false for the decision of an operator, which ends at once.
    func set(_ dependency: Dependency, _ problem: String?, isFault: Bool = true) {
        state.withLock { $0.problems.set(dependency, problem, isFault: isFault, at: elapsed()) }
    }

    /// Whether another clock that decides readiness was compared of late. Without one, nothing is known against this clock.
    var isClockCompared: Bool { state.withLock { $0.isClockCompared } }

    func set(isClockCompared: Bool) { state.withLock { $0.isClockCompared = isClockCompared } }

    /// Sets the problem with the keys of `source`, a ring or a signer; nil where there is none.
    func setKeys(_ problem: String?, of source: String) {
        state.withLock { state in
            state.keyProblems[source] = problem
            let problems = state.keyProblems.sorted { $0.key < $1.key }.map(\.value)
            state.problems.set(
                .keys, problems.isEmpty ? nil : problems.joined(separator: "; "), isFault: false, at: elapsed())
        }
    }

    private var waitingApps: String? {
        Self.list(
            apps.compactMap { app in app.suspension.map { "\(app.name) is \($0.cause.rawValue) since \($0.since)" } })
    }

    private var waitingLanes: String? {
        Self.list(lanePauses.map { "the \($0.lane.rawValue) lane is paused since \($0.since)" })
    }

    /// Returns the first of `reasons` and the number of the others; nil where there is none.
    private static func list(_ reasons: [String]) -> String? {
        guard !reasons.isEmpty else { return nil }
        let shown = reasons.prefix(5).joined(separator: "; ")
        return reasons.count > 5 ? "\(shown); and \(reasons.count - 5) more" : shown
    }

    /// Notes that the loop moves, and begins `step`.
    func beat(_ step: String) { state.withLock { ($0.heartbeat, $0.step) = (elapsed(), step) } }

    /// Notes that events were settled, or offsets committed.
    func advanced() { state.withLock { $0.progress.advanced() } }

    /// Notes what waits, and that the session stands at `step`.
    ///
    /// - Returns: the problem before and now.
    func look(at waiting: SessionProgress.Waiting, _ step: String) -> (before: String?, problem: String?) {
        state.withLock { state in
            let length = state.progress.look(at: waiting, now: elapsed())
            let before = state.problems.present(.progress)
            let problem = length.map { "events wait, and none is settled for \($0.components.seconds)s: \(step)" }
            state.problems.set(.progress, problem, at: elapsed())
            return (before, problem)
        }
    }

    // MARK: Apps

    /// The apps, by name.
    public var apps: [AppStatus] { state.withLock { $0.apps } }

    func set(_ apps: [AppStatus]) { state.withLock { $0.apps = apps } }

    // MARK: Kafka clients

    /// Asks the worker for new Kafka clients, because the files of their certificates changed.
    func renewClients() { state.withLock { $0.isRenewalDue = true } }

    /// Whether new clients are asked for, and nobody has taken that up.
    var isRenewalWanted: Bool { state.withLock { $0.isRenewalDue } }

    /// Returns whether new clients were requested since the last call.
    func takeRenewal() -> Bool {
        state.withLock { state in
            defer { state.isRenewalDue = false }
            return state.isRenewalDue
        }
    }

    // MARK: Lanes

    /// The pauses of lanes.
    public var lanePauses: [LanePause] { state.withLock { $0.lanePauses } }

    func set(_ pauses: [LanePause]) { state.withLock { $0.lanePauses = pauses } }

    // MARK: Public keys

    /// Returns the public keys of the ring `name` as a JWK Set (RFC 7517). Prepared keys are included, so that
    /// verifiers have a key before its first token comes. nil for a ring that is not read here.
    public func keySet(of name: String) -> String? { state.withLock { $0.keySets[name] } }

    /// Publishes the public keys of `ring`.
    func publish(_ ring: KeyRing) {
        let set = (try? JWK.setJSON(of: ring.verificationKeys)).map { String(decoding: $0, as: UTF8.self) }
        state.withLock { $0.keySets[ring.name] = set }
    }

    /// Withdraws the keys of the ring `name`, which was removed.
    func withdraw(_ name: String) { state.withLock { $0.keySets[name] = nil } }

    // MARK: Quiet mode

    /// Whether the worker takes nothing new.
    public var isQuiet: Bool { state.withLock { $0.isQuiet } }

    /// Enters quiet mode, in which the worker finishes the events that it has taken, stays in its groups and takes
    /// nothing new; or leaves quiet mode.
    public func toggleQuiet() { state.withLock { $0.isQuiet.toggle() } }
}
