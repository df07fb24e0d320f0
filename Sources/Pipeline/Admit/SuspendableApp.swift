import AdapterKit

/// An app as suspensions see it: its counts here and in the fleet, the suspension that holds it, and its probe.
struct SuspendableApp: Sendable {
    /// A change that an operator should know of.
    enum Change: Sendable, Equatable {
        /// The app is suspended, by the fleet's counts.
        case suspended(Suspension)
        /// The app is suspended at this worker alone, by its own counts: the others could not be asked.
        case suspendedHere(Suspension)
        /// A user who was given a token does not refuse it: the suspension is over.
        case ended(Suspension)
        /// A share of users refuses tokens that is worth an alert.
        case warned(RefusalCounts)
        /// It no longer does.
        case calmed(RefusalCounts)
    }

    let name: String
    private(set) var share: RefusalShare?
    var fleet = FleetRefusals()
    private(set) var suspension: Suspension?
    private(set) var probe: Probe?
    /// The number of suspensions that ended. Tokens signed before a suspension's end are no evidence after it.
    private(set) var resumptions: UInt32 = 0
    /// The end of the last suspension; reports from before it, which waited meanwhile, are no evidence.
    private(set) var resumedAt: UnixTime?
    private var isWarned = false

    init(name: String) { self.name = name }

    /// Whether the app's suspension (not a pause) holds everybody's events.
    private var holdsEveryone: Bool { suspension?.reach == .everyone }

    // MARK: Counting

    /// Counts tokens of the app that were published.
    mutating func published(_ tokens: ArraySlice<UnpublishedToken>, _ rules: AdmissionRules) {
        for token in tokens {
            take(token.keyVersion, rules, at: token.at)
            share?.mint(for: token.id, at: token.at, before: token.before)
        }
        share?.addFresh()
    }

    /// The vendor refused a token of `id`, which was minted at `mintedAt`, beyond the limit.
    mutating func refused(
        _ id: SubjectID, mintedAt: UnixTime?, device: UInt32, keyVersion: String, _ rules: AdmissionRules,
        at now: UnixTime
    ) {
        take(keyVersion, rules, at: now)
        share?.refuse(id, mintedAt: mintedAt, device: device, at: now)
    }

    /// Counting begins anew with each version of the key.
    private mutating func take(_ keyVersion: String, _ rules: AdmissionRules, at now: UnixTime) {
        guard share?.keyVersion != keyVersion else { return }
        share = RefusalShare(rules, keyVersion: keyVersion, at: now)
    }

    /// The window has another length.
    mutating func forgetCounts() { share = nil }

    /// This worker's counts.
    mutating func counts(at now: UnixTime) -> RefusalCounts? {
        if suspension == nil { share?.prune(at: now) }
        return share?.counts(at: now)
    }

    /// The records with counts that are to be written now.
    mutating func dueReports(
        _ rules: AdmissionRules, at now: UnixTime
    ) -> [(worker: String, counts: RefusalCounts?)] {
        // Of an app that is held whole nothing remains to be decided.
        let own = suspension.map { $0.reach == .everyone } ?? false ? nil : counts(at: now)
        return fleet.due(own, hasRefusals: share?.hasRefusals(at: now) ?? false, rules, at: now)
    }

    // MARK: Decisions

    /// Suspends, resumes or warns as the counts require.
    mutating func decide(isFollowed: Bool, _ rules: AdmissionRules, at now: UnixTime) -> Change? {
        guard !holdsEveryone, let own = counts(at: now) else { return nil }
        if let held = suspension, own.minted > own.refusing { return resume(at: now).map { _ in .ended(held) } }
        let total: RefusalCounts
        let workers: Int?
        switch own.refusing > 0 ? fleet.total(own, isFollowed: isFollowed, rules, at: now) : .own(own) {
        case .unknown: return nil
        case .own(let counts): (total, workers) = (counts, nil)
        case .fleet(let counts, let count): (total, workers) = (counts, count)
        }
        if let reach = reach(total, rules), suspension?.reach != reach {
            suspend(total, reach, workers: workers, rules, at: now)
            return suspension.map { workers == nil ? .suspendedHere($0) : .suspended($0) }
        }
        return suspension == nil ? warning(total) : nil
    }

    /// Returns the users whose events the counts require to wait; nil for nobody's.
    private func reach(_ counts: RefusalCounts, _ rules: AdmissionRules) -> Suspension.Reach? {
        guard counts.minted >= rules.usersToSuspend else {
            // So few users show nothing as long as one of them is content.
            return counts.refusing > 0 && counts.refusing == counts.minted ? .refusingUsers : nil
        }
        let share = rules.shareToSuspend * Double(counts.minted)
        return counts.refusing >= rules.usersToSuspend && Double(counts.refusing) >= share ? .everyone : nil
    }

