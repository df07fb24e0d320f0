import AdapterKit
import Keyring
package import Logging
import Pipeline
import Worker
import WorkerConfiguration

/// Re-issues a campaign's tokens: canary, watch, waves.
package struct CampaignReissue {
    /// How a campaign re-issues.
    package struct Terms {
        /// The part that goes first and is watched, in percent; 0 for none.
        package var canary: Double
        /// How long the canary is watched once it is answered.
        package var watch: Duration
        /// How many of the canary's users may have their tokens rejected; nil for 1 in 100.
        package var maxRejections: Int?
        /// How fast events are sent.
        package var pace: ReissuePace

        /// These terms.
        package init(canary: Double, watch: Duration, maxRejections: Int?, pace: ReissuePace) {
            self.canary = canary
            self.watch = watch
            self.maxRejections = maxRejections
            self.pace = pace
        }
    }

    /// What came of it.
    package enum Result: Sendable {
        /// Every subject was asked for: how many events were sent, and how many subjects are left to end by themselves.
        case reissued(sent: Int, rejected: Int)
        /// The campaign was paused meanwhile.
        case paused
    }

    private let campaign: Campaign
    private let terms: Terms
    private let brokers: String
    private let logger: Logger
    private let display: any ProgressDisplay
    private var ring: RingInUse { campaign.ring }

    /// The re-issue of `campaign` by `terms`, which shows on `display` how far it is.
    package init(
        campaign: Campaign, terms: Terms, brokers: String, logger: Logger, display: any ProgressDisplay
    ) {
        self.campaign = campaign
        self.terms = terms
        self.brokers = brokers
        self.logger = logger
        self.display = display
    }

    /// - Throws: `RotationError`, `CanaryRejected`, or what keeps events from being delivered.
    package func run() async throws -> Result {
        let lock = try lock()
        defer { withExtendedLifetime(lock) {} }
        let before = try campaign.load()
        let rotation = try campaign.change("rotate reissue") {
            try $0.reissuing(isCautious: terms.canary > 0, at: ring.now())
        }
        let files = ReissueFiles(state: "\(ring.directory.path)/rotation-\(rotation.to).json")
        try await waitForWorkers(rotation)
        // After a complete round another one looks for what came since.
        var progress = try await begin(rotation, files, isNewRound: before.phase == .reissued, brokers)
        let total = try count(files)
        let job = { (limit: Int?) in
            ReissueJob(
                configuration: ring.configuration, app: nil, brokers: brokers, files: files, pace: terms.pace,
                total: total, logger: logger, display: display, now: ring.now,
                mayGoOn: isNotPaused, limit: limit)
        }
        if rotation.phase == .canary {
            let size = min(total, max(1, Int((Double(total) * terms.canary / 100).rounded(.up))))
            guard try await run(job(size), &progress, files) != .paused else { return .paused }
            try await watch(rotation, size, brokers)
            try campaign.change("rotate canary passed", detail: "\(size) tokens") { $0.canaryPassed() }
        }
        guard try await run(job(nil), &progress, files) != .paused else { return .paused }
        try await waitUntilAnswered(brokers)
        guard isNotPaused() else { return .paused }
        try campaign.change("rotate reissued", detail: "\(progress.sent) events") { $0.reissued() }
        return .reissued(sent: progress.sent, rejected: progress.rejected)
    }

    /// Two may not re-issue for one campaign at once.
    private func lock() throws -> FileLock {
        do throws(FileLock.Failure) { return try FileLock("\(ring.directory.path)/reissue.lock") } catch {
            switch error {
            case .held:
                throw RotationError(
                    "another operator is re-issuing for this campaign; watch it with: remint rotate status")
            case .unusable(let reason):
                throw RotationError(
                    "\(ring.directory.path)/reissue.lock cannot be opened: \(reason); the folder must be yours to change"
                )
            }
        }
    }

    /// Workers look at their rings once a second; what is asked for before they have seen the new version would be signed
    /// with the old one once more.
    private func waitForWorkers(_ rotation: Rotation) async throws {
        let listed = try ring.directory.readListing().version(rotation.to)
        guard let activated = listed.activated else { return }
        let rest = activated.advanced(bySeconds: 3).microseconds(since: ring.now())
        if (1...3_000_000).contains(rest) { try await Task.sleep(for: .microseconds(rest)) }
    }

    private func begin(
        _ rotation: Rotation, _ files: ReissueFiles, isNewRound: Bool, _ brokers: String
    ) async throws -> ReissueProgress {
        if let known = try files.load(), !(isNewRound && known.isFinished) { return known }
        let reader = LedgerReader(ring.configuration, brokers: brokers, logger: logger, display: display)
        let filter = LedgerFilter(apps: ring.apps.map(\.name), keyID: rotation.from)
        let keys = try await reader.keys(matching: filter, at: ring.now())
        try LedgerInput.write(keys, to: files.subjects)
        var random = SystemRandomNumberGenerator()
        let progress = ReissueProgress(job: RandomUUID.make(using: &random), input: "ledger of \(rotation.from)")
        try files.save(progress)
        return progress
    }

    private func count(_ files: ReissueFiles) throws -> Int {
        let input = try LedgerInput(path: files.subjects, ring.configuration)
        var count = 0
        while let items = try input.next() { count += items.count }
        return count
    }

    private func run(_ job: ReissueJob, _ progress: inout ReissueProgress, _ files: ReissueFiles) async throws
        -> ReissueJob.End
    {
        guard !progress.isFinished else { return .finished }
        let input = try LedgerInput(path: files.subjects, ring.configuration)
        return try await job.run(&progress, next: { try input.next() })
    }

    private func isNotPaused() -> Bool { (try? campaign.load())?.pause == nil }

    // MARK: Canary

    /// Waits until the canary is answered, then for rejections of its tokens.
    ///
    /// - Throws: `CanaryRejected` where there are too many; the campaign is paused then.
    private func watch(_ rotation: Rotation, _ size: Int, _ brokers: String) async throws {
        try await waitUntilAnswered(brokers)
        let since = rotation.canarySince ?? rotation.begun
        // One user may be anything; three, and more than one in a hundred, are the vendor. A smaller canary must fail whole.
        let limit = terms.maxRejections ?? max(size / 100, min(2, size - 1))
        let watch = try await RejectionWatch(ring, since: since, brokers: brokers, logger: logger)
        let end = ContinuousClock.now + terms.watch
        var rejected = 0
        var line = display
        while rejected <= limit {
            rejected = await watch.count()
            let left = end - .now
            guard left > .zero else { break }
            line.show(
                Int((terms.watch - left) / .milliseconds(1)), of: Int(terms.watch / .milliseconds(1)),
                "watching \(size) canary tokens: \(rejected) rejected")
        }
        line.clear()
        await watch.close()
        guard rejected > limit else { return }
        let reason = "the vendor rejected \(rejected) of \(size) canary tokens"
        try campaign.change("rotate pause", detail: reason) { try $0.pause(because: reason) }
        throw CanaryRejected(reason: reason)
    }

    /// Until the workers took everything that was sent.
    private func waitUntilAnswered(_ brokers: String) async throws {
        let properties = KafkaProperties(ring.configuration, bootstrapServers: brokers)
        let lag = BulkLag(ring.configuration, properties, logger: logger)
        var line = display
        defer { line.clear() }
        var first: Int?
        while true {
            let waiting = try await lag.ask()
            guard waiting > 0 else { break }
            first = first ?? waiting
            line.show((first ?? 0) - waiting, of: first ?? 0, "\(waiting) events wait for the workers")
            guard isNotPaused() else { break }
            try await Task.sleep(for: .milliseconds(250))
        }
        await lag.close()
    }
}

/// The canary did not pass.
package struct CanaryRejected: Error, CustomStringConvertible {
    let reason: String
    package var description: String {
        "\(reason); the campaign is paused. Go back with: remint rotate abort, or on with: remint rotate resume"
    }
}
