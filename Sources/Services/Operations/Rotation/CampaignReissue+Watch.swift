import AdapterKit
import Formats
import Keyring
import Pipeline
import WorkerConfiguration

/// The canary's answers, the watch, and the verdict.
extension CampaignReissue {
    /// Waits until the canary is answered, then for rejections of its tokens.
    ///
    /// - Returns: false where the campaign was paused or finished meanwhile.
    /// - Throws: `CampaignStopped` where the canary did not pass, and where refusals may be unread.
    func watch(
        _ reading: inout any CanaryOutcomes, _ rotation: Rotation, _ canary: RotationCanary
    ) async throws -> Bool {
        guard try await waitUntilAnswered(&reading, rotation, canary) else { return false }
        try await noteAnswer(&reading, rotation, canary)
        note("the canary is answered; watching it for \(DurationText.format(seconds: terms.watch.components.seconds))")
        let start = WatchStart(time: ring.now(), marks: try await topics.controlEnds())
        let end = ContinuousClock.now + terms.watch
        var line = display
        defer { line.clear() }
        while .now < end {
            guard try mayContinue(rotation) else { return false }
            try await reading.advance()
            if !reading.tally.exceeding(terms.maxRejections).isEmpty { break }
            let watched = terms.watch - (end - .now)
            line.show(
                Int(watched / .milliseconds(1)), of: Int(terms.watch / .milliseconds(1)),
                "watching \(reading.tally.size.of("canary token")): \(reading.tally.whole.refused) refused")
        }
        line.clear()
        // A refusal that was seen needs nothing more; silence needs workers that read everything.
        let isSilent = reading.tally.exceeding(terms.maxRejections).isEmpty
        let doubts = isSilent ? try await doubts(rotation, canary, since: start) : []
        let seen = reading.tally
        try await reading.readToEnd()
        guard try mayContinue(rotation) else { return false }
        try judge(reading.tally, rotation, canary)
        // Compaction may have removed since what was seen.
        try judge(seen, rotation, canary)
        try requireNewest(reading.tally, rotation, canary)
        try requireReports(reading.lost, reading.tally, rotation, canary)
        if let (app, suspended) = try await suspension(for: rotation.to, canary) {
            try fail(rotation, suspended, reading.tally.judged(canary), [app])
        }
        guard try mayContinue(rotation) else { return false }
        if !doubts.isEmpty { throw try pause(rotation, because: doubts) }
        return true
    }

    /// Notes in the campaign that the canary is answered, unless that was noted before: what arrives from now on is later than its
    /// users' tokens, whatever the clocks show, also where the canary is watched again.
    private func noteAnswer(
        _ reading: inout any CanaryOutcomes, _ rotation: Rotation, _ canary: RotationCanary
    ) async throws {
        guard canary.answered == nil, reading.tally.isAnswered else { return }
        let (outcomes, events) = (try await topics.ends(), try await topics.events().marks)
        let marks = TopicMarks(outcomes.ends.merging(events.ends) { own, _ in own })
        try campaign.step("rotate canary answered", of: rotation.id) { $1.canaryAnswered(at: marks) }
        reading.listen(behind: marks)
    }

    /// Pauses the campaign where more users refused their tokens than may.
    ///
    /// - Throws: `CampaignStopped` then.
    private func judge(_ tally: CanaryTally, _ rotation: Rotation, _ canary: RotationCanary) throws {
        let exceeding = tally.exceeding(terms.maxRejections)
        guard !exceeding.isEmpty else { return }
        let refused = tally.parts.filter { $0.refused > 0 }
        let apps = exceeding.contains { $0.app == nil } ? refused : exceeding
        try fail(
            rotation, exceeding.map { rejection($0, refused) }.joined(separator: "; "), tally.judged(canary),
            apps.compactMap(\.app))
    }