    private mutating func suspend(
        _ counts: RefusalCounts, _ reach: Suspension.Reach, workers: Int?, _ rules: AdmissionRules, at now: UnixTime
    ) {
        let scope = workers.map { $0 == 1 ? "counted by 1 worker" : "counted by \($0) workers" }
        suspension = Suspension(
            app: name, reach: reach, since: UnixTime(seconds: now.seconds), by: rules.worker,
            why: "\(counts.refusing) of \(counts.minted) users refuse tokens of key version \(counts.keyVersion), "
                + (scope ?? "by worker \(rules.worker) of its partitions")
                + (reach == .refusingUsers ? "; only their events wait" : ""),
            users: counts.refusing, keyVersion: counts.keyVersion)
        probe = Probe(firstWait: rules.probeWait, at: now)
        isWarned = false
    }

    /// An alert at a share of users that suspends nobody, once, and its end.
    private mutating func warning(_ counts: RefusalCounts) -> Change? {
        let share = AdmissionRules.shareToWarn * Double(counts.minted)
        if !isWarned, counts.refusing > 0, Double(counts.refusing) >= share {
            isWarned = true
            return .warned(counts)
        }
        // Half of it, so that a share near the limit is not told of every second.
        guard isWarned, Double(counts.refusing) < share / 2 || counts.refusing == 0 else { return nil }
        isWarned = false
        return .calmed(counts)
    }

    // MARK: Suspensions

    /// The standing of an event of `id`.
    func standing(of id: SubjectID, at now: UnixTime) -> Suspensions.Standing {
        guard let suspension else { return .open }
        guard suspension.cause == .suspended else { return .closed }
        let isRefuser = share?.hasRefused(id) ?? false
        if suspension.reach == .refusingUsers, !isRefuser { return .open }
        return probe?.isDue(isRefuser: isRefuser, at: now) == true ? .probe : .closed
    }

    /// An event of `id` shows that the vendor refuses its token, while the app is suspended.
    mutating func heardRefusal(of id: SubjectID, mintedAt: UnixTime?, _ rules: AdmissionRules, at now: UnixTime) {
        guard let suspension, suspension.cause == .suspended else { return }
        if probe?.isOut(to: id) == true { probe?.fail(at: now) }
        // While other users' events are answered, admission's limits decide when one of these users has refused.
        guard holdsEveryone || share?.hasRefused(id) == true else { return }
        if let version = suspension.keyVersion { take(version, rules, at: now) }
        share?.note(id, mintedAt: mintedAt, at: now)
    }

    /// The event that `standing` let through is to get a token.
    mutating func choseProbe(_ id: SubjectID) { probe?.choose(isRefuser: share?.hasRefused(id) ?? false) }

    mutating func sent(probeTo id: SubjectID, at now: UnixTime) { probe?.send(to: id, at: now) }

    mutating func releaseProbe() { probe?.release() }

    mutating func giveBackProbe() { probe?.giveBack() }

    func hasPassed(at now: UnixTime, window: Int64) -> Bool { probe?.hasPassed(at: now, window: window) ?? false }

    /// Another key signs for the app than the one that was refused: nobody has refused its tokens.
    mutating func keyChanged(to version: String, at now: UnixTime) {
        guard let old = suspension, old.cause == .suspended, old.keyVersion != version else { return }
        suspension = Suspension(
            app: name, reach: old.reach, since: old.since, by: old.by, why: old.why, users: old.users,
            keyVersion: version)
        probe?.hurry(at: now)
        share?.forgive(at: now)
    }

    /// The fleet's word on what holds the app.
    ///
    /// - Returns: whether that changes anything here.
    mutating func hold(_ next: Suspension, _ rules: AdmissionRules, at now: UnixTime) -> Bool {
        let known = suspension
        guard known != next else { return false }
        suspension = next
        if next.cause == .paused {
            probe = nil
        } else if probe == nil {
            probe = Probe(firstWait: rules.probeWait, at: now)
        }
        return known == nil || known?.cause != next.cause || known?.reach != next.reach
    }

    /// Ends the suspension.
    ///
    /// - Returns: the suspension that ended; nil where there was none.
    mutating func resume(at now: UnixTime) -> Suspension? {
        guard let ended = suspension else { return nil }
        suspension = nil
        probe = nil
        share?.forgive(at: now)
        resumptions &+= 1
        resumedAt = now
        return ended
    }
}

/// A token that counts once it is published.
struct UnpublishedToken: Sendable {
    let id: SubjectID
    let app: String
    let keyVersion: String
    /// The moment of the token before; nil for none that is remembered.
    let before: UnixTime?
    let at: UnixTime
    let batch: Int
}
