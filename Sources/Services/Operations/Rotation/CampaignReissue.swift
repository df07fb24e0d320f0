import AdapterKit
import Formats
import Kafka
package import Keyring
package import Logging
import Pipeline
import WorkerConfiguration

/// Re-issues a campaign's tokens: canary, watch, waves, and the ledger read again.
package struct CampaignReissue {
    /// The outcome of a re-issue run.
    package enum Result: Sendable {
        /// The ledger shows no user who can still be asked for.
        case reissued(Report)
        /// The campaign was paused, or finished, meanwhile.
        case paused
    }

    /// The figures of a round.
    package struct Report: Sendable {
        /// Events that this run sent.
        package let sent: Int
        /// Events that earlier runs of the round had sent.
        package let sentBefore: Int
        /// Subjects that cannot be asked for.
        package let rejected: Int
        /// The old version's tokens in the ledger, and with a revocation those of all revoked versions.
        package let holdings: CampaignHoldings
    }

    let campaign: Campaign
    let terms: CampaignTerms
    let topics: any CampaignTopics
    let display: any ProgressDisplay
    /// Called with a line at each stage.
    let note: (String) -> Void
    var ring: RingInUse { campaign.ring }

    /// The re-issue of `campaign` by `terms`, which shows on `display` how far it is.
    ///
    /// - Parameter note: shows a line at each stage.
    package init(
        campaign: Campaign, terms: CampaignTerms, brokers: String, logger: Logger, display: any ProgressDisplay,
        note: @escaping (String) -> Void
    ) {
        self.init(
            campaign: campaign, terms: terms,
            topics: KafkaCampaignTopics(
                campaign.ring.configuration, brokers: brokers, maxWait: terms.answerWithin,
                remembers: (try? campaign.load().kind) == .rotation, logger: logger, display: display),
            display: display, note: note)
    }

    /// The re-issue of `campaign` by `terms` over `topics`.
    package init(
        campaign: Campaign, terms: CampaignTerms, topics: any CampaignTopics, display: any ProgressDisplay,
        note: @escaping (String) -> Void
    ) {
        self.campaign = campaign
        self.terms = terms
        self.topics = topics
        self.display = display
        self.note = note
    }

    /// Runs the re-issue.
    ///
    /// - Throws: `RotationError`, `CampaignStopped`, or the error that keeps events from being delivered.
    package func run() async throws -> Result {
        do {
            let result = try await reissue()
            await topics.close()
            return result
        } catch {
            await topics.close()
            throw error
        }
    }

    private func reissue() async throws -> Result {
        let lock = try await lock()
        defer {
            campaign.removeOldListsLocked()
            withExtendedLifetime(lock) {}
        }
        var rotation = try campaign.step("rotate reissue") { editor, rotation in
            rotation = try rotation.derived(from: editor.listing)
            try rotation.reissuing(isCautious: terms.canary > 0)
        }
        try await waitForWorkers(rotation)
        // Workers that make progress know the revocation by now; a worker that stands still may hold an event from
        // before.
        let before = rotation.kind == .revocation ? try await topics.events() : nil
        if rotation.start == nil {
            let marks = try await topics.ends()
            rotation = try campaign.step("rotate start", of: rotation.id) { $1.began(at: marks) }
        }
        let files = campaign.files(of: rotation)
        var (progress, held) = try await begin(rotation, files)
        let sentBefore = progress.sent
        let total = try CampaignList(files, ring.configuration).count()
        progress.total = total
        if rotation.kind == .rotation {
            guard try await passCanary(rotation, &progress, total, held) else { return .paused }
        }
        held = nil
        let sentFirst = progress.sent
        guard try await run(job(rotation, files, total), &progress, files) != .paused else { return .paused }
        let rest = progress.sent - sentFirst
        if rest > 0 { note("\(rest.of("event")) sent; waiting until \(rest == 1 ? "it is" : "they are") answered") }
        guard let holdings = try await settle(rotation, behind: before) else { return .paused }
        progress.isSettled = true
        try files.save(progress)
        let report = Report(
            sent: progress.sent - sentBefore, sentBefore: sentBefore, rejected: progress.rejected, holdings: holdings)
        try await finish(rotation, report)
        return .reissued(report)
    }

    /// Marks the campaign as re-issued if no user is left who can be asked for and is known to the vendor.
    ///
    /// - Throws: `CampaignStopped` where somebody is left or open transactions hide a part of the ledger; with a
    ///   revocation also where any live token or unreadable record is left.
    private func finish(_ rotation: Rotation, _ report: Report) async throws {
        let holdings = report.holdings
        let gone = holdings.waiting > 0 ? try await gone(rotation) : GoneUsers()
        guard holdings.waiting <= gone.count else {
            let remedy = holdings.hidden.map { "; \($0.remedy)" } ?? ""
            let fates = ([try await fates(rotation) + remedy] + [gone.fact].filter { !$0.isEmpty })
                .joined(separator: "; ")
            throw CampaignStopped(
                "\(holdings.left) (\(holdings.reasons)): \(fates); fix that, then ask for them again with: \(RemintCommand("rotate reissue"))"
            )
        }
        if let hidden = holdings.hidden {
            throw CampaignStopped(
                "\(holdings.left), but \(hidden); then: \(RemintCommand("rotate reissue"))"
            )
        }
        try campaign.step("rotate reissued", detail: (report.sent + report.sentBefore).of("event"), of: rotation.id) {
            $1.reissued()
        }
        if gone.count > 0 { note(gone.fact) }
        guard rotation.kind == .revocation, holdings.live > 0 || holdings.unreadable > 0 else { return }
        let end = holdings.last.end(at: ring.now())
        throw CampaignStopped(
            "\(holdings.left), and revoked (\(holdings.reasons))\(gone.count > 0 ? "; \(gone.fact)" : ""); the last one \(end.isEmpty ? "ends at an unknown time" : end); see: \(RemintCommand("rotate status"))"
        )
    }

    /// Returns the error for a re-issue of `rotation` that stopped early: an operator paused or finished the campaign,
    /// or another campaign took over. It names the tokens left in the ledger and the next command.
    package func stop(of rotation: Rotation) async throws -> CampaignStopped {
        let now = try campaign.load()
        let end: String
        if now.id != rotation.id {
            end =
                "the campaign \(now.id) from \(now.from) to \(now.to) took over; go on with: \(RemintCommand("rotate reissue"))"
        } else if now.phase.isOver {
            end = "the campaign is \(now.phase.rawValue); see: \(RemintCommand("rotate status"))"
        } else if let pause = now.pause {
            end =
                "it was paused: \(pause); go on with: \(RemintCommand("rotate resume")), then: \(RemintCommand("rotate reissue"))"
        } else {
            end = "go on with: \(RemintCommand("rotate reissue"))"
        }
        return CampaignStopped("stopped before the end, \(await left(by: rotation)): \(end)")
    }

    /// Returns the sentence for a re-issue of `rotation` that stopped with `error`: the tokens left in the ledger, and
    /// the next command.
    package func interruption(of rotation: Rotation, by error: any Error) async -> String {
        // Brokers that failed a moment ago are not asked again.
        let left = error is KafkaError ? Self.unknown(rotation.from) : await left(by: rotation)
        return "stopped before the end, \(left): go on with: \(RemintCommand("rotate reissue"))"
    }

    private static func unknown(_ version: String) -> String {
        "an unknown number of live tokens of \(version) is left in the ledger"
    }

    /// Returns the tokens left in the ledger of the versions that `rotation` replaces, as a part of a sentence.
    private func left(by rotation: Rotation) async -> String {
        guard let versions = try? versions(of: rotation),
            let holdings = try? await topics.holdings(of: versions, in: ring, at: ring.now())
        else { return Self.unknown(rotation.from) }
        return holdings.left
    }

    /// Returns the versions whose tokens `rotation` replaces: the old one, and with a revocation every revoked one of
    /// the ring, because a second leak must not hide the first.
    func versions(of rotation: Rotation) throws -> [String] {
        rotation.kind == .revocation ? try ring.withRevoked(rotation.from) : [rotation.from]
    }

    /// Takes the campaign's lock: two runs may not re-issue for one campaign at once. With a revocation it waits up to
    /// 60 seconds, because the run that it takes over from stops within a batch.
    private func lock() async throws -> ReissueLock {
        let deadline = ContinuousClock.now + .seconds(try campaign.load().kind == .revocation ? 60 : 0)
        while true {
            do { return try ReissueLock("\(ring.directory.path)/reissue.lock", at: ring.now()) } catch let error
                as ReissueHeld
            {
                guard .now < deadline else { throw error }
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Waits until all workers can have loaded the new version. They read their rings once a second, and a worker that
    /// does not know the version yet would sign with the old one.
    private func waitForWorkers(_ rotation: Rotation) async throws {
        let listed = try ring.directory.readListing().version(rotation.to)
        try await rest(EndOfUse.rest(since: listed.activated, at: ring.now(), terms.loading), rotation)
    }

    // MARK: The round

    /// Returns the current round, and the tokens held when its list was made, if that was now. Where the last round was
    /// settled, another one begins and reads the ledger again. Before the first event the list is made again too, so
    /// that the canary consists of present users.
    private func begin(
        _ rotation: Rotation, _ files: ReissueFiles
    ) async throws -> (progress: ReissueProgress, held: HeldTokens?) {
        let known = try campaign.progress(of: rotation)
        let isBeforeCanary = rotation.phase == .canary && rotation.canary == nil
        if let known, !known.isSettled, !(isBeforeCanary && known.isUntouched) { return (known, nil) }
        let held = try await held(rotation)
        try LedgerInput.write(held.holders.map(\.key), to: files.subjects, on: ring.directory.disk)
        let round = known.map { $0.isSettled ? $0.round + 1 : $0.round } ?? 1
        let progress = ReissueProgress(
            campaign: rotation.id, round: round, input: "ledger of \(rotation.from)")
        try files.save(progress)
        var count = 0
        var moved: [String: Int] = [:]
        try CampaignList(files, ring.configuration).each { member in
            count += 1
            if member.app.key != ring.ring.name { moved[member.app.name, default: 0] += 1 }
        }
        let others = moved.sorted { $0.key < $1.key }.map {
            "; \($0.value) of them are of the app \($0.key), which has another key ring now"
        }
        note(
            "\(count.of("user")) to ask for, \(held.holders.count - count) who cannot be asked for\(others.joined())")
        return (progress, held)
    }

    /// Reads the holders of tokens of the old version, behind the ends of the topics.
    func held(_ rotation: Rotation) async throws -> HeldTokens {
        // Noted before the ledger is read: a token that it does not show lies behind them.
        let marks = try await topics.ends()
        let filter = LedgerFilter(versions: try versions(of: rotation), of: ring.ledgerRing)
        let (holders, hidden) = try await topics.holders(
            matching: filter, at: ClockTolerance.standard.earliest(at: ring.now()))
        return HeldTokens(marks: marks, holders: holders, hidden: hidden)
    }

    func job(_ rotation: Rotation, _ files: ReissueFiles, _ total: Int, limit: Int? = nil) -> ReissueJob {
        ReissueJob(
            configuration: ring.configuration, app: nil, files: files, pace: terms.pace, total: total,
            lane: { try topics.lane() }, display: display, now: ring.now, mayContinue: { try mayContinue(rotation) },
            limit: limit)
    }

    func run(
        _ job: ReissueJob, _ progress: inout ReissueProgress, _ files: ReissueFiles
    ) async throws -> ReissueJob.End {
        guard !progress.isFinished else { return .finished }
        let input = try LedgerInput(path: files.subjects, ring.configuration)
        return try await job.run(&progress, next: { try input.next() })
    }

    /// Returns whether the campaign is still this one, open and not paused.
    ///
    /// - Throws: `KeyRingError` where the ring or the campaign cannot be read, `RotationError` where they disagree.
    func mayContinue(_ rotation: Rotation) throws -> Bool {
        let now: Rotation
        do { now = try campaign.derived() } catch is RotationError {
            // Another operator's step changes the ring, then the campaign: only under the lock must they agree.
            do {
                let editor = try ring.editor()
                now = try campaign.load().derived(from: editor.listing)
            } catch is KeyRingError {
                // That step is under way.
                return false
            }
        }
        return now.id == rotation.id && !now.phase.isOver && now.pause == nil
    }
}

package struct CampaignTerms: Sendable {
    /// The share of users that goes first and is watched, in percent; 0 for no canary.
    package var canary: Double
    /// The minimum number of users in a canary, if there are that many.
    package var canaryUsers: Int
    /// The time for which the canary is watched after it is answered.
    package var watch: Duration
    /// The longest time from a canary's events, and from the remaining events, until their tokens are published.
    package var answerWithin: Duration
    /// The share of the canary's users whose tokens the vendor may reject.
    package var maxRejections: RejectionLimit
    package var pace: ReissuePace
    /// The time in which every worker loads a changed ring: workers read their rings once a second.
    package var loading: Duration

    package init(
        canary: Double, canaryUsers: Int = 1, watch: Duration, answerWithin: Duration, maxRejections: RejectionLimit,
        pace: ReissuePace, loading: Duration = EndOfUse.loading
    ) {
        self.canary = canary
        self.canaryUsers = canaryUsers
        self.watch = watch
        self.answerWithin = answerWithin
        self.maxRejections = maxRejections
        self.pace = pace
        self.loading = loading
    }
}

/// The canary did not pass, or the ledger still shows tokens. The text names the reason and the way on.
package struct CampaignStopped: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// The holders of tokens of the old version when the ledger was read for a canary.
struct HeldTokens {
    /// The ends of the topics before the ledger was read: a token that is not in `holders` lies behind them.
    let marks: TopicMarks
    let holders: [LedgerHolder]
    /// The offsets that open transactions hid of the ledger; nil where it was read whole.
    let hidden: HiddenOffsets?
}

/// Users that the vendor does not know any more and that hold a token of the old version. Asking for them again does
/// not help: no worker mints for them, and their tokens live until they end.
struct GoneUsers: Equatable {
    var count = 0
    /// The end of their last token, in seconds since 1970; nil where there is none.
    var lastEnd: Int64?

    /// The users and the end of their tokens, in a line; empty where there are none.
    var fact: String {
        guard count > 0 else { return "" }
        let end = lastEnd.map { " by \(UnixTime(seconds: $0))" } ?? " at an unknown time"
        let users = count.of(
            "user is gone at the vendor (user_gone): its token is not replaced and ends",
            "users are gone at the vendor (user_gone): their tokens are not replaced and end")
        return users + end
    }
}

/// The outcomes of a campaign's events that did not become tokens.
extension CampaignReissue {
    /// Returns why users of `rotation` still hold a token of the old version, as counts of the last events of these users.
    func fates(_ rotation: Rotation) async throws -> String {
        let ids = try await openEvents(rotation)
        let counts = try await topics.fates(of: rotation, at: ring.now()).counts(of: ids)
        let waiting =
            await topics.lag.map {
                $0 > 0
                    ? $0.of("event of the bulk lane waits for a worker", "events of the bulk lane wait for a worker")
                    : ""
            } ?? ""
        let parts = [counts, waiting].filter { !$0.isEmpty }
        return
            (parts.isEmpty
            ? "no event of the campaign waits or failed, so workers answered with another version"
            : parts.joined(separator: ", "))
            + (try await held())
    }

    /// Returns the users who hold a token of the old version and are unknown to the vendor by now, by the last
    /// outcomes of their events in the present round.
    func gone(_ rotation: Rotation) async throws -> GoneUsers {
        guard let progress = try campaign.progress(of: rotation) else { return GoneUsers() }
        let prefix = "\(progress.job)-"
        let rows = Set(
            try await topics.fates(of: rotation, at: ring.now()).ofGoneUsers.filter { $0.hasPrefix(prefix) }
                .compactMap { Int($0.dropFirst(prefix.count)) })
        guard !rows.isEmpty else { return GoneUsers() }
        var subjects: Set<SubjectHash> = []
        try CampaignList(campaign.files(of: rotation), ring.configuration).each { member in
            if rows.contains(member.row) { subjects.insert(SubjectHash(member.key)) }
        }
        let holders = try await held(rotation).holders.filter { subjects.contains(SubjectHash($0.key)) }
        return GoneUsers(count: holders.count, lastEnd: holders.map(\.expiresAt).max())
    }

    /// Returns the ids of the present round's events whose users still hold a token of the old version. A user who was
    /// answered meanwhile has outcomes of earlier events on the topics too.
    private func openEvents(_ rotation: Rotation) async throws -> Set<String> {
        guard let progress = try campaign.progress(of: rotation) else { return [] }
        let holders = Set(try await held(rotation).holders.map { SubjectHash($0.key) })
        var ids: Set<String> = []
        try CampaignList(campaign.files(of: rotation), ring.configuration).each { member in
            if holders.contains(SubjectHash(member.key)) { ids.insert(progress.eventID(row: member.row)) }
        }
        return ids
    }
}