    /// Requires that the users' newest tokens are of the new version: nobody refuses what a worker with an old copy of the ring
    /// signs.
    ///
    /// - Throws: `CampaignStopped` otherwise; the campaign is paused then.
    private func requireNewest(_ tally: CanaryTally, _ rotation: Rotation, _ canary: RotationCanary) throws {
        let whole = tally.whole
        guard whole.regressed > 0 else { return }
        try fail(
            rotation,
            "\(whole.regressed) of \(whole.size.of("canary user")) got a token of another version than \(rotation.to) again, so a worker signs with an old copy of the ring; see: \(RemintCommand("status"))",
            tally.judged(canary), tally.parts.filter { $0.regressed > 0 }.compactMap(\.app))
    }

    /// Requires that no reports were deleted before they were read: another watch of the same canary would not find them either.
    ///
    /// - Throws: `CampaignStopped` otherwise; the campaign is paused then.
    private func requireReports(
        _ lost: [String], _ tally: CanaryTally, _ rotation: Rotation, _ canary: RotationCanary
    ) throws {
        guard !lost.isEmpty else { return }
        try fail(
            rotation,
            "whether the vendor refuses tokens of \(rotation.to) is unknown: a part of the reports on \(lost.joined(separator: " and ")) was deleted before it was read",
            tally.judged(canary), canary.strata.map(\.app))
    }

    /// Waits until the token topic holds the canary's tokens.
    ///
    /// - Returns: false where the campaign was paused or finished meanwhile.
    private func waitUntilAnswered(
        _ reading: inout any CanaryOutcomes, _ rotation: Rotation, _ canary: RotationCanary
    ) async throws -> Bool {
        let end = ContinuousClock.now + terms.answerWithin
        var line = display
        defer { line.clear() }
        while !reading.tally.isAnswered {
            guard try mayContinue(rotation) else { return false }
            let tally = reading.tally
            if !tally.exceeding(terms.maxRejections).isEmpty { return true }
            guard .now < end else {
                try await reading.readToEnd()
                if reading.tally.isAnswered { break }
                try await failUnanswered(reading.tally, rotation, canary)
                return false
            }
            line.show(tally.answered, of: tally.size, "\(tally.answered) of \(tally.size.of("canary token")) published")
            try await reading.advance()
        }
        return true
    }

    private func failUnanswered(
        _ tally: CanaryTally, _ rotation: Rotation, _ canary: RotationCanary
    ) async throws {
        let within = DurationText.format(seconds: terms.answerWithin.components.seconds)
        let holds = try await held(canary.strata.map(\.app))
        let reasons = tally.reasons(lag: await topics.lag)
        let parts = tally.parts.filter { $0.answered < $0.size }
        let apps = parts.map { "\($0.app ?? ""): \($0.size - $0.answered) of \($0.size)" }.joined(separator: ", ")
        // Where nobody is missing, live traffic answered more users than the campaign, or too many are gone.
        let short = parts.filter { $0.missing > 0 || $0.isDeserted }
        let missing = short.isEmpty ? parts : short
        try fail(
            rotation,
            "\(tally.size - tally.answered) of \(tally.size.of("canary user")) got no token of \(rotation.to) from their event within \(within)\(apps.isEmpty ? "" : " (\(apps))"): \(reasons)\(holds)",
            tally.judged(canary), missing.compactMap(\.app))
    }

    /// Pauses the campaign.
    ///
    /// - Parameter apps: the apps that did not pass.
    /// - Throws: `CampaignStopped`, always.
    private func fail(
        _ rotation: Rotation, _ reason: String, _ judged: [RotationStratum], _ apps: [String]
    ) throws {
        try campaign.step("rotate pause", detail: reason, of: rotation.id) {
            try $1.canaryFailed(because: reason, judged, failed: apps)
        }
        throw CampaignStopped(
            "\(reason). The campaign is paused. Go back with: \(RemintCommand("rotate abort")). Or fix it, then: \(RemintCommand("rotate resume")), and \(RemintCommand("rotate reissue")), which asks for a canary of other users (--answer-within, --max-rejections)"
        )
    }

