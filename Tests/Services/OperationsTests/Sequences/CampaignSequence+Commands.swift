import AdapterKit
import JOSE

@testable import Keyring
@testable import Operations

/// The commands, as the program makes them.
extension CampaignSequence {
    /// The command that is due in the campaign, or any other.
    func nextCommand(_ state: State) -> Command {
        guard Int.random(in: 0..<5, using: &random) > 1 else { return anyCommand(state) }
        guard let open = state.open else { return .prepare(nil) }
        guard open.pause == nil else { return .resume }
        return switch open.phase {
        case .prepared: .promote(isForced: true)
        case .promoted, .canary, .waves: anyReissue()
        case .reissued, .retired, .aborted: Bool.random(using: &random) ? .retire(isForced: false) : .prepare(open.from)
        }
    }

    private func anyReissue() -> Command {
        let mood =
            Int.random(in: 0..<3, using: &random) > 0
            ? .answers : ModelCluster.Mood.allCases.randomElement(using: &random) ?? .answers
        return .reissue(mood, canary: [0, 40, 100].randomElement(using: &random) ?? 0)
    }

    private func anyCommand(_ state: State) -> Command {
        let ids = state.listing.versions.map(\.id) + ["2025-11"]
        func id() -> String { ids.randomElement(using: &random) ?? "a" }
        func flag() -> Bool { Bool.random(using: &random) }
        return switch Int.random(in: 0..<100, using: &random) {
        case 0..<5: .generate(flag() ? nil : id())
        case 5..<8: .importKey(Int.random(in: 0..<3, using: &random), flag() ? id() : "imported")
        case 8..<13: .promoteVersion(id(), isForced: flag())
        case 13..<17: .retireVersion(id(), isForced: flag())
        case 17..<33: .prepare(flag() ? nil : id())
        case 33..<48: .promote(isForced: Int.random(in: 0..<4, using: &random) > 0)
        case 48..<70: anyReissue()
        case 70..<73: .pause
        case 73..<79: .resume
        case 79..<84: .abort
        case 84..<91: .retire(isForced: Int.random(in: 0..<3, using: &random) == 0)
        case 91..<97: .revoke(flag() ? nil : id(), promoting: Int.random(in: 0..<4, using: &random) == 0 ? id() : nil)
        case 97..<98: .job(id())
        default: .keysRemove(id(), isForced: flag())
        }
    }

