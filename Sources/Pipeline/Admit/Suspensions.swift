import AdapterKit

/// The apps whose events wait, and the counts that decide it.
///
/// An app is suspended where enough of the users who were given tokens refuse them. A suspension is half open: one event now and
/// then is let through, and where its token is not refused the app resumes. Where few users were given tokens, every one of them
/// has to refuse, and their own events alone wait. An operator's pause lets nothing through, and may have an end.
struct Suspensions: Sendable {
    /// Whether an app's event may be answered.
    enum Standing: Sendable, Equatable {
        case open
        /// It waits.
        case closed
        /// It is the one that is let through to see.
        case probe
    }

    /// The proof that a report refuses the user's last token.
    enum Evidence: Sendable, Equatable {
        /// It names a token of ours.
        case token
        /// The device with this fingerprint reported again.
        case device(UInt32)
    }

    private static let second: Int64 = 1_000_000
    private var rules: AdmissionRules
    private var apps: [String: SuspendableApp] = [:]
    private var unpublished: [UnpublishedToken] = []
    /// The number of apps whose events wait, so that nobody looks for one if there is none.
    private var waitingCount = 0 {
        didSet { if waitingCount > 0 { hasHeld = true } }
    }
    /// Whether any app's events ever waited: otherwise none ever resumed, and no event asks.
    private var hasHeld = false
    private var decidedAt = UnixTime(microseconds: .min)
    /// Whether the control topic can be followed and written: whether the fleet's counts can be known.
    var isFleetFollowed = false

    init(_ rules: AdmissionRules) { self.rules = rules }

    /// Applies `rules`, for the apps called `names`. What holds an app goes on holding it; what was seen of an app that is no
    /// more and that nothing holds is forgotten.
    mutating func goOn(by rules: AdmissionRules, for names: Set<String>) {
        apps = apps.filter { names.contains($0.key) || $0.value.suspension != nil }
        if rules.suspensionWindow != self.rules.suspensionWindow || rules.minimumAge != self.rules.minimumAge {
            for app in apps.keys { apps[app]?.forgetCounts() }
        }
        self.rules = rules
    }

    /// The key's fingerprint for what is remembered of `app`; another one after each resumption, so that the refusals
    /// before it count no more.
    func fingerprint(of key: SigningKeyReference, for app: String) -> UInt32 {
        guard hasHeld, let resumptions = apps[app]?.resumptions else { return key.fingerprint }
        // An odd factor: each number of resumptions gives another one.
        return key.fingerprint &+ resumptions &* 0x9E37_79B1
    }

    /// Whether a report observed at `time` may be evidence: one from before the end of a suspension says nothing of what the vendor
    /// accepts since.
    func mayBeEvidence(_ time: UnixTime, of app: String) -> Bool {
        guard hasHeld, let resumedAt = apps[app]?.resumedAt else { return true }
        return time > resumedAt
    }

    /// Whether an event of `id` and `app` may be answered with `key`. Another key than the one that was refused may have fixed it.
    mutating func standing(of app: String, for id: SubjectID, keyVersion: String, at now: UnixTime) -> Standing {
        guard waitingCount > 0, let suspension = apps[app]?.suspension else { return .open }
        if suspension.cause == .suspended, suspension.keyVersion != keyVersion {
            keyChanged(of: app, to: keyVersion, at: now)
        }
        return apps[app]?.standing(of: id, at: now) ?? .open
    }

    // MARK: Probes

    /// The event that `standing` let through is to get a token.
    mutating func choseProbe(of app: String, _ id: SubjectID) { apps[app]?.choseProbe(id) }

    /// An event of `id` shows that the vendor refuses its token: it is no probe, or the probe failed.
    mutating func heardRefusal(of id: SubjectID, of app: String, mintedAt: UnixTime?, at now: UnixTime) {
        guard waitingCount > 0 else { return }
        apps[app]?.heardRefusal(of: id, mintedAt: mintedAt, rules, at: now)
    }

    /// A batch begins: what the last one let through and gave no token is let through again.
    mutating func releaseProbes() {
        guard waitingCount > 0 else { return }
        for app in apps.keys { apps[app]?.releaseProbe() }
    }

    /// Another key signs for `app` than the one that was refused: the next event is let through.
    mutating func keyChanged(of app: String, to version: String, at now: UnixTime) {
        apps[app]?.keyChanged(to: version, at: now)
    }

    /// Ends the suspensions whose probe was not refused.
    ///
    /// - Returns: the suspensions that ended.
    mutating func endProbed(at now: UnixTime) -> [Suspension] {
        guard waitingCount > 0 else { return [] }
        let window = min(rules.probeWait, rules.suspensionWindow)
        let passed = apps.filter { $0.value.hasPassed(at: now, window: window) }.map(\.key).sorted()
        return passed.compactMap { resume($0, at: now) }
    }