    /// Returns the reason to pause because of the users of `part`.
    ///
    /// - Parameter others: every app with a refused user, for a limit that all apps exceed together.
    private func rejection(_ part: CanaryTally.Part, _ others: [CanaryTally.Part]) -> String {
        let (refused, size) = (part.refused, part.size)
        let share =
            switch terms.maxRejections {
            case .count(let count): "more than the \(count) of --max-rejections"
            case .share(let share):
                "at least \(Self.percent(ConfidenceBound.lower(refused, of: size))) of all users would be, at 95 % confidence; --max-rejections is \(Self.percent(share))"
            }
        let apps = others.map { "\($0.app ?? ""): \($0.refused) of \($0.size)" }.joined(separator: ", ")
        var facts: [String] = []
        if part.rejections > 0 { facts.append("the vendor rejected \(part.rejections) of \(size.of("canary token"))") }
        if part.askedAgain > 0 {
            facts.append("\(part.askedAgain) of \(size.of("canary user")) asked for another token\(part.unheardFact)")
        }
        let fact = facts.joined(separator: " and ")
        if let app = part.app { return "the app \(app): \(fact): \(share)" }
        return "\(fact)\(apps.isEmpty ? "" : " (\(apps))"): \(share)"
    }

    private static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1000).rounded(.down))
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// Returns an app of the ring, or of `canary`, that is suspended for tokens of `version`, and the reason; nil where
    /// none is. Where only users who refused wait, that concludes nothing about the others: those in the canary are
    /// counted by their refusals.
    private func suspension(
        for version: String, _ canary: RotationCanary
    ) async throws -> (app: String, reason: String)? {
        let holds = try await holds(of: canary.strata.map(\.app), at: ring.now(), since: nil)
        for (name, suspension) in holds.apps.sorted(by: { $0.key < $1.key })
        where suspension.cause == .suspended && suspension.reach == .everyone {
            guard suspension.keyVersion.map({ $0.hasSameBytes(as: version) }) ?? true else { continue }
            let users = suspension.users
            return (
                name,
                "the app \(name) is suspended: \(users.of("user's token", "users' tokens")) of \(version) \(users == 1 ? "was" : "were") rejected by the vendor"
            )
        }
        return nil
    }
}

extension CanaryTally {
    /// Returns the strata of `canary` with the outcomes of their users.
    func judged(_ canary: RotationCanary) -> [RotationStratum] {
        let parts = Dictionary(parts.map { ($0.app, $0) }) { first, _ in first }
        return canary.strata.map { stratum in
            var stratum = stratum
            if let part = parts[stratum.app] {
                stratum.outcome = RotationStratum.Outcome(part)
            }
            return stratum
        }
    }
}

extension CanaryTally.Part {
    /// The requests that no worker answered, as a part of a sentence; empty where there are none.
    fileprivate var unheardFact: String {
        guard unheard > 0 else { return "" }
        return
            " (\(unheard) of them in reports that workers took for earlier than the tokens: a clock of who reports may be behind)"
    }
}

extension RotationStratum.Outcome {
    /// The outcomes of the users of `part`.
    init(_ part: CanaryTally.Part) {
        self.init(
            answered: part.answered, superseded: part.superseded, rejected: part.rejections,
            askedAgain: part.askedAgain, gone: part.gone)
    }
}

/// The obstacles to reading a canary's refusals and the answers to events: apps and lanes that are held, and events that
/// no worker has taken.
extension CampaignReissue {
    struct WatchStart {
        let time: UnixTime
        let marks: TopicMarks
    }

    /// Returns the reasons why silence since `start` proves nothing; none where workers have read whatever devices
    /// reported until now. Waits until they have.
    func doubts(
        _ rotation: Rotation, _ canary: RotationCanary, since start: WatchStart
    ) async throws -> [String] {
        let events = try await topics.liveEvents()
        var line = display
        defer { line.clear() }
        let left = try await lowest(rotation) {
            let left = try await topics.unanswered(events)
            if left > 0 {
                line.show(
                    0, of: left,
                    "\(left.of("event of the live lane waits", "events of the live lane wait")) for a worker")
            }
            return left
        }
        var doubts: [String] = []
        if let left, left > 0 {
            doubts.append("\(left.of("event of the live lane is", "events of the live lane are")) unread")
        }
        if !events.unseen.isEmpty {
            doubts.append("brokers do not show \(events.unseen.joined(separator: ", ")) to this account")
        }
        var holds = try await holds(of: canary.strata.map(\.app), at: start.time, since: start.marks)
        // Where only users who refused wait, everybody else is heard, and they are counted by their refusals.
        holds.apps = holds.apps.filter { $0.value.reach == .everyone }
        return doubts
            + names(of: holds).map { "\($0.name) was \($0.state) during the watch" }
    }

