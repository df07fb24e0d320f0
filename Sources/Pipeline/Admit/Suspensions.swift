import AdapterKit

/// Which apps' events wait, and when they go on.
///
/// An app is suspended where enough of the users that were given tokens refuse them: a share of them, and never fewer than the
/// floor. A suspension is half open: one event now and then is let through, and where its token is not refused the app
/// resumes. An operator's pause lets nothing through, and may have an end.
struct Suspensions: Sendable {
    /// Whether an app's event may be answered.
    enum Standing: Sendable, Equatable {
        case open
        /// It waits.
        case closed
        /// It is the one that is let through to see.
        case probe
    }

    /// Why a user's report counts as a refusal.
    enum Evidence: Sendable, Equatable {
        /// It names a token of ours.
        case token
        /// The device with this fingerprint reported again.
        case device(UInt32)
    }

    private struct Record: Sendable {
        var share: RefusalShare
        /// The version of the key that signed what is refused.
        var keyVersion: String?
        var suspension: Suspension?
        var probe: Probe?
        var resumptions: UInt32 = 0
    }

    private var rules: AdmissionRules
    private var apps: [String: Record] = [:]
    /// How many apps' events wait, so that nobody looks for one where none does.
    private var waitingCount = 0

    init(_ rules: AdmissionRules) { self.rules = rules }

    /// Goes on by `rules`, for the apps called `names`. What holds an app goes on holding it; what was seen of an app that is no
    /// more and that nothing holds is forgotten.
    mutating func goOn(by rules: AdmissionRules, for names: Set<String>) {
        apps = apps.filter { names.contains($0.key) || $0.value.suspension != nil }
        if rules.suspensionWindow != self.rules.suspensionWindow {
            for app in apps.keys { apps[app]?.share = RefusalShare(window: rules.suspensionWindow) }
        }
        self.rules = rules
    }

    /// The key's fingerprint for what is remembered of `app`; another one after each resumption, so that the refusals
    /// before it count no more.
    func fingerprint(of key: SigningKeyReference, for app: String) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(apps[app]?.resumptions ?? 0)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    /// Whether an event of `app` may be answered with `key`. Another key than the one that was refused may have mended it.
    mutating func standing(of app: String, keyVersion: String, at now: UnixTime) -> Standing {
        guard waitingCount > 0, let suspension = apps[app]?.suspension else { return .open }
        guard suspension.cause == .suspended else { return .closed }
        if suspension.keyVersion != keyVersion { keyChanged(of: app, to: keyVersion, at: now) }
        return apps[app]?.probe?.isDue(at: now) == true ? .probe : .closed
    }

    // MARK: Probes

    /// The event that `standing` let through is to get a token.
    mutating func choseProbe(of app: String) { apps[app]?.probe?.choose() }

    /// Whether the token of `app`'s probe went to `id`.
    func isProbe(_ id: SubjectID, of app: String) -> Bool {
        waitingCount > 0 && apps[app]?.probe?.isOut(to: id) == true
    }

    /// The probe's token was refused.
    mutating func probeRefused(of app: String, at now: UnixTime) { apps[app]?.probe?.fail(at: now) }

    /// A batch begins: what the last one let through and gave no token is let through again.
    mutating func releaseProbes(at now: UnixTime) {
        guard waitingCount > 0 else { return }
        for app in apps.keys { apps[app]?.probe?.release(at: now) }
    }

    /// Tokens that were minted were not published.
    mutating func rollBack(at now: UnixTime) {
        guard waitingCount > 0 else { return }
        for app in apps.keys { apps[app]?.probe?.giveBack(at: now) }
    }

    /// Another key signs for `app` than the one that was refused: the next event is let through.
    mutating func keyChanged(of app: String, to version: String, at now: UnixTime) {
        guard let old = apps[app]?.suspension, old.cause == .suspended, old.keyVersion != version else { return }
        apps[app]?.suspension = Suspension(
            app: app, since: old.since, by: old.by, why: old.why, users: old.users, keyVersion: version)
        apps[app]?.probe?.hurry(at: now)
    }

