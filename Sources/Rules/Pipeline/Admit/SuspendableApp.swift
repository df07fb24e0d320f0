import AdapterKit

/// The suspension state of an app: its counts here and in the fleet, its suspension and its probes.
struct SuspendableApp: Sendable {
    let name: String
    private(set) var share: RefusalShare?
    var fleet = FleetRefusals()
    private(set) var suspension: Suspension?
    private(set) var probes: Probes?
    /// The number of suspensions that are over. Tokens signed before the end of a suspension are no evidence after
    /// it.
    private(set) var resumptions: UInt32 = 0
    /// The end of the last suspension. Reports from before it, which waited meanwhile, are no evidence.
    private(set) var resumedAt: UnixTime?
    private var isWarned = false

    init(name: String) { self.name = name }

    private var holdsEveryone: Bool { suspension?.reach == .everyone }

    /// Returns the suspension if probes have narrowed it to the users who refused. It then applies to as many users as
    /// suspend an app, and users who got tokens of the same key do not refuse them.
    private func narrowed(_ rules: AdmissionRules) -> Suspension? {
        suspension.flatMap { $0.reach == .refusingUsers && $0.users >= rules.usersToSuspend ? $0 : nil }
    }

    // MARK: Counting

    mutating func published(_ tokens: ArraySlice<UnpublishedToken>, _ rules: AdmissionRules) {
        for token in tokens {
            take(token.keyVersion, rules, at: token.at)
            share?.mint(for: token.id, at: token.at, before: token.before)
        }
        share?.addFresh()
    }

    /// Records that the vendor refused a token of `id`, minted at `mintedAt`, beyond the limit.
    mutating func refused(
        _ id: SubjectID, mintedAt: UnixTime?, device: UInt32, keyVersion: String, _ rules: AdmissionRules,
        at now: UnixTime
    ) {
        take(keyVersion, rules, at: now)
        share?.refuse(id, mintedAt: mintedAt, device: device, at: now)
    }

    private mutating func take(_ keyVersion: String, _ rules: AdmissionRules, at now: UnixTime) {
        guard share?.keyVersion != keyVersion else { return }
        share = RefusalShare(rules, keyVersion: keyVersion, at: now)
    }

    /// Drops the counts, because the window's length has changed.
    mutating func forgetCounts() { share = nil }

    mutating func counts(at now: UnixTime) -> RefusalCounts? {
        if suspension == nil { share?.prune(at: now) }
        return share?.counts(at: now)
    }

    mutating func dueReports(
        _ rules: AdmissionRules, at now: UnixTime
    ) -> [(worker: String, counts: RefusalCounts?)] {
        // If all users of the app are suspended, there is nothing left to decide.
        let own = suspension.map { $0.reach == .everyone } ?? false ? nil : counts(at: now)
        return fleet.due(own, hasRefusals: share?.hasRefusals(at: now) ?? false, rules, at: now)
    }

    // MARK: Decisions

    mutating func decide(isFollowed: Bool, _ rules: AdmissionRules, at now: UnixTime) -> SuspensionAlarm? {
        let narrowed = narrowed(rules)
        // What a probe has shown is true for a while, whatever fresh accounts report.
        if let narrowed, now.microseconds(since: narrowed.since) < rules.suspensionWindow { return nil }
        guard !holdsEveryone, let own = counts(at: now) else { return nil }
        if let held = suspension, narrowed == nil, own.minted > own.refusing {
            return resume(at: now).map { _ in .resumed(held, .probe) }
        }
        let total: RefusalCounts
        let workers: Int?
        switch own.refusing > 0 ? fleet.total(own, isFollowed: isFollowed, rules, at: now) : .own(own) {
        case .unknown: return nil
        case .own(let counts): (total, workers) = (counts, nil)
        case .fleet(let counts, let count): (total, workers) = (counts, count)
        }
        let reach = reach(total, rules)
        if let reach, suspension?.reach != reach {
            suspend(total, reach, workers: workers, rules, at: now)
            return suspension.map { workers == nil ? .suspendedHere($0) : .suspended($0) }
        }
        // A worker whose users do not refuse leaves the end to the workers that know better.
        if let narrowed, reach == nil, own.refusing > 0 || !fleet.isAsked(at: now) {
            return resume(at: now).map { _ in .resumed(narrowed, .probe) }
        }
        return suspension == nil ? warning(total) : nil
    }

    /// Returns the users whose events the counts require to wait; nil for none.
    private func reach(_ counts: RefusalCounts, _ rules: AdmissionRules) -> Suspension.Reach? {
        guard counts.minted >= rules.usersToSuspend else {
            // So few users prove nothing as long as one of them does not refuse.
            return counts.refusing > 0 && counts.refusing == counts.minted ? .refusingUsers : nil
        }
        let share = rules.shareToSuspend * Double(counts.minted)
        return counts.refusing >= rules.usersToSuspend && Double(counts.refusing) >= share ? .everyone : nil
    }

    private mutating func suspend(
        _ counts: RefusalCounts, _ reach: Suspension.Reach, workers: Int?, _ rules: AdmissionRules, at now: UnixTime
    ) {
        let scope = workers.map { "counted by \($0.of("worker"))" }
        suspension = Suspension(
            app: name, reach: reach, since: UnixTime(seconds: now.seconds), by: rules.worker,
            why:
                "\(counts.refusing) of \(counts.minted.of("user refuses tokens", "users refuse tokens")) of key version \(counts.keyVersion), "
                + (scope ?? "by worker \(rules.worker) of its partitions")
                + (reach == .refusingUsers ? "; only their events wait" : ""),
            users: counts.refusing, keyVersion: counts.keyVersion)
        probes = Probes(rules, at: now)
        isWarned = false
    }

