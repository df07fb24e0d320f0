import AdapterKit

/// The suspended and paused apps, and the counts that decide suspensions.
///
/// An app is suspended if the vendor refuses the tokens of enough of the users who got tokens. If few users got tokens,
/// and the vendor refuses the tokens of all of them, only their events wait. A suspension is half open: some events are
/// admitted as `Probes`. If most of their users do not refuse their tokens, the app resumes. If some do not, only the
/// events of the users who refused still wait. An operator's pause admits no events, and may have an end.
struct Suspensions: Sendable {
    /// The standing of an app's event: it is answered, waits, or is a probe.
    enum Standing: Sendable, Equatable {
        case open
        case closed
        /// The event is admitted as a probe, for this batch.
        case probe
    }

    /// The proof that a report refuses the user's latest token.
    enum Evidence: Sendable, Equatable {
        /// The report names our token.
        case token
        /// The device with this fingerprint reported again.
        case device(UInt32)
    }

    private static let second: Int64 = 1_000_000
    private var rules: AdmissionRules
    private var apps: [String: SuspendableApp] = [:]
    private var unpublished: [UnpublishedToken] = []
    /// The number of apps whose events wait, to skip look-ups if there are none.
    private var waitingCount = 0 {
        didSet { if waitingCount > 0 { hasHeld = true } }
    }
    /// Whether any app's events have ever waited. If not, no app has resumed and no event needs a look-up.
    private var hasHeld = false
    private var decidedAt = UnixTime(microseconds: .min)
    /// Whether the control topic is read and written, so that the fleet's counts can be known.
    var isFleetFollowed = false

    init(_ rules: AdmissionRules) { self.rules = rules }

    /// Applies `rules` to the apps named `names` from now on. Suspensions and pauses stay. The counts of a removed app
    /// without one are dropped.
    mutating func apply(_ rules: AdmissionRules, for names: Set<String>) {
        apps = apps.filter { names.contains($0.key) || $0.value.suspension != nil }
        if rules.suspensionWindow != self.rules.suspensionWindow || rules.minimumAge != self.rules.minimumAge {
            for app in apps.keys { apps[app]?.forgetCounts() }
        }
        self.rules = rules
    }

    /// Returns the key's fingerprint for remembered tokens of `app`. It changes with each resumption, so that earlier
    /// refusals do not count.
    func fingerprint(of key: SigningKeyReference, for app: String) -> UInt32 {
        guard hasHeld, let resumptions = apps[app]?.resumptions else { return key.fingerprint }
        return Self.fingerprint(of: key, after: resumptions)
    }

    private static func fingerprint(of key: SigningKeyReference, after resumptions: UInt32) -> UInt32 {
        // The factor is odd: each number of resumptions gives another fingerprint.
        key.fingerprint &+ resumptions &* 0x9E37_79B1
    }

    /// Returns whether a report observed at `time` may be evidence. A report from before the end of a suspension proves
    /// nothing about the time after it.
    func mayBeEvidence(_ time: UnixTime, of app: String) -> Bool {
        guard hasHeld, let resumedAt = apps[app]?.resumedAt else { return true }
        return time > resumedAt
    }

    /// Returns whether an event of `id` and `app` may be answered with `key`. A key other than the refused one may have
    /// fixed the failure.
    ///
    /// - Parameter latest: the user's latest remembered token, of any key.
    mutating func standing(
        of app: String, for id: SubjectID, key: SigningKeyReference, latest: RecentMint? = nil, at now: UnixTime
    ) -> Standing {
        guard waitingCount > 0, let suspension = apps[app]?.suspension else { return .open }
        if suspension.cause == .suspended, suspension.keyVersion != key.version {
            keyChanged(of: app, to: key.version, at: now)
        }
        let isOfKey = latest.map { mint in
            (0...(apps[app]?.resumptions ?? 0)).contains { Self.fingerprint(of: key, after: $0) == mint.keyPrint }
        }
        return apps[app]?.standing(of: id, latest: latest?.mintedAt, isOfKey: isOfKey ?? false, rules, at: now) ?? .open
    }

    // MARK: Probes

    /// Returns the time from which a further event of the suspended `app` may test its key.
    func nextProbe(of app: String) -> UnixTime? { apps[app]?.probes?.nextDue }

    /// Records that the vendor refuses the token of `id`: the user tests with the refusers from now on.
    mutating func heardRefusal(of id: SubjectID, of app: String, mintedAt: UnixTime?, at now: UnixTime) {
        guard waitingCount > 0 else { return }
        apps[app]?.heardRefusal(of: id, mintedAt: mintedAt, rules, at: now)
    }

    /// Releases the events that were chosen as probes in the last batch and got no token.
    mutating func releaseProbes() {
        guard waitingCount > 0 else { return }
        for app in apps.keys { apps[app]?.releaseProbes() }
    }

    /// Records that another key than the refused one signs for `app`: the next events become probes.
    mutating func keyChanged(of app: String, to version: String, at now: UnixTime) {
        apps[app]?.keyChanged(to: version, at: now)
    }

