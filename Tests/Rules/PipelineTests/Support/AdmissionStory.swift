import AdapterKit
import Testing

@testable import Pipeline

/// Events of one app, one after the other, and what becomes of each, written out.
struct AdmissionStory: CustomTestStringConvertible, Sendable {
    /// An event at a number of seconds after the start.
    struct Event: Sendable {
        var at: Double
        var user = "ann"
        /// The token it names: the first minted is `T1`, the second `T2`; any other text is a token of somebody else's.
        var names: String?
        var device: String?
        /// The time of the observation, in seconds after the start; nil for `at`.
        var observed: Double?
        var remedy = Remedy.mint
        var evidence = Evidence.key
        var isReissue = false
        /// Whether the vendor refused the request.
        var isEnforced = true
        /// Whether what it names is an unexpired token of the key that signs.
        var isOfActiveKey = false
        var challenge: String?
        var key = "v1"
        /// The last second whose tokens its producer may have missed.
        var unseen: Double?
        /// The outcome: `mint`, a supersession's name, `refused`, `suspended`, or `suspends` where its app is suspended after it.
        var ends: String

        /// The same event `count` times, with equal pauses between, in seconds.
        static func repeated(_ count: Int, every seconds: Double, _ event: Event) -> [Event] {
            (0..<count).map { index in
                var next = event
                next.at += Double(index) * seconds
                return next
            }
        }
    }

    let testDescription: String
    let loopGuard: LoopGuard
    let rules: AdmissionRules
    let lifetime: Int64
    let events: [Event]

    init(
        _ name: String, loopGuard: LoopGuard = LoopGuard(), rules: AdmissionRules = AdmissionRules(subjects: 100),
        lifetime: Int64 = 3600, _ events: [Event]
    ) {
        testDescription = name
        self.loopGuard = loopGuard
        self.rules = rules
        self.lifetime = lifetime
        self.events = events
    }
}

/// Plays events to an admission. What it admits is minted at once, each in a batch of its own.
struct AdmissionTeller {
    var admission: Admission
    let loopGuard: LoopGuard
    let lifetime: Int64
    private(set) var batch = 0
    private var minted = 0

    init(_ rules: AdmissionRules, _ loopGuard: LoopGuard = LoopGuard(), lifetime: Int64 = 3600) {
        admission = Admission(rules)
        self.loopGuard = loopGuard
        self.lifetime = lifetime
    }

    static func time(_ seconds: Double) -> UnixTime {
        TestBench.now.advanced(byMicroseconds: Int64((seconds * 1_000_000).rounded()))
    }

    mutating func tell(_ event: AdmissionStory.Event) -> String {
        let end = verdict(on: event)
        // Admission's memory stays provisional; stories confirm it themselves.
        admission.suspensions.confirm(throughBatch: batch)
        let changes = admission.suspensions.decide(at: Self.time(event.at))
        let isSuspended = changes.contains { if case .suspendedHere = $0 { true } else { false } }
        return isSuspended ? "suspends" : end
    }

    private mutating func verdict(on event: AdmissionStory.Event) -> String {
        let now = Self.time(event.at)
        admission.suspensions.releaseProbes()
        _ = admission.suspensions.judgeProbes(at: now)
        let key = SigningKeyReference(
            ring: "ring", version: event.key, keyID: nil, algorithm: .hs256, retireAfter: nil)
        let facts = AdmissionFacts(
            app: "shop", id: SubjectID(Subject(user: event.user), app: "shop"), isChallenge: event.challenge != nil,
            loopGuard: loopGuard,
            evidence: event.evidence, isRefusal: event.remedy == .mintOnce, isEnforced: event.isEnforced,
            isReissue: event.isReissue,
            failedToken: event.names.map { TokenHash(of: Array($0.utf8)).prefix }, isOfActiveKey: event.isOfActiveKey,
            observedAt: min(Self.time(event.observed ?? event.at), now), device: event.device,
            unseen: event.unseen.map { Self.time($0).microseconds })
        switch admission.verdict(on: facts, with: key, at: now) {
        case .next(let ticket):
            minted += 1
            batch += 1
            admission.minted(
                TokenHash(of: "T\(minted)".utf8).prefix, of: facts.app, on: ticket, at: now,
                expiresAt: now.seconds + lifetime,
                inBatch: batch)
            return "mint"
        case .ended(.superseded(let why), _): return why.rawValue
        case .ended(.suspended, _): return "suspended"
        case .ended, .follows, .waits: return "refused"
        }
    }
}
