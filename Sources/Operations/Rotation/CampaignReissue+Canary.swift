import AdapterKit
import Keyring
import Pipeline
import WorkerConfiguration

/// The canary: sent, answered, watched, judged.
extension CampaignReissue {
    /// Brings the campaign past its canary.
    ///
    /// - Returns: whether it passed, or none is wanted; false where the campaign was paused or ended meanwhile.
    /// - Throws: `CampaignStopped` where it did not pass, and where an earlier one did not and nobody is left for another one; the
    ///   campaign is paused then.
    func passCanary(_ rotation: Rotation, _ progress: inout ReissueProgress, _ total: Int) async throws -> Bool {
        let files = campaign.files(of: rotation)
        guard let canary = try await canary(rotation, progress, total) else {
            return try goOnWithoutCanary(rotation)
        }
        let end = canary.firstRow + canary.count
        guard try await run(job(rotation, files, total, limit: end), &progress, files) != .paused else { return false }
        note("\(canary.count) canary events sent; waiting until each user's token of \(rotation.to) is published")
        let tally = try tally(of: canary, rotation, progress, files)
        var reading = try topics.outcomes(tally, from: canary.marks, now: ring.now)
        do {
            let hasPassed = try await watch(&reading, rotation)
            await reading.close()
            guard hasPassed else { return false }
        } catch {
            await reading.close()
            throw error
        }
        let tallied = reading.tally
        let detail =
            "\(tallied.answered) of \(tallied.size) answered, \(tallied.superseded) superseded, \(tallied.rejections) rejected"
        note("the canary passed: \(detail)")
        try campaign.step("rotate canary passed", detail: detail, of: rotation.id) { $1.canaryPassed() }
        return true
    }

    /// Lets everyone be asked for at once where the operator wants no canary, or where there is nobody to make one of.
    ///
    /// - Throws: `CampaignStopped` where no canary passed: that everybody was in one proves nothing.
    private func goOnWithoutCanary(_ rotation: Rotation) throws -> Bool {
        let failed = rotation.canaryCount
        let detail: String
        switch (terms.canary > 0, failed > 0) {
        case (true, true):
            let reason = "no canary passed, and no user is left who was in none"
            try campaign.step("rotate pause", detail: reason, of: rotation.id) { try $1.canaryFailed(because: reason) }
            throw CampaignStopped(
                "\(reason). The campaign is paused. Go back with: remint rotate abort. Or accept the risk for everyone: remint rotate resume, then remint rotate reissue --canary 0"
            )
        case (true, false): detail = "no user is left for a canary"
        case (false, true): detail = "no canary (--canary 0), although \(failed) did not pass"
        case (false, false): detail = "no canary (--canary 0)"
        }
        note(detail)
        try campaign.step("rotate canary", detail: detail, of: rotation.id) { $1.canaryPassed() }
        return true
    }

    /// The canary at hand, or the next one; nil where none is wanted or nobody is left.
    private func canary(
        _ rotation: Rotation, _ progress: ReissueProgress, _ total: Int
    ) async throws -> RotationCanary? {
        if let canary = rotation.canary { return canary }
        guard terms.canary > 0 else { return nil }
        let eligible = min(progress.eligible ?? total, total)
        let share = Int((Double(eligible) * terms.canary / 100).rounded(.up))
        let wanted = max(1, share, terms.canaryUsers)
        let count = min(wanted, eligible - progress.rows)
        guard count > 0 else { return nil }
        // Noted before the first event: whatever comes of it lies behind.
        let canary = RotationCanary(firstRow: progress.rows, count: count, marks: try await topics.ends())
        try campaign.step(
            "rotate canary", detail: "\(count) users behind row \(progress.rows)", of: rotation.id
        ) { $1.began(canary) }
        return canary
    }

    private func tally(
        of canary: RotationCanary, _ rotation: Rotation, _ progress: ReissueProgress, _ files: ReissueFiles
    ) throws -> CanaryTally {
        let input = try LedgerInput(path: files.subjects, ring.configuration)
        var subjects: [[UInt8]?] = []
        var row = 0
        while row < canary.firstRow + canary.count, let items = try input.next() {
            for item in items {
                row += 1
                guard row > canary.firstRow, row <= canary.firstRow + canary.count else { continue }
                subjects.append(key(of: item))
            }
        }
        return CanaryTally(
            of: rotation.to, ring: ring.ring.name, job: progress.job, firstRow: canary.firstRow, subjects: subjects)
    }

    /// The subject key of an item that is sent; nil for one that is not.
    private func key(of item: ReissueJob.Item) -> [UInt8]? {
        guard let app = item.app, case .success(let user) = item.row.user else { return nil }
        return try? ReissueEvent(user: user, app: app.name, adapter: app.adapter, id: "", at: ring.now()).key
    }

    // MARK: Answered, watched, judged