    /// Ends the pauses whose time is over.
    ///
    /// - Returns: the pauses that ended.
    mutating func endElapsed(at now: UnixTime) -> [Suspension] {
        guard waitingCount > 0 else { return [] }
        return all.filter { $0.isOver(at: now) }.compactMap { resume($0.app, at: now) }
    }

    // MARK: Counting

    /// A token of `app` was minted for `id` in batch `number`; the one before was minted at `before`. It counts once the batch is
    /// confirmed.
    mutating func minted(
        for id: SubjectID, of app: String, keyVersion: String, isProbe: Bool, before: UnixTime?, at now: UnixTime,
        inBatch number: Int
    ) {
        if isProbe { apps[app]?.sent(probeTo: id, at: now) }
        unpublished.append(
            UnpublishedToken(id: id, app: app, keyVersion: keyVersion, before: before, at: now, batch: number))
    }

    /// The tokens of the batches up to `number` were published.
    mutating func confirm(throughBatch number: Int) {
        let open = unpublished.firstIndex { $0.batch > number } ?? unpublished.endIndex
        var start = 0
        while start < open {
            // Events of one app often follow one another.
            let app = unpublished[start].app
            let end = unpublished[start..<open].firstIndex { $0.app != app } ?? open
            apps[app, default: SuspendableApp(name: app)].published(unpublished[start..<end], rules)
            start = end
        }
        unpublished.removeFirst(open)
    }

    /// Tokens that were minted were not published.
    mutating func rollBack() {
        unpublished = []
        guard waitingCount > 0 else { return }
        for app in apps.keys { apps[app]?.giveBackProbe() }
    }

    /// The vendor refused a user's token, which was minted at `mintedAt`, beyond the limit.
    mutating func refused(
        _ user: SubjectID, of app: String, mintedAt: UnixTime?, keyVersion: String, by evidence: Evidence,
        at now: UnixTime
    ) {
        let device = if case .device(let device) = evidence { device } else { UInt32(0) }
        apps[app, default: SuspendableApp(name: app)].refused(
            user, mintedAt: mintedAt, device: device, keyVersion: keyVersion, rules, at: now)
    }

    /// Another worker's counts of `app`, or that it takes them back.
    mutating func heard(_ counts: RefusalCounts?, of app: String, from worker: String, at now: UnixTime) {
        apps[app, default: SuspendableApp(name: app)].fleet.heard(counts, from: worker, rules, at: now)
    }

    /// The counts that are to be written to the control topic now.
    mutating func dueReports(at now: UnixTime) -> [(app: String, worker: String, counts: RefusalCounts?)] {
        guard isFleetFollowed else { return [] }
        return apps.keys.sorted().flatMap { app in
            (apps[app]?.dueReports(rules, at: now) ?? []).map { (app, $0.worker, $0.counts) }
        }
    }

    /// This worker's counts of each app.
    mutating func counts(at now: UnixTime) -> [String: RefusalCounts] {
        var counts: [String: RefusalCounts] = [:]
        for app in apps.keys { counts[app] = apps[app]?.counts(at: now) }
        return counts
    }

    /// Suspends, resumes or warns as the counts require, at most once a second.
    mutating func decide(at now: UnixTime) -> [(app: String, change: SuspendableApp.Change)] {
        guard now.microseconds < decidedAt.microseconds || now >= decidedAt.advanced(byMicroseconds: Self.second) else {
            return []
        }
        decidedAt = now
        var changes: [(app: String, change: SuspendableApp.Change)] = []
        for app in apps.keys.sorted() {
            let wasHeld = apps[app]?.suspension != nil
            guard let change = apps[app]?.decide(isFollowed: isFleetFollowed, rules, at: now) else { continue }
            let isHeld = apps[app]?.suspension != nil
            waitingCount += (isHeld ? 1 : 0) - (wasHeld ? 1 : 0)
            changes.append((app, change))
        }
        return changes
    }

    // MARK: The fleet's word

    /// The whole fleet holds `app` by `suspension`, or by nothing.
    ///
    /// - Returns: whether that changes anything here.
    mutating func hold(_ suspension: Suspension?, of app: String, at now: UnixTime) -> Bool {
        guard let suspension, !suspension.isOver(at: now) else { return resume(app, at: now) != nil }
        if apps[app]?.suspension == nil { waitingCount += 1 }
        return apps[app, default: SuspendableApp(name: app)].hold(suspension, rules, at: now)
    }

    /// Ends the suspension of `app`.
    ///
    /// - Returns: the suspension that ended; nil where its events did not wait.
    mutating func resume(_ app: String, at now: UnixTime) -> Suspension? {
        guard let ended = apps[app]?.resume(at: now) else { return nil }
        waitingCount -= 1
        return ended
    }

    /// Every suspension and pause, by the app's name.
    var all: [Suspension] { apps.values.compactMap(\.suspension).sorted { $0.app < $1.app } }
}