    /// Pauses the campaign because refusals may be unread. Its canary stays, and is watched again.
    ///
    /// - Returns: the error that names the way on.
    func pause(_ rotation: Rotation, because doubts: [String]) throws -> CampaignStopped {
        let reason =
            "whether the vendor refuses tokens of \(rotation.to) is unknown: \(doubts.joined(separator: "; "))"
        try campaign.step("rotate pause", detail: reason, of: rotation.id) { try $1.pause(because: reason) }
        return CampaignStopped(
            "\(reason). The campaign is paused. Go back with: \(RemintCommand("rotate abort")). Or see that the workers run (\(RemintCommand("status"))) and that no app or lane is held (\(RemintCommand("apps")), \(RemintCommand("lanes"))), then: \(RemintCommand("rotate resume")), and \(RemintCommand("rotate reissue")), which watches the same canary again"
        )
    }

    /// Returns the ring's apps, those called `names`, and the lanes whose events wait, as the end of a sentence.
    func held(_ names: [String] = []) async throws -> String {
        let holds = try await holds(of: names, at: ring.now(), since: nil)
        let parts = self.names(of: holds).map { "\($0.name) is \($0.state)" }
        return parts.isEmpty ? "" : "; \(parts.joined(separator: ", "))"
    }

    private func names(of holds: ControlHolds) -> [(name: String, state: String)] {
        holds.apps.sorted { $0.key < $1.key }.map { ("the app \($0.key)", $0.value.cause.rawValue) }
            + Lane.allCases.filter { holds.lanes[$0] != nil }.map { ("the lane \($0.rawValue)", "paused") }
    }

    /// Returns the holds of the ring's apps, of those called `names`, and of lanes.
    func holds(of names: [String], at now: UnixTime, since marks: TopicMarks?) async throws -> ControlHolds {
        let names = Set(ring.apps.map(\.name) + names)
        var holds = try await topics.holds(at: now, since: marks)
        holds.apps = holds.apps.filter { names.contains($0.key) }
        return holds
    }
}

/// Reading of the ledger, again and again, until it shows the expected end.
extension CampaignReissue {
    /// Reads the ledger until it shows nobody who can be asked for, or until nothing has changed for too long.
    ///
    /// - Parameter events: the events that were on the workers' topics when the version was revoked; nil where none
    ///   matter.
    /// - Returns: the tokens that the ledger shows; nil where the campaign was paused meanwhile.
    /// - Throws: `CampaignStopped` where the ledger shows nobody, and some of those events have no outcome yet.
    func settle(_ rotation: Rotation, behind events: EventsBefore?) async throws -> CampaignHoldings? {
        var line = display
        defer { line.clear() }
        let maxWait = try await waitForLane(rotation, &line) ? terms.answerWithin : .zero
        guard let holdings = try await read(rotation, for: maxWait, &line) else { return nil }
        guard let events, holdings.waiting == 0, holdings.hidden == nil else { return holdings }
        try await wait(for: events, holdings, rotation, &line)
        // A worker that stood still may have answered one of the events with the old version.
        return try await read(rotation, for: .zero, &line)
    }