    mutating func judgeProbes(at now: UnixTime) -> [SuspensionAlarm] {
        guard waitingCount > 0 else { return [] }
        return apps.keys.sorted().compactMap { app in
            guard let change = apps[app]?.judgeProbes(rules, at: now) else { return nil }
            if case .resumed = change { waitingCount -= 1 }
            if case .narrowed(let suspension) = change, !isFleetFollowed { return .suspendedHere(suspension) }
            return change
        }
    }

    /// Ends the pauses that have passed their end.
    ///
    /// - Returns: the pauses, now over.
    mutating func endElapsed(at now: UnixTime) -> [Suspension] {
        guard waitingCount > 0 else { return [] }
        return all.filter { $0.isOver(at: now) }.compactMap { resume($0.app, at: now) }
    }

    // MARK: Counting

    /// Records a token of `app` that was minted for `id` in batch `number`; `before` is the time of the user's previous
    /// mint. The token counts after its batch is confirmed.
    mutating func minted(
        for id: SubjectID, of app: String, keyVersion: String, isProbe: Bool, before: UnixTime?, at now: UnixTime,
        inBatch number: Int
    ) {
        if isProbe { apps[app]?.sent(probeTo: id, at: now) }
        unpublished.append(
            UnpublishedToken(id: id, app: app, keyVersion: keyVersion, before: before, at: now, batch: number))
    }

    /// Confirms the tokens of the batches up to `number`, which were published.
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

    mutating func rollBack() {
        defer { unpublished = [] }
        guard waitingCount > 0 else { return }
        for token in unpublished { apps[token.app]?.giveBackProbe(of: token.id) }
    }

    /// Records that the vendor refused a user's token, minted at `mintedAt`, beyond the limit.
    mutating func refused(
        _ user: SubjectID, of app: String, mintedAt: UnixTime?, keyVersion: String, by evidence: Evidence,
        at now: UnixTime
    ) {
        let device = if case .device(let device) = evidence { device } else { UInt32(0) }
        apps[app, default: SuspendableApp(name: app)].refused(
            user, mintedAt: mintedAt, device: device, keyVersion: keyVersion, rules, at: now)
    }

    /// Records another worker's counts of `app`; nil if that worker deletes them.
    mutating func heard(_ counts: RefusalCounts?, of app: String, from worker: String, at now: UnixTime) {
        apps[app, default: SuspendableApp(name: app)].fleet.heard(counts, from: worker, rules, at: now)
    }

    mutating func dueReports(at now: UnixTime) -> [(app: String, worker: String, counts: RefusalCounts?)] {
        guard isFleetFollowed else { return [] }
        return apps.keys.sorted().flatMap { app in
            (apps[app]?.dueReports(rules, at: now) ?? []).map { (app, $0.worker, $0.counts) }
        }
    }

    mutating func counts(at now: UnixTime) -> [String: RefusalCounts] {
        var counts: [String: RefusalCounts] = [:]
        for app in apps.keys { counts[app] = apps[app]?.counts(at: now) }
        return counts
    }

    /// Suspends, resumes or warns as the counts require, at most once a second.
    mutating func decide(at now: UnixTime) -> [SuspensionAlarm] {
        guard now.microseconds < decidedAt.microseconds || now >= decidedAt.advanced(byMicroseconds: Self.second) else {
            return []
        }
        decidedAt = now
        var changes: [SuspensionAlarm] = []
        for app in apps.keys.sorted() {
            let wasHeld = apps[app]?.suspension != nil
            guard let change = apps[app]?.decide(isFollowed: isFleetFollowed, rules, at: now) else { continue }
            let isHeld = apps[app]?.suspension != nil
            waitingCount += (isHeld ? 1 : 0) - (wasHeld ? 1 : 0)
            changes.append(change)
        }
        return changes
    }

    // MARK: The fleet's word

    /// Applies the fleet's suspension or pause of `app`, or its end.
    ///
    /// - Returns: whether that changes the state here.
    mutating func hold(_ suspension: Suspension?, of app: String, at now: UnixTime) -> Bool {
        guard let suspension, !suspension.isOver(at: now) else { return resume(app, at: now) != nil }
        if apps[app]?.suspension == nil { waitingCount += 1 }
        return apps[app, default: SuspendableApp(name: app)].hold(suspension, rules, at: now)
    }

    /// The most apps that are not configured and whose states are kept.
    static let mostUnknown = 100

    /// Returns whether the state of `app` may be kept, which is none of the `configured` apps.
    func hasPlace(for app: String, besides configured: Set<String>) -> Bool {
        apps[app] != nil || apps.keys.count { !configured.contains($0) } < Self.mostUnknown
    }

    /// Forgets `app`, whose events do not wait.
    mutating func forget(_ app: String) { apps[app] = nil }

    /// Ends the suspension of `app`.
    ///
    /// - Returns: the suspension, now over; nil if the app's events did not wait.
    mutating func resume(_ app: String, at now: UnixTime) -> Suspension? {
        guard let ended = apps[app]?.resume(at: now) else { return nil }
        waitingCount -= 1
        return ended
    }

    var all: [Suspension] { apps.values.compactMap(\.suspension).sorted { $0.app < $1.app } }
}
