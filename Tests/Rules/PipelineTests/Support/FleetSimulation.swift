import AdapterKit

@testable import Pipeline

/// A fleet of workers, a control topic, a vendor and the users of one app, second by second.
///
/// Every user belongs to one worker, as the partitions of a keyed topic do. A worker reads the control topic a second late. Devices
/// ask for a token when theirs is used up, report a refused one every few seconds, and ask again later while their app's events
/// wait.
struct FleetSimulation {
    /// The behavior of a user's device.
    enum Kind: Sendable {
        /// It reports what the vendor refuses.
        case honest
        /// It reports of every token that the vendor refuses the key.
        case hostile
        /// It reports so of the tokens that it gets while the app is suspended, as late as it may.
        case sleeper
        /// It reports no token, whether the vendor refuses it or not.
        case silent
    }

    /// A record of the control topic.
    enum Word {
        case hold(Suspension?)
        case refusals(RefusalRecord)
    }

    private struct User {
        let id: SubjectID
        let kind: Kind
        let worker: Int
        var token: UInt64 = 0
        var tokenVersion = ""
        var isOfSuspension = false
        /// The report that waits in a retry tier, as it was: the token it names, and when it was observed.
        var waiting: (token: UInt64?, observed: UnixTime)?
        /// The second since which it has waited for a token.
        var waitingSince: Int?
    }

    static let app = "shop"
    private static let lifetime = 300
    /// The pause of a device whose event waits, in seconds.
    let retry: Int
    var workers: [Admission]
    /// The version that signs, and the versions the vendor knows.
    var version = "v1"
    var accepted: Set<String> = ["v1"]
    /// The number of hostile accounts that come for the first time in each second.
    var flood = 0
    private(set) var second = 0
    private var users: [User] = []
    private var due: [Int: [Int]] = [:]
    private var topic: [Word] = []
    private var read: [Int]
    private var batch = 0
    private var minted: UInt64 = 0

    // MARK: What was seen

    /// Every suspension that a worker announced or held.
    private(set) var suspensions: [Suspension] = []
    private(set) var warnings: [RefusalCounts] = []
    private(set) var calmed = 0
    /// Honest users' events by their verdicts.
    private(set) var honest: [String: Int] = [:]
    /// The longest wait of an honest user for a token, in seconds.
    private(set) var longestWait = 0
    /// Tokens of hostile accounts.
    private(set) var hostileTokens = 0
    private(set) var records = 0

    init(workers count: Int, retry: Int = 30) {
        self.retry = retry
        read = Array(repeating: 0, count: count)
        workers = (0..<count).map { number in
            var admission = Admission(AdmissionRules(subjects: 200_000, worker: "worker-\(number)"))
            admission.suspensions.isFleetFollowed = true
            return admission
        }
    }

    /// `count` more users of one kind, who come within `span` seconds from now.
    mutating func add(_ count: Int, _ kind: Kind, within span: Int) {
        for number in 0..<count {
            let index = users.count
            let start = second + number * span / max(1, count)
            users.append(
                User(
                    id: SubjectID(high: UInt64(index + 1) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(index)), kind: kind,
                    worker: index % workers.count))
            due[start, default: []].append(index)
        }
    }

    var now: UnixTime { AdmissionTeller.time(Double(second)) }

    /// The suspension each worker holds the app by.
    var held: [Suspension?] { workers.map { $0.suspensions.all.first } }

    /// Suspends the app for all users.
    mutating func suspend() {
        tell(.hold(Suspension(app: Self.app, since: now, by: "worker-9", users: 20, keyVersion: version)))
    }

    /// Runs until `end`, or until `isDone`.
    mutating func run(until end: Int, unless isDone: (borrowing FleetSimulation) -> Bool = { _ in false }) {
        while second < end, !isDone(self) {
            if flood > 0 { add(flood, .hostile, within: 1) }
            for index in due.removeValue(forKey: second) ?? [] { act(index) }
            for worker in workers.indices { work(worker) }
            second += 1
        }
    }

    // MARK: Devices

