import AdapterKit
import Keyring
import Logging
import Pipeline
import Worker
import WorkerConfiguration

/// Re-issues a campaign's tokens: canary, watch, waves.
struct CampaignReissue {
    let campaign: Campaign
    let options: CampaignPaceOptions
    private var ring: RingInUse { campaign.ring }

    func run() async throws {
        let brokers = try ring.configuration.brokers(instead: options.brokers)
        let lock = try lock()
        defer { withExtendedLifetime(lock) {} }
        let before = try campaign.load()
        let rotation = try campaign.change("rotate reissue") {
            try $0.reissuing(isCautious: options.canary > 0, at: UnixTime.system())
        }
        let files = ReissueFiles(
            state: "\(ring.directory.path)/rotation-\(rotation.to).json",
            rejects: "\(ring.directory.path)/rotation-\(rotation.to).rejects.jsonl")
        try await waitForWorkers(rotation)
        // After a complete round another one looks for what came since.
        var progress = try await begin(rotation, files, isNewRound: before.phase == .reissued, brokers)
        let total = try count(files)
        let job = { (limit: Int?) in
            ReissueJob(
                configuration: ring.configuration, app: nil, brokers: brokers, files: files, pace: options.pace,
                total: total, logger: Logger.quiet(ring.configuration.log), mayGoOn: isNotPaused, limit: limit)
        }
        if rotation.phase == .canary {
            let size = min(total, max(1, Int((Double(total) * options.canary / 100).rounded(.up))))
            guard try await run(job(size), &progress, files) != .paused else { return paused() }
            try await watch(rotation, size, brokers)
            try campaign.change("rotate canary passed", detail: "\(size) tokens") { $0.canaryPassed() }
        }
        guard try await run(job(nil), &progress, files) != .paused else { return paused() }
        try await waitUntilAnswered(brokers)
        guard isNotPaused() else { return paused() }
        try campaign.change("rotate reissued", detail: "\(progress.sent) events") { $0.reissued() }
        Terminal.print(
            "\(ring.ring.name): \(progress.sent) events sent, \(progress.rejected) subjects left to end by themselves")
        Terminal.print("Then: remint rotate status, and remint rotate retire")
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
        let rest = activated.advanced(bySeconds: 3).microseconds(since: UnixTime.system())
        if (1...3_000_000).contains(rest) { try await Task.sleep(for: .microseconds(rest)) }
    }

    private func list(_ files: ReissueFiles) -> String { files.state.replacingSuffix(".json", by: ".subjects") }

    private func begin(
        _ rotation: Rotation, _ files: ReissueFiles, isNewRound: Bool, _ brokers: String
    ) async throws -> ReissueProgress {
        if let known = try files.load(), !(isNewRound && known.isFinished) { return known }
        let reader = try LedgerReader(ring.configuration, brokers: brokers)
        let filter = LedgerFilter(apps: ring.apps.map(\.name), keyID: rotation.from)
        let keys = try await reader.keys(in: try await reader.read(), matching: filter, at: UnixTime.system())
        try LedgerInput.write(keys, to: list(files))
        var random = SystemRandomNumberGenerator()
        let progress = ReissueProgress(job: RandomUUID.make(using: &random), input: "ledger of \(rotation.from)")
        try files.save(progress)
        return progress
    }

    private func count(_ files: ReissueFiles) throws -> Int {
        let input = try LedgerInput(path: list(files), ring.configuration)
        var count = 0
        while let items = try input.next() { count += items.count }
        return count
    }

    private func run(_ job: ReissueJob, _ progress: inout ReissueProgress, _ files: ReissueFiles) async throws
        -> ReissueJob.End
    {
        guard !progress.isFinished else { return .finished }
        let input = try LedgerInput(path: list(files), ring.configuration)
        return try await job.run(&progress, next: { try input.next() })
    }

    private func isNotPaused() -> Bool { (try? campaign.load())?.pause == nil }

    private func paused() { Terminal.print("\(ring.ring.name): paused; go on with: remint rotate resume") }

    // MARK: Canary

    /// Waits until the canary is answered, then for rejections of its tokens.
    ///
    /// - Throws: `CanaryRejected` where there are too many; the campaign is paused then.
    private func watch(_ rotation: Rotation, _ size: Int, _ brokers: String) async throws {
        try await waitUntilAnswered(brokers)
        let since = rotation.canarySince ?? rotation.begun
        // One user may be anything; three, and more than one in a hundred, are the vendor. A smaller canary must fail whole.
        let limit = options.maxRejections ?? max(size / 100, min(2, size - 1))
        let watch = try await RejectionWatch(ring, since: since, brokers: brokers)
        let end = ContinuousClock.now + options.watchLength
        var rejected = 0
        var line = ProgressLine()
        while rejected <= limit {
            rejected = await watch.count()
            let left = end - .now
            guard left > .zero else { break }
            line.show(
                Int((options.watchLength - left) / .milliseconds(1)), of: Int(options.watchLength / .milliseconds(1)),
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
        let lag = BulkLag(ring.configuration, properties, logger: Logger.quiet(ring.configuration.log))
        var line = ProgressLine()
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
struct CanaryRejected: Error, CustomStringConvertible {
    let reason: String
    var description: String {
        "\(reason); the campaign is paused. Go back with: remint rotate abort, or on with: remint rotate resume"
    }
}