    /// Ends the suspensions whose probe was not refused.
    ///
    /// - Returns: what ended.
    mutating func endProbed(at now: UnixTime) -> [Suspension] {
        guard waitingCount > 0 else { return [] }
        let window = min(rules.probeWait, rules.suspensionWindow)
        let passed = apps.filter { $0.value.probe?.hasPassed(at: now, window: window) == true }.map(\.key).sorted()
        return passed.compactMap { resume($0) }
    }

    /// Ends the pauses whose time is over.
    ///
    /// - Returns: what ended.
    mutating func endElapsed(at now: UnixTime) -> [Suspension] {
        guard waitingCount > 0 else { return [] }
        return all.filter { $0.isOver(at: now) }.compactMap { resume($0.app) }
    }

    // MARK: What is seen

    /// A token of `app` was minted for `id`, whose last one was minted at `before`.
    mutating func minted(for id: SubjectID, of app: String, isProbe: Bool, before: UnixTime?, at now: UnixTime) {
        apps[app, default: Record(share: RefusalShare(window: rules.suspensionWindow))].share.mint(
            at: now, before: before)
        if isProbe { apps[app]?.probe?.send(to: id, at: now) }
    }

    /// The vendor refused a user's token beyond the limit.
    ///
    /// - Returns: the suspension, where this user makes it one.
    mutating func refused(
        _ user: SubjectID, of app: String, keyVersion: String, by evidence: Evidence, at now: UnixTime
    ) -> Suspension? {
        var record = apps[app] ?? Record(share: RefusalShare(window: rules.suspensionWindow))
        defer { apps[app] = record }
        guard record.suspension == nil else { return nil }
        if record.keyVersion != keyVersion {
            record.share.forgetRefusals()
            record.keyVersion = keyVersion
        }
        switch evidence {
        case .token: record.share.refuse(user, device: 0, at: now)
        case .device(let device): record.share.refuse(user, device: device, at: now)
        }
        let (refusing, minted) = record.share.counts(at: now)
        guard refusing >= rules.usersToSuspend, Double(refusing) >= rules.shareToSuspend * Double(minted) else {
            return nil
        }
        let suspension = Suspension(
            app: app, since: UnixTime(seconds: now.seconds), by: rules.worker,
            why: "\(refusing) of \(minted) users refuse tokens of the key's version \(keyVersion)", users: refusing,
            keyVersion: keyVersion)
        waitingCount += 1
        record.suspension = suspension
        record.probe = Probe(firstWait: rules.probeWait, at: now)
        record.share.forgetRefusals()
        return suspension
    }

    // MARK: What others say

    /// What the whole fleet holds of `app` is `suspension`, or that there is none.
    ///
    /// - Returns: whether that changes anything here.
    mutating func hold(_ suspension: Suspension?, of app: String, at now: UnixTime) -> Bool {
        guard let suspension, !suspension.isOver(at: now) else { return resume(app) != nil }
        let known = apps[app]?.suspension
        guard known != suspension else { return false }
        if known == nil { waitingCount += 1 }
        var record = apps[app] ?? Record(share: RefusalShare(window: rules.suspensionWindow))
        record.suspension = suspension
        if suspension.cause == .paused {
            record.probe = nil
        } else if record.probe == nil {
            record.probe = Probe(firstWait: rules.probeWait, at: now)
        }
        apps[app] = record
        return known == nil || known?.cause != suspension.cause
    }

    /// Ends the suspension of `app`.
    ///
    /// - Returns: what ended; nil where its events did not wait.
    mutating func resume(_ app: String) -> Suspension? {
        guard let suspension = apps[app]?.suspension else { return nil }
        waitingCount -= 1
        apps[app]?.suspension = nil
        apps[app]?.probe = nil
        apps[app]?.share.forgetRefusals()
        apps[app]?.resumptions &+= 1
        return suspension
    }

    /// Every suspension and pause, by the app's name.
    var all: [Suspension] { apps.values.compactMap(\.suspension).sorted { $0.app < $1.app } }
}