    private mutating func act(_ index: Int) {
        var user = users[index]
        defer { users[index] = user }
        let isHeld = held[user.worker] != nil
        let isRefused =
            switch user.kind {
            case .honest: !accepted.contains(user.tokenVersion)
            case .hostile: true
            case .sleeper: user.isOfSuspension
            case .silent: false
            }
        let report = user.waiting ?? (user.token != 0 && isRefused ? user.token : nil, now)
        let verdict = verdict(on: report.token, observed: report.observed, user)
        let name = Self.name(of: verdict)
        user.waiting = name == "suspended" ? report : nil
        let pause: Int
        switch verdict {
        case .next(let ticket):
            minted += 1
            user.token = minted
            user.tokenVersion = version
            user.isOfSuspension = isHeld
            if user.kind != .honest { hostileTokens += 1 }
            workers[user.worker].minted(
                user.token, of: Self.app, on: ticket, at: now, expiresAt: now.seconds + Int64(Self.lifetime),
                inBatch: batch)
            switch user.kind {
            case .honest: pause = accepted.contains(version) ? Self.lifetime : 5
            case .hostile: pause = 5
            case .sleeper: pause = isHeld ? 50 : Self.lifetime
            case .silent: pause = Self.lifetime
            }
        case .ended(.superseded, _): pause = 5
        case .ended(.suspended, _): pause = retry
        case .ended, .follows, .waits: pause = user.kind == .honest ? retry : 5
        }
        if user.kind == .honest {
            honest[name, default: 0] += 1
            longestWait = max(longestWait, second - (user.waitingSince ?? second))
            user.waitingSince = name == "suspended" ? user.waitingSince ?? second : nil
        }
        due[second + pause, default: []].append(index)
    }

    private mutating func verdict(on token: UInt64?, observed: UnixTime, _ user: User) -> Disposition<Admission.Ticket>
    {
        let key = SigningKeyReference(
            ring: "ring", version: version, keyID: nil, algorithm: .hs256, retireAfter: nil)
        let facts = AdmissionFacts(
            app: Self.app, id: user.id, isChallenge: false, loopGuard: LoopGuard(),
            evidence: token == nil ? .none : .key,
            isRefusal: token != nil, isReissue: false,
            failedToken: token, isOfActiveKey: token != nil && user.tokenVersion == version,
            observedAt: observed, device: nil)
        return workers[user.worker].verdict(on: facts, with: key, at: now)
    }

    private static func name(of verdict: Disposition<Admission.Ticket>) -> String {
        switch verdict {
        case .next: "mint"
        case .ended(.superseded, _): "superseded"
        case .ended(.suspended, _): "suspended"
        case .ended, .follows, .waits: "refused"
        }
    }

    // MARK: Workers

    private mutating func work(_ index: Int) {
        batch += 1
        let seen = topic.count
        for word in topic[read[index]..<seen] {
            switch word {
            case .hold(let suspension):
                _ = workers[index].suspensions.hold(suspension, of: Self.app, at: now)
            case .refusals(let record):
                workers[index].suspensions.heard(record.counts, of: record.app, from: record.worker, at: now)
            }
        }
        read[index] = seen
        workers[index].confirm(throughBatch: batch)
        workers[index].suspensions.releaseProbes()
        if let key = held[index]?.keyVersion, key != version {
            workers[index].suspensions.keyChanged(of: Self.app, to: version, at: now)
        }
        let judged = workers[index].suspensions.judgeProbes(at: now)
        for change in judged + workers[index].suspensions.decide(at: now) {
            switch change {
            case .narrowed(let suspension): tell(.hold(suspension))
            case .suspended(let suspension):
                suspensions.append(suspension)
                tell(.hold(suspension))
            case .suspendedHere(let suspension): suspensions.append(suspension)
            case .resumed: tell(.hold(nil))
            case .refusing(_, let counts): warnings.append(counts)
            case .accepting: calmed += 1
            case .told: break
            }
        }
        for report in workers[index].suspensions.dueReports(at: now) {
            let record = RefusalRecord(group: "remint", app: report.app, worker: report.worker, counts: report.counts)
            if let again = try? RefusalRecord(key: record.key, value: record.value, group: "remint", at: now) {
                tell(.refusals(again))
            }
        }
    }

    private mutating func tell(_ word: Word) {
        records += 1
        topic.append(word)
    }
}