    func nextFault(_ command: Command) -> Fault {
        let steps =
            switch command {
            case .reissue: 90
            case .prepare, .revoke, .job: 36
            default: 22
            }
        let step = Int.random(in: 0..<steps, using: &random)
        return switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: .crash(step)
        case 2: .full(step, stays: Bool.random(using: &random))
        default: .none
        }
    }

    /// A command that comes in between while `command` waits for the brokers.
    func nextInterruption(_ command: Command, _ state: State) -> (command: Command, fault: Fault)? {
        switch command {
        case .reissue, .retire, .retireVersion, .keysRemove, .job: break
        default: return nil
        }
        guard Int.random(in: 0..<3, using: &random) == 0 else { return nil }
        let other = anyCommand(state)
        // A job waits for another one that a revocation ends.
        if case .reissue = other { return nil }
        return (other, nextFault(other))
    }

    func make(_ command: Command, _ ring: RingInUse) async throws {
        let campaign = Campaign(ring: ring)
        switch command {
        case .generate(let id):
            try add(try KeyGeneration.key(.hs256, encoding: .utf8, rsaBits: 2048, id: id), id, "generate", ring)
        case .importKey(let number, let id):
            let secret = SecretBytes(copying: "an imported secret of 32 bytes \(number)".utf8)
            try add(try SigningKey(secret: secret, algorithm: .hs256), id, "import", ring)
        case .promoteVersion(let id, let isForced): try ring.promote(id, isForced: isForced)
        case .retireVersion(let id, let isForced):
            try ring.requireNoPart(of: [id], in: .retire)
            if !isForced { try await requireNoLiveToken(of: [id], ring) }
            _ = try ring.retire(id, isForced: isForced)
        case .keysRemove(let id, let isForced):
            removed.insert(id)
            try ring.requireRemovable(id)
            if !isForced { try await requireNoLiveToken(of: [id], ring) }
            _ = try ring.remove(id, isForced: isForced)
        case .prepare(let id):
            let rotation = try campaign.prepare(id, why: "yearly")
            try campaign.addMissingKey(of: rotation, rsaBits: 2048)
        case .promote(let isForced): _ = try campaign.promote(isForced: isForced)
        case .reissue(let mood, let canary): try await reissue(mood, canary, campaign)
        case .pause: try campaign.pause(because: "lunch")
        case .resume: try campaign.resume()
        case .abort: _ = try campaign.abort()
        case .retire(let isForced):
            let rotation = try campaign.derived()
            var check = rotation
            try check.retired()
            if !isForced { try await requireNoLiveToken(of: try ring.withRevoked(rotation.from), ring) }
            try campaign.retire(rotation.id, isForced: isForced)
        case .revoke(let id, let successor):
            let plan = try campaign.revocation(of: id, promoting: successor)
            _ = try campaign.revoke(plan, why: "leaked")
        case .job(let version): try await job(of: version, ring)
        }
    }

    private func add(_ key: SigningKey, _ id: String?, _ action: String, _ ring: RingInUse) throws {
        var editor = try ring.editor()
        let id = id ?? editor.listing.freshID(at: ring.now())
        try editor.add(key, id: id, encoding: .utf8, at: ring.now(), as: action)
        try ring.audit.append(action, version: id, at: ring.now())
    }

    private func requireNoLiveToken(of versions: [String], _ ring: RingInUse) async throws {
        let end = EndOfUse(of: ring, on: cluster, loading: .zero, maxWait: .zero)
        try await ring.requireNoLiveToken(of: versions, next: RemintCommand("rotate retire"), after: end, NoDisplay()) {
            try await cluster.holdings(of: versions, in: ring, at: $0)
        }
    }

    private func reissue(_ mood: ModelCluster.Mood, _ canary: Double, _ campaign: Campaign) async throws {
        cluster.mood = mood
        defer { cluster.mood = .answers }
        let terms = CampaignTerms(
            canary: canary, watch: .zero, answerWithin: .zero, maxRejections: .standard,
            pace: ReissuePace(rate: nil, wave: 2), loading: .zero)
        let result = try await CampaignReissue(
            campaign: campaign, terms: terms, topics: cluster, display: NoDisplay(), note: { _ in }
        ).run()
        reissued = if case .reissued = result { true } else { false }
    }

    private func job(of version: String, _ ring: RingInUse) async throws {
        let files = ReissueFiles(state: "\(folder)/job-\(version).json", on: ring.directory.disk)
        let lock = try ReissueLock(files.lock, at: ring.now())
        defer { withExtendedLifetime(lock) {} }
        var progress = try files.load() ?? ReissueProgress(job: "job-\(version)", input: "ledger")
        guard !progress.isFinished else { return }
        if progress.isUntouched {
            let keys = try await cluster.holders(
                matching: LedgerFilter(keyID: version, ring: ModelCluster.ring), at: ring.now()
            ).holders.map(\.key)
            try LedgerInput.write(keys, to: files.subjects, on: ring.directory.disk)
            try files.save(progress)
        }
        let input = try LedgerInput(path: files.subjects, ring.configuration)
        let job = ReissueJob(
            configuration: ring.configuration, app: nil, files: files, pace: ReissuePace(rate: nil), total: nil,
            lane: { [cluster] in try cluster.lane() }, display: NoDisplay(), now: ring.now)
        _ = try await job.run(&progress, next: { try input.next() })
    }
}

struct NoDisplay: ProgressDisplay {
    let isShown = false
    mutating func show(_ done: Int, of total: Int, _ note: String) {}
    mutating func clear() {}
}