    /// Waits until the canary is answered, then for rejections of its tokens.
    ///
    /// - Returns: false where the campaign was paused or ended meanwhile.
    private func watch(_ reading: inout any CanaryOutcomes, _ rotation: Rotation) async throws -> Bool {
        guard try await waitUntilAnswered(&reading, rotation) else { return false }
        note("the canary is answered; watching it for \(DurationText.format(seconds: terms.watch.components.seconds))")
        let end = ContinuousClock.now + terms.watch
        var line = display
        defer { line.clear() }
        while .now < end {
            guard try mayGoOn(rotation) else { return false }
            try await reading.advance()
            if terms.maxRejections.isExceeded(by: reading.tally.rejections, of: reading.tally.size) { break }
            let watched = terms.watch - (end - .now)
            line.show(
                Int(watched / .milliseconds(1)), of: Int(terms.watch / .milliseconds(1)),
                "watching \(reading.tally.size) canary tokens: \(reading.tally.rejections) rejected")
        }
        line.clear()
        try await reading.readToEnd()
        let (rejected, size) = (reading.tally.rejections, reading.tally.size)
        if terms.maxRejections.isExceeded(by: rejected, of: size) {
            try fail(rotation, Self.rejection(rejected, of: size, terms.maxRejections))
        }
        if let suspended = try await suspension(for: rotation.to) { try fail(rotation, suspended) }
        return try mayGoOn(rotation)
    }

    /// Waits until the token topic holds the canary's tokens.
    ///
    /// - Returns: false where the campaign was paused or ended meanwhile.
    private func waitUntilAnswered(_ reading: inout any CanaryOutcomes, _ rotation: Rotation) async throws -> Bool {
        let end = ContinuousClock.now + terms.answerWithin
        var line = display
        defer { line.clear() }
        while !reading.tally.isAnswered {
            guard try mayGoOn(rotation) else { return false }
            let tally = reading.tally
            if terms.maxRejections.isExceeded(by: tally.rejections, of: tally.size) { return true }
            guard .now < end else {
                try await reading.readToEnd()
                if reading.tally.isAnswered { break }
                try await failUnanswered(reading.tally, rotation)
                return false
            }
            line.show(tally.answered, of: tally.size, "\(tally.answered) of \(tally.size) canary tokens published")
            try await reading.advance()
        }
        return true
    }

    private func failUnanswered(_ tally: CanaryTally, _ rotation: Rotation) async throws {
        let missing = tally.size - tally.answered
        let within = DurationText.format(seconds: terms.answerWithin.components.seconds)
        let holds = try await heldApps()
        let reasons = tally.reasons(lag: await topics.lag)
        try fail(
            rotation,
            "\(missing) of \(tally.size) canary users got no token of \(rotation.to) from their event within \(within): \(reasons)\(holds)"
        )
    }

    /// Pauses the campaign.
    ///
    /// - Throws: `CampaignStopped`, always.
    private func fail(_ rotation: Rotation, _ reason: String) throws {
        try campaign.step("rotate pause", detail: reason, of: rotation.id) { try $1.canaryFailed(because: reason) }
        throw CampaignStopped(
            "\(reason). The campaign is paused. Go back with: remint rotate abort. Or fix it, then: remint rotate resume, and remint rotate reissue, which asks for a canary of other users (--answer-within, --max-rejections)"
        )
    }

    private static func rejection(_ rejected: Int, of size: Int, _ limit: RejectionLimit) -> String {
        let share =
            switch limit {
            case .count(let count): "more than the \(count) of --max-rejections"
            case .share(let share):
                "at least \(percent(ConfidenceBound.lower(rejected, of: size))) of all users would be, at 95 % confidence; --max-rejections is \(percent(share))"
            }
        return "the vendor rejected \(rejected) of \(size) canary tokens: \(share)"
    }

    private static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1000).rounded(.down))
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// Why an app of the ring is suspended for tokens of `version`; nil where none is.
    private func suspension(for version: String) async throws -> String? {
        for (name, suspension) in try await holds() where suspension.cause == .suspended {
            guard suspension.keyVersion.map({ $0.hasSameBytes(as: version) }) ?? true else { continue }
            return
                "the app \(name) is suspended: \(suspension.users) users' tokens of \(version) were rejected by the vendor"
        }
        return nil
    }

    /// The ring's apps whose events wait, as the end of a sentence.
    func heldApps() async throws -> String {
        let held = try await holds().map { "\($0.key) is \($0.value.cause.rawValue)" }
        return held.isEmpty ? "" : "; the app \(held.sorted().joined(separator: ", the app "))"
    }

    private func holds() async throws -> [String: Suspension] {
        let names = Set(ring.apps.map(\.name))
        return try await topics.suspensions(at: ring.now()).filter { names.contains($0.key) }
    }
}
