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
        case brokers
        case topics
        /// The output topics can be written.
        case publishing
        /// The events of every app get tokens: no app's tokens are too large for their topic, or cannot be made.
        case minting
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
        public var name: String
        public var adapter: String
        public var keyRing: String
        /// The version that signs; nil where there is none.
        public var keyVersion: String?
        /// The app's suspension; nil where it is not suspended.
        public var suspension: Suspension?
        /// The time from which this worker sends the next probe; nil while one is out, and without a suspension.
        var nextProbe: UnixTime?

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

    var problemsSince: [Dependency: ContinuousClock.Instant] {
        let (now, instant) = (elapsed(), ContinuousClock.now)
        return state.withLock { $0.problems.begins(at: now) }.mapValues { instant - (now - $0) }
    }

    public var isReady: Bool { problems.isEmpty }

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

    public var apps: [AppStatus] { state.withLock { $0.apps } }

    func set(_ apps: [AppStatus]) { state.withLock { $0.apps = apps } }

    // MARK: Kafka clients

    /// Asks the worker for new Kafka clients, because the files of their certificates changed.
    func renewClients() { state.withLock { $0.isRenewalDue = true } }

    var isRenewalWanted: Bool { state.withLock { $0.isRenewalDue } }

    func takeRenewal() -> Bool {
        state.withLock { state in
            defer { state.isRenewalDue = false }
            return state.isRenewalDue
        }
    }

    // MARK: Lanes

    public var lanePauses: [LanePause] { state.withLock { $0.lanePauses } }

    func set(_ pauses: [LanePause]) { state.withLock { $0.lanePauses = pauses } }

    // MARK: Public keys

    /// Returns the public keys of the ring `name` as a JWK Set (RFC 7517). Prepared keys are included, so that
    /// verifiers have a key before its first token comes. nil for a ring that is not read here.
    public func keySet(of name: String) -> String? { state.withLock { $0.keySets[name] } }

    func publish(_ ring: KeyRing) {
        let set = (try? JWK.setJSON(of: ring.verificationKeys)).map { String(decoding: $0, as: UTF8.self) }
        state.withLock { $0.keySets[ring.name] = set }
    }

    /// Withdraws the keys of the ring `name`, which was removed.
    func withdraw(_ name: String) { state.withLock { $0.keySets[name] = nil } }

    // MARK: Quiet mode

    public var isQuiet: Bool { state.withLock { $0.isQuiet } }

    /// Enters quiet mode, in which the worker finishes the events that it has taken, stays in its groups and takes
    /// nothing new; or leaves quiet mode.
    public func toggleQuiet() { state.withLock { $0.isQuiet.toggle() } }
}

/// The problems of a worker's dependencies, each shown for at least half a minute once it comes and goes: an alert waits
/// for a problem that lasts, and one that ends every few seconds would never fire. A value without a clock.
struct SteadyProblems<Dependency: Hashable & Sendable>: Sendable {
    /// The time without a problem after which it is over. A problem that comes back sooner comes and goes.
    static var rest: Duration { .seconds(30) }
    /// The number of quick returns from which a problem is kept. One may be the next step of a repair.
    private static var returns: Int { 2 }

    private struct Entry {
        var problem: String
        var begin: Duration
        var end: Duration?
        var returns = 0

        func counts(at now: Duration) -> Bool {
            end.map { returns >= SteadyProblems.returns && now - $0 < SteadyProblems.rest } ?? true
        }
    }

    private var entries: [Dependency: Entry] = [:]

    /// Sets the problem of `dependency` at the time `now`, counted from any moment; nil where there is none.
    ///
    /// - Parameter isFault: false for the decision of an operator, which ends at once.
    mutating func set(_ dependency: Dependency, _ problem: String?, isFault: Bool = true, at now: Duration) {
        let before = entries[dependency]
        guard let problem else {
            if !isFault { entries[dependency] = nil }
            if before?.end == nil { entries[dependency]?.end = now }
            return
        }
        var entry = before ?? Entry(problem: problem, begin: now)
        entry.problem = problem
        if let end = entry.end {
            let isReturn = isFault && now - end < Self.rest
            entry = Entry(
                problem: problem, begin: isReturn ? entry.begin : now, returns: isReturn ? entry.returns + 1 : 0)
        }
        entries[dependency] = entry
    }

    /// Returns the problem of `dependency` that was set last; nil if it is over, even if it still counts.
    func present(_ dependency: Dependency) -> String? {
        entries[dependency].flatMap { $0.end == nil ? $0.problem : nil }
    }

    /// Returns the problems that count at the time `now`.
    func all(at now: Duration) -> [Dependency: String] {
        entries.filter { $0.value.counts(at: now) }.mapValues { entry in
            entry.end.map {
                "\(entry.problem) (over for \((now - $0).components.seconds)s; it comes and goes)"
            } ?? entry.problem
        }
    }

    /// Returns the begin of each problem that counts at the time `now`.
    func begins(at now: Duration) -> [Dependency: Duration] {
        entries.filter { $0.value.counts(at: now) }.mapValues(\.begin)
    }
}
