import Formats
import Keyring

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
