import AdapterKit
import Keyring
import Pipeline
import WorkerConfiguration

/// The canary: choosing, sending and judging it.
extension CampaignReissue {
    /// Brings the campaign past its canary.
    ///
    /// - Parameter held: the tokens held when the list was made; nil where an earlier run made it.
    /// - Returns: true where the canary passed, or none is wanted; false where the campaign was paused or finished
    ///   meanwhile.
    /// - Throws: `CampaignStopped` where the canary did not pass, where none can be made that would notice a refusal,
    ///   and where an earlier one did not pass and nobody is left for another one. The campaign is paused then.
    func passCanary(
        _ rotation: Rotation, _ progress: inout ReissueProgress, _ total: Int, _ held: HeldTokens?
    ) async throws -> Bool {
        let files = campaign.files(of: rotation)
        guard let canary = try await canary(rotation, progress, files, held) else {
            return try goOnWithoutCanary(rotation, progress)
        }
        let end = canary.firstRow + canary.count
        guard try await run(job(rotation, files, total, limit: end), &progress, files) != .paused else { return false }
        note("\(canary.count.of("canary event")) sent; waiting until each user's token of \(rotation.to) is published")
        let tally = try tally(of: canary, rotation, progress, files)
        var reading = try topics.outcomes(tally, from: canary.marks, now: ring.now)
        do {
            let hasPassed = try await watch(&reading, rotation, canary)
            await reading.close()
            guard hasPassed else { return false }
        } catch {
            await reading.close()
            throw error
        }
        let judged = reading.tally.judged(canary)
        let left = rotation.failedApps.filter { app in !judged.contains { $0.app.hasSameBytes(as: app) } }
        if !left.isEmpty {
            let reason =
                "no canary of the app \(left.joined(separator: " and ")) passed, and no user is left who was in none, although the canary of the other apps passed"
            throw try stop(rotation, reason, judged)
        }
        let whole = reading.tally.whole
        let detail =
            ([
                "\(whole.answered) of \(whole.size) answered, \(whole.superseded) superseded, \(whole.rejections) rejected"
            ]
            + judged.map(\.description)).joined(separator: "; ")
        note("the canary passed: \(detail)")
        try campaign.step("rotate canary passed", detail: detail, of: rotation.id) { $1.canaryPassed(judged) }
        return true
    }

    /// Continues with everyone at once where the operator wants no canary, or where nobody is left for one.
    ///
    /// - Throws: `CampaignStopped` where no canary passed: a canary of everybody proves nothing.
    private func goOnWithoutCanary(_ rotation: Rotation, _ progress: ReissueProgress) throws -> Bool {
        let failed = rotation.canaryCount
        let detail: String
        switch (terms.canary > 0, failed > 0 || progress.rows > 0) {
        case (true, true):
            throw try stop(rotation, "no canary passed, and no user is left who was in none", [])
        case (true, false): detail = "no user is left for a canary"
        case (false, true): detail = "no canary (--canary 0), although \(failed) did not pass"
        case (false, false): detail = "no canary (--canary 0)"
        }
        note(detail)
        try campaign.step("rotate canary", detail: detail, of: rotation.id) { $1.canaryPassed() }
        return true
    }

    /// Pauses the campaign where another canary cannot help.
    ///
    /// - Returns: the error that names the way on.
    private func stop(
        _ rotation: Rotation, _ reason: String, _ judged: [RotationStratum]
    ) throws -> CampaignStopped {
        try campaign.step("rotate pause", detail: reason, of: rotation.id) {
            try $1.canaryFailed(because: reason, judged)
        }
        return CampaignStopped(
            "\(reason). The campaign is paused. Go back with: \(RemintCommand("rotate abort")). Or accept the risk for everyone: \(RemintCommand("rotate resume")), then \(RemintCommand("rotate reissue", "--canary", "0"))"
        )
    }

    // MARK: Made

    /// Users of an app among whom a canary's are chosen.
    private struct Source {
        /// The users who can be asked for, also those of earlier canaries.
        var total = 0
        /// The users who hold a token and were in no canary.
        var candidates: [CanaryChoice.Candidate] = []
    }