    private func read(
        _ rotation: Rotation, for maxWait: Duration, _ line: inout any ProgressDisplay
    ) async throws -> CampaignHoldings? {
        let versions = try versions(of: rotation)
        var last: Int?
        var askedAt: Int?
        var deadline = ContinuousClock.now + maxWait
        // Where only holders behind an open transaction are left, the transaction may take as long as an answer.
        let hiddenDeadline = ContinuousClock.now + terms.answerWithin
        while true {
            guard try mayContinue(rotation) else { return nil }
            let start = ContinuousClock.now
            let holdings = try await topics.holdings(of: versions, in: ring, at: ring.now())
            if holdings.waiting == 0 {
                guard let hidden = holdings.hidden, .now < hiddenDeadline else { return holdings }
                line.show(0, of: hidden.count, hidden.fact)
                try await rest(.milliseconds(500), rotation)
                continue
            }
            if last == holdings.waiting, askedAt != last {
                // Where only users are left that the vendor does not know any more, waiting is in vain.
                askedAt = last
                if try await gone(rotation).count >= holdings.waiting { return holdings }
            }
            if let last, holdings.waiting < last { deadline = .now + terms.answerWithin }
            last = min(last ?? .max, holdings.waiting)
            guard .now < deadline else { return holdings }
            line.show(
                0, of: holdings.waiting,
                "\(holdings.waiting.of("user holds", "users hold")) a token of \(holdings.names)")
            // A large topic is not read all the time.
            let spent = ContinuousClock.now - start
            let rest = max(Duration.milliseconds(500), min(.seconds(60), spent * 2))
            try await self.rest(min(rest, max(.milliseconds(1), deadline - ContinuousClock.now)), rotation)
        }
    }

    /// Waits for `duration`, or until the campaign may not go on.
    func rest(_ duration: Duration, _ rotation: Rotation) async throws {
        _ = try await WatchedRest.until(.now + duration) { try mayContinue(rotation) }
    }

    /// Waits as long as workers make progress on the bulk lane. Only the ledger shows the users left, and reading a
    /// topic of millions takes long; before the lane is empty, reading it would be in vain.
    ///
    /// - Returns: whether the workers reached the lane's end, or whether that is unknown.
    private func waitForLane(_ rotation: Rotation, _ line: inout any ProgressDisplay) async throws -> Bool {
        let left = try await lowest(rotation) {
            let lag = await topics.lag
            if let lag, lag > 0 {
                line.show(
                    0, of: lag,
                    lag.of("event of the bulk lane waits for a worker", "events of the bulk lane wait for a worker"))
            }
            return lag
        }
        return left.map { $0 == 0 } ?? true
    }

    private func wait(
        for events: EventsBefore, _ holdings: CampaignHoldings, _ rotation: Rotation, _ line: inout any ProgressDisplay
    ) async throws {
        guard events.unseen.isEmpty else {
            let names = events.unseen.joined(separator: ", ")
            throw CampaignStopped(
                "\(holdings.left), but whether events from before the revocation wait is unknown, for brokers do not show \(names): create it (\(RemintCommand("topics create"))) or allow this account DESCRIBE and READ on it, then: \(RemintCommand("rotate reissue"))"
            )
        }
        let left = try await lowest(rotation) {
            let count = try await topics.unanswered(events)
            if count > 0 { line.show(0, of: count, Self.before(count) + " no outcome yet") }
            return count
        }
        guard let left, left > 0, try mayContinue(rotation) else { return }
        let subject = Self.before(left)
        throw CampaignStopped(
            "\(holdings.left), but \(subject) no outcome yet, or lie behind an open transaction: a worker that took one and stands still may answer it with \(rotation.from); see that the workers run (\(RemintCommand("status"))), then: \(RemintCommand("rotate reissue"))"
        )
    }

    private static func before(_ count: Int) -> String {
        count.of("event from before the revocation has", "events from before the revocation have")
    }

    /// Asks for a count until it is 0 or unknown, until it stops falling for too long, or until the campaign may not go on.
    ///
    /// - Returns: the last count; nil where it is unknown.
    func lowest(_ rotation: Rotation, _ count: () async throws -> Int?) async throws -> Int? {
        var least = Int.max
        let start = ContinuousClock.now
        var deadline = start
        while true {
            guard let now = try await count() else { return nil }
            guard now > 0, try mayContinue(rotation) else { return now }
            if now < least {
                least = now
                deadline = .now + terms.answerWithin
            }
            guard .now < deadline else { return now }
            // The end may be noticed late by a twentieth of the whole wait. So a short wait stays short, and brokers
            // are not asked all the time.
            let rest = min(.seconds(1), max(.milliseconds(50), (ContinuousClock.now - start) / 20))
            try await self.rest(min(rest, max(.milliseconds(1), deadline - ContinuousClock.now)), rotation)
        }
    }
}