    /// Returns an alert if the share of refusing users is high without a suspension, once, and later its end.
    private mutating func warning(_ counts: RefusalCounts) -> SuspensionAlarm? {
        let share = AdmissionRules.shareToWarn * Double(counts.minted)
        if !isWarned, counts.refusing > 0, Double(counts.refusing) >= share {
            isWarned = true
            return .refusing(app: name, counts)
        }
        // The alert ends at half the share, so that a share near the limit does not repeat it every second.
        guard isWarned, Double(counts.refusing) < share / 2 || counts.refusing == 0 else { return nil }
        isWarned = false
        return .accepting(app: name, counts)
    }

    // MARK: Suspensions

    /// Returns the standing of an event of `id`. As a probe, the event is chosen.
    ///
    /// - Parameters:
    ///   - latest: the time of the user's latest remembered token.
    ///   - isOfKey: whether the key that signs has signed that token.
    mutating func standing(
        of id: SubjectID, latest: UnixTime?, isOfKey: Bool, _ rules: AdmissionRules, at now: UnixTime
    ) -> Suspensions.Standing {
        guard let suspension else { return .open }
        guard suspension.cause == .suspended else { return .closed }
        let isRefuser = share?.hasRefused(id) ?? false
        if suspension.reach == .refusingUsers, !isRefuser { return .open }
        // At that age, a token that the vendor refuses has been refused.
        let ripe = min(suspension.since, now.advanced(byMicroseconds: -rules.minimumAge))
        let isEstablished = latest.map { isOfKey && $0 <= ripe } ?? false
        let rank: Probes.Rank = isRefuser ? .refuser : isEstablished ? .established : .newcomer
        return probes?.choose(id, rank, firstSeen: latest ?? now, at: now) == true ? .probe : .closed
    }

    /// Records that the vendor refuses the token of `id`, while the app is suspended.
    mutating func heardRefusal(of id: SubjectID, mintedAt: UnixTime?, _ rules: AdmissionRules, at now: UnixTime) {
        guard let suspension, suspension.cause == .suspended else { return }
        probes?.refuse(id, at: now)
        // If few users' events wait, admission's limits decide whether another user has refused.
        guard holdsEveryone || narrowed(rules) != nil || share?.hasRefused(id) == true else { return }
        if let version = suspension.keyVersion { take(version, rules, at: now) }
        share?.note(id, mintedAt: mintedAt, at: now)
    }

    /// Ends or narrows the suspension as its probes require. Most of the users who tested decide about all users. The
    /// others decide only that the key is not refused by everyone.
    mutating func judgeProbes(_ rules: AdmissionRules, at now: UnixTime) -> SuspensionAlarm? {
        let window = min(rules.probeWait, rules.suspensionWindow)
        guard let held = suspension, let verdict = probes?.verdict(at: now, window: window) else { return nil }
        guard case .divided(let accepted, let refused) = verdict else {
            return resume(at: now).map { .resumed($0, .probe) }
        }
        for id in accepted { share?.pardon(id) }
        guard held.reach == .everyone else { return nil }
        let narrowed = Suspension(
            app: name, reach: .refusingUsers, since: UnixTime(seconds: now.seconds), by: rules.worker,
            why:
                "the vendor accepts the tokens of \(accepted.count) of \((accepted.count + refused).of("user")) who tested the key; only the events of the users who refused wait",
            users: max(held.users, rules.usersToSuspend), keyVersion: held.keyVersion)
        suspension = narrowed
        probes = Probes(rules, at: now)
        return .narrowed(narrowed)
    }

    mutating func sent(probeTo id: SubjectID, at now: UnixTime) { probes?.send(to: id, at: now) }

    mutating func releaseProbes() { probes?.release() }

    mutating func giveBackProbe(of id: SubjectID) { probes?.giveBack(id) }

    /// Records that another key than the refused one signs for the app: no user has refused its tokens.
    mutating func keyChanged(to version: String, at now: UnixTime) {
        guard let old = suspension, old.cause == .suspended, old.keyVersion != version else { return }
        suspension = Suspension(
            app: name, reach: old.reach, since: old.since, by: old.by, why: old.why,
            // No probe has shown anything about the new key.
            users: old.reach == .everyone ? old.users : 0, keyVersion: version)
        probes?.hurry(at: now)
        share?.forgive(at: now)
    }

    /// Applies the fleet's suspension or pause of the app.
    ///
    /// - Returns: whether that changes the state here.
    mutating func hold(_ next: Suspension, _ rules: AdmissionRules, at now: UnixTime) -> Bool {
        let known = suspension
        guard known != next else { return false }
        suspension = next
        if next.cause == .paused {
            probes = nil
        } else if probes == nil || known?.reach != next.reach {
            probes = Probes(rules, at: now)
        }
        return known == nil || known?.cause != next.cause || known?.reach != next.reach
    }

    /// Ends the suspension.
    ///
    /// - Returns: the suspension, now over; nil if there was none.
    mutating func resume(at now: UnixTime) -> Suspension? {
        guard let ended = suspension else { return nil }
        suspension = nil
        probes = nil
        share?.forgive(at: now)
        resumptions &+= 1
        resumedAt = now
        return ended
    }
}

/// A token that counts after it is published.
struct UnpublishedToken: Sendable {
    let id: SubjectID
    let app: String
    let keyVersion: String
    /// The time of the user's previous mint; nil if none is remembered.
    let before: UnixTime?
    let at: UnixTime
    let batch: Int
}