    /// Returns the present canary, or the next one; nil where none is wanted or nobody is left.
    ///
    /// - Throws: `CampaignStopped` where an app's users hold no live token; the campaign is paused then.
    private func canary(
        _ rotation: Rotation, _ progress: ReissueProgress, _ files: ReissueFiles, _ held: HeldTokens?
    ) async throws -> RotationCanary? {
        if let canary = rotation.canary { return canary }
        guard terms.canary > 0 else { return nil }
        let now: HeldTokens
        if let held { now = held } else { now = try await self.held(rotation) }
        let list = CampaignList(files, ring.configuration)
        // Rows whose events were sent, or may have been, keep their place.
        let fixed = max(progress.rows, progress.sendingRows)
        let sources = try sources(in: list, behind: fixed, now, salt: progress.job)
        guard !sources.isEmpty else { return nil }
        let time = ring.now().seconds
        let choices = sources.sorted { $0.key < $1.key }.map { app, source in
            let wanted = CanaryChoice.wanted(of: source.total, percent: terms.canary, least: terms.canaryUsers)
            return (app: app, choice: CanaryChoice(among: source.candidates, wanted: wanted, at: time))
        }
        let deaf = sources.filter { app, _ in choices.contains { $0.app == app && $0.choice.live == 0 } }
        if !deaf.isEmpty { throw try stop(rotation, deaf.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }) }
        try list.move(choices.flatMap(\.choice.rows), behind: fixed, on: ring.directory.disk)
        let strata = choices.map { app, choice in
            RotationStratum(app: app, users: choice.rows.count, live: choice.live)
        }
        let count = fixed - progress.rows + strata.reduce(0) { $0 + $1.users }
        let canary = RotationCanary(firstRow: progress.rows, count: count, marks: now.marks, strata: strata)
        let detail = strata.map(\.description).joined(separator: "; ")
        note("the canary is made: \(detail)")
        try campaign.step(
            "rotate canary", detail: "\(count) users behind row \(progress.rows): \(detail)", of: rotation.id
        ) { $1.began(canary) }
        return canary
    }

    /// Returns the users of each app who hold a token and were in no canary.
    private func sources(
        in list: CampaignList, behind fixed: Int, _ held: HeldTokens, salt: String
    ) throws -> [String: Source] {
        var places: [SubjectHash: Int] = [:]
        for (place, holder) in held.holders.enumerated() { places[SubjectHash(holder.key)] = place }
        var sources: [String: Source] = [:]
        try list.each { member in
            sources[member.app.name, default: Source()].total += 1
            guard member.row > fixed, let place = places[SubjectHash(member.key)] else { return }
            sources[member.app.name]?.candidates.append(
                CanaryChoice.Candidate(row: member.row, held.holders[place], salt: salt))
        }
        return sources.filter { !$0.value.candidates.isEmpty }
    }

    /// Pauses the campaign where the users of an app hold expired tokens alone: their devices may never come back to
    /// report a refusal.
    ///
    /// - Returns: the error that names the way on.
    private func stop(_ rotation: Rotation, _ deaf: [(app: String, source: Source)]) throws -> CampaignStopped {
        let apps = deaf.map { "\($0.source.candidates.count) of the app \($0.app)" }.joined(separator: ", ")
        let reason =
            "no user left for a canary holds a live token (\(apps), whose tokens ended by this machine's clock), so silence would prove nothing"
        try campaign.step("rotate pause", detail: reason, of: rotation.id) { try $1.pause(because: reason) }
        let last = deaf.flatMap { $0.source.candidates.map(\.expiresAt) }.max() ?? 0
        let end = UnixTime(seconds: last).advanced(bySeconds: ClockTolerance.standard.seconds + 1)
        return CampaignStopped(
            "\(reason). The campaign is paused. From \(end) on these tokens no longer count: \(RemintCommand("rotate resume")), and \(RemintCommand("rotate reissue")). Or accept the risk for everyone: \(RemintCommand("rotate resume")), then \(RemintCommand("rotate reissue", "--canary", "0"))"
        )
    }

    private func tally(
        of canary: RotationCanary, _ rotation: Rotation, _ progress: ReissueProgress, _ files: ReissueFiles
    ) throws -> CanaryTally {
        let rows = canary.firstRow + 1...canary.firstRow + canary.count
        var subjects = [[UInt8]?](repeating: nil, count: canary.count)
        var rings: [String: String] = [:]
        try CampaignList(files, ring.configuration).each { member in
            guard rows.contains(member.row) else { return }
            subjects[member.row - rows.lowerBound] = member.key
            rings[member.app.name] = member.app.key
        }
        return CanaryTally(
            of: rotation.to, ring: ring.ring.name, job: progress.job, firstRow: canary.firstRow, subjects: subjects,
            rings: canary.strata.isEmpty ? [:] : rings)
    }
}
