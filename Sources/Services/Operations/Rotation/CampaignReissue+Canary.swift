import AdapterKit
import Formats
import Foundation
import JOSE
import Keyring
import Pipeline
import WorkerConfiguration

/// The canary: choosing, sending and judging it.
extension CampaignReissue {
    /// Brings the campaign past a canary of each app that has none yet and whose users are to be asked for.
    ///
    /// - Parameter held: the tokens held when the list was made; nil where an earlier run made it.
    /// - Returns: true where every such app has passed, or no canary is wanted; false where the campaign was paused or
    ///   finished meanwhile.
    /// - Throws: `CampaignStopped` where a canary did not pass, where none can be made that would notice a refusal,
    ///   and where an earlier one did not pass and nobody is left for another one. The campaign is paused then. Also
    ///   where an open transaction hides a part of the ledger.
    func passCanary(
        _ rotation: Rotation, _ progress: inout ReissueProgress, _ total: Int, _ held: HeldTokens?
    ) async throws -> Bool {
        var (rotation, held) = (rotation, held)
        let files = campaign.files(of: rotation)
        while true {
            let canary: RotationCanary
            if let present = rotation.canary {
                guard terms.canary > 0 else {
                    return try acceptAll(rotation, try openApps(rotation, progress, files))
                }
                canary = present
            } else {
                let apps = try openApps(rotation, progress, files)
                guard rotation.phase == .canary || !apps.isClear else { return true }
                guard terms.canary > 0 else { return try acceptAll(rotation, apps) }
                if rotation.phase != .canary {
                    let detail = "no canary of the app \(apps.names) has passed"
                    rotation = try campaign.step("rotate canary", detail: detail, of: rotation.id) {
                        $1.awaitCanary()
                    }
                }
                guard let next = try await makeCanary(rotation, progress, files, held, apps) else {
                    return try continueWithoutCanary(rotation, apps)
                }
                canary = next
            }
            held = nil
            guard let passed = try await judge(canary, rotation, &progress, total, files) else { return false }
            rotation = passed
        }
    }

    /// Sends `canary` and judges it.
    ///
    /// - Returns: the campaign with the canary's apps passed; nil where it was paused or finished meanwhile.
    private func judge(
        _ canary: RotationCanary, _ rotation: Rotation, _ progress: inout ReissueProgress, _ total: Int,
        _ files: ReissueFiles
    ) async throws -> Rotation? {
        let end = canary.firstRow + canary.count
        guard try await run(job(rotation, files, total, limit: end), &progress, files) != .paused else { return nil }
        note("\(canary.count.of("canary event")) sent; waiting until each user's token of \(rotation.to) is published")
        let (tally, apps) = try tally(of: canary, rotation, progress, files)
        var reading = try topics.outcomes(tally, from: canary.marks, now: ring.now)
        if let marks = canary.answered { reading.listen(behind: marks) }
        do {
            let hasPassed = try await watch(&reading, rotation, canary)
            await reading.close()
            guard hasPassed else { return nil }
        } catch {
            await reading.close()
            throw error
        }
        let judged = reading.tally.judged(canary)
        let whole = RotationStratum.Outcome(reading.tally.whole)
        let counts =
            "\(whole.answered) of \(reading.tally.size) answered, \(whole.superseded) superseded, \(whole.rejected) rejected\(whole.more)"
        let detail = ([counts] + judged.map(\.description)).joined(separator: "; ")
        note("the canary passed: \(detail)")
        // A canary from before apps were judged by themselves is one of every app that it has users of.
        let passed = canary.strata.isEmpty ? apps : canary.strata.map(\.app)
        return try campaign.step("rotate canary passed", detail: detail, of: rotation.id) {
            $1.canaryPassed(judged, of: passed)
        }
    }

    /// Continues with everyone at once, because the operator wants no canary.
    private func acceptAll(_ rotation: Rotation, _ apps: OpenApps) throws -> Bool {
        let failed = rotation.canaryCount
        let others = failed > 0 ? ", although \(failed) did not pass" : ""
        let detail = "no canary (--canary 0)" + (rotation.canary == nil ? others : ", although one was not judged yet")
        note(detail)
        try campaign.step("rotate canary", detail: detail, of: rotation.id) {
            $1.awaitCanary()
            $1.canaryPassed(of: Array(apps.all) + rotation.failedApps)
        }
        return true
    }

    /// Continues where no user is left for a canary.
    ///
    /// - Throws: `CampaignStopped` where an app's canary did not pass: a canary of everybody proves nothing.
    private func continueWithoutCanary(_ rotation: Rotation, _ apps: OpenApps) throws -> Bool {
        guard apps.failed.isEmpty else {
            let others = rotation.passedApps.isEmpty ? "" : ", although the canary of the other apps passed"
            let names = apps.failed.joined(separator: " and ")
            throw try stop(
                rotation, "no canary of the app \(names) passed, and no user is left who was in none\(others)")
        }
        if rotation.canaryCount > 0, rotation.passedApps.isEmpty {
            throw try stop(rotation, "no canary passed, and no user is left who was in none")
        }
        let detail = "no user is left for a canary"
        note(detail)
        try campaign.step("rotate canary", detail: detail, of: rotation.id) { $1.canaryPassed() }
        return true
    }

    /// Pauses the campaign where another canary cannot help.
    ///
    /// - Parameter wait: another way on; empty where there is none.
    /// - Returns: the error that names the ways on.
    private func stop(_ rotation: Rotation, _ reason: String, wait: String = "") throws -> CampaignStopped {
        try campaign.step("rotate pause", detail: reason, of: rotation.id) { try $1.pause(because: reason) }
        let back = wait.isEmpty ? "Go back with: \(RemintCommand("rotate abort"))" : wait
        return CampaignStopped(
            "\(reason). The campaign is paused. \(back). Or accept the risk for everyone: \(RemintCommand("rotate resume")), then \(RemintCommand("rotate reissue", "--canary", "0"))"
        )
    }

    // MARK: Made

    /// The apps of a campaign's list that are not passed by.
    private struct OpenApps {
        /// Every app with users in the list.
        var all: Set<String> = []
        /// Those without a passed canary whose users were not all asked for.
        var unasked: Set<String> = []
        /// Those whose last canary did not pass.
        var failed: [String] = []

        var isClear: Bool { unasked.isEmpty && failed.isEmpty }
        var names: String { unasked.union(failed).sorted().joined(separator: " and ") }
    }

    private func openApps(
        _ rotation: Rotation, _ progress: ReissueProgress, _ files: ReissueFiles
    ) throws -> OpenApps {
        var apps = OpenApps()
        let fixed = max(progress.rows, progress.sendingRows)
        try CampaignList(files, ring.configuration).each { member in
            apps.all.insert(member.app.name)
            if member.row > fixed, !rotation.hasPassed(member.app.name) { apps.unasked.insert(member.app.name) }
        }
        apps.failed = rotation.failedApps.filter(apps.all.contains)
        return apps
    }

    /// The users of an app from which a canary is chosen.
    private struct Source {
        /// The users who can be asked for, also those of earlier canaries.
        var total = 0
        /// The users who hold a token and were in no canary.
        var candidates: [CanaryChoice.Candidate] = []
    }

    /// A canary's users of an app.
    private struct AppChoice {
        let app: String
        let choice: CanaryChoice
        /// The number of users below which the canary proves nothing.
        let need: Int
    }

    /// Makes the next canary; nil where nobody is left for one.
    ///
    /// - Throws: `CampaignStopped` where an app's users hold no live token, or too few do after a canary that did not
    ///   pass; the campaign is paused then. Also where an open transaction hides a part of the ledger.
    private func makeCanary(
        _ rotation: Rotation, _ progress: ReissueProgress, _ files: ReissueFiles, _ held: HeldTokens?,
        _ apps: OpenApps
    ) async throws -> RotationCanary? {
        let now: HeldTokens
        if let held { now = held } else { now = try await self.held(rotation) }
        if let hidden = now.hidden {
            throw CampaignStopped(
                "no canary can be made: \(hidden.fact), and users of any app may be among them; \(hidden.remedy), with: \(RemintCommand("rotate reissue"))"
            )
        }
        let list = CampaignList(files, ring.configuration)
        // Rows whose events were sent, or may have been, keep their place.
        let fixed = max(progress.rows, progress.sendingRows)
        let sources = try sources(in: list, of: apps.unasked, behind: fixed, now, salt: progress.job)
        guard !sources.isEmpty else { return nil }
        let choices = try choices(among: sources, rotation)
        try list.move(choices.flatMap(\.choice.rows), behind: fixed, on: ring.directory.disk)
        let strata = choices.map {
            RotationStratum(app: $0.app, users: $0.choice.rows.count, live: $0.choice.live)
        }
        let count = fixed - progress.rows + strata.reduce(0) { $0 + $1.users }
        let canary = RotationCanary(firstRow: progress.rows, count: count, marks: now.marks, strata: strata)
        let detail = strata.map(\.description).joined(separator: "; ")
        note("the canary is made: \(detail)")
        try campaign.step(
            "rotate canary", detail: "\(count.of("user")) behind row \(progress.rows): \(detail)", of: rotation.id
        ) { $1.began(canary) }
        return canary
    }

    /// - Throws: `CampaignStopped` where an app's users are too few to prove anything; the campaign is paused then.
    private func choices(among sources: [String: Source], _ rotation: Rotation) throws -> [AppChoice] {
        // By a clock that is behind, expired tokens pass for live ones: it is at least the time of the last issue.
        let issues = sources.values.flatMap { $0.candidates.map(\.issuedAt) }
        let time = max(ring.now().seconds, issues.max() ?? 0)
        let choices = sources.sorted { $0.key < $1.key }.map { app, source in
            let need = rotation.canaryNeed(of: app, least: CanaryChoice.least)
            let wanted = max(
                need, CanaryChoice.wanted(of: source.total, percent: terms.canary, least: terms.canaryUsers))
            return AppChoice(
                app: app, choice: CanaryChoice(among: source.candidates, wanted: wanted, at: time), need: need)
        }
        let deaf = choices.filter { $0.choice.live == 0 }.map { ($0.app, sources[$0.app]?.candidates ?? []) }
        if !deaf.isEmpty { throw try stop(rotation, deaf) }
        let few = choices.filter { $0.choice.rows.count < $0.need }
        if !few.isEmpty {
            let apps = few.map {
                "of the app \($0.app) \($0.choice.rows.count.of("user")) of at least \($0.need)"
            }.joined(separator: ", ")
            throw try stop(
                rotation,
                "the last canary did not pass, and too few users with a live token are left for another (\(apps)), so silence would prove nothing"
            )
        }
        return choices
    }

    /// Returns the users of each of `apps` who hold a token and were in no canary.
    private func sources(
        in list: CampaignList, of apps: Set<String>, behind fixed: Int, _ held: HeldTokens, salt: String
    ) throws -> [String: Source] {
        var places: [SubjectHash: Int] = [:]
        for (place, holder) in held.holders.enumerated() { places[SubjectHash(holder.key)] = place }
        var sources: [String: Source] = [:]
        try list.each { member in
            guard apps.contains(member.app.name) else { return }
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
    private func stop(
        _ rotation: Rotation, _ deaf: [(app: String, candidates: [CanaryChoice.Candidate])]
    ) throws -> CampaignStopped {
        let tolerance = DurationText.format(seconds: ClockTolerance.standard.seconds)
        let apps = deaf.map { "\($0.candidates.count) of the app \($0.app)" }.joined(separator: ", ")
        let last = deaf.flatMap { $0.candidates.map(\.expiresAt) }.max() ?? 0
        let end = UnixTime(seconds: last).advanced(bySeconds: ClockTolerance.standard.seconds + 1)
        return try stop(
            rotation,
            "no user left for a canary holds a live token (\(apps), whose tokens expired, or expire within \(tolerance), by this machine's clock, which may be behind), so silence would prove nothing",
            wait:
                "From \(end) on these tokens no longer count: \(RemintCommand("rotate resume")), and \(RemintCommand("rotate reissue"))"
        )
    }

    /// Returns the tally of `canary` before any outcome, and the apps of its users.
    private func tally(
        of canary: RotationCanary, _ rotation: Rotation, _ progress: ReissueProgress, _ files: ReissueFiles
    ) throws -> (tally: CanaryTally, apps: [String]) {
        let rows = canary.firstRow + 1...canary.firstRow + canary.count
        var subjects = [[UInt8]?](repeating: nil, count: canary.count)
        var rings: [String: String] = [:]
        try CampaignList(files, ring.configuration).each { member in
            guard rows.contains(member.row) else { return }
            subjects[member.row - rows.lowerBound] = member.key
            rings[member.app.name] = member.app.key
        }
        let tally = CanaryTally(
            of: rotation.to, ring: ring.ring.name, job: progress.job, firstRow: canary.firstRow, subjects: subjects,
            rings: canary.strata.isEmpty ? [:] : rings, wasAnswered: canary.answered != nil)
        return (tally, rings.keys.sorted())
    }
}

/// The choice of a canary's users among those of one app, as a value.
///
/// A canary must be able to notice a refusal, and only a device that comes back reports one. So it consists of users
/// who hold a token that lives for certain, although the clock may be behind. The half whose tokens were issued last comes first: these users were active most recently.
/// Within a half the order is that of a hash under a salt that nobody knows before the campaign. An account that
/// fetches fresh tokens, or picks its ids, at most doubles its chance to be chosen, and cannot fill the canary; in the
/// order of time it would be the first user. Users with an expired token are in no canary: they would make it larger
/// without reporting more.
package struct CanaryChoice {
    /// A user who may be chosen.
    package struct Candidate: Sendable, Equatable {
        /// The row in the campaign's list, from 1.
        package let row: Int
        /// The place among others of its half.
        let rank: UInt64
        let issuedAt: Int64
        let expiresAt: Int64
    }

    /// The number of users that a canary has if there are that many and nobody wants fewer.
    package static let least = 20

    package let rows: [Int]
    /// All candidates who hold a live token.
    package let live: Int

    /// Chooses among `candidates`.
    ///
    /// - Parameters:
    ///   - wanted: the number of users to choose; fewer where fewer hold a live token.
    ///   - now: the time in seconds since 1970.
    ///   - tolerance: the bound on how far `now` may be behind. A token must live for longer than that. One that lives
    ///     no longer than twice as long at all must have half of its time left.
    package init(
        among candidates: [Candidate], wanted: Int, at now: Int64, tolerating tolerance: ClockTolerance = .standard
    ) {
        let live = candidates.filter {
            let life = max(0, $0.expiresAt - $0.issuedAt)
            return $0.expiresAt - min(tolerance.seconds, life / 2) > now
        }.sorted {
            ($1.issuedAt, $0.rank, $0.row) < ($0.issuedAt, $1.rank, $1.row)
        }
        let half = (live.count + 1) / 2
        let order = Self.spread(live.prefix(half)) + Self.spread(live.dropFirst(half))
        rows = order.prefix(max(0, wanted)).map(\.row)
        self.live = live.count
    }

    private static func spread(_ candidates: ArraySlice<Candidate>) -> [Candidate] {
        candidates.sorted { ($0.rank, $0.row) < ($1.rank, $1.row) }
    }

    /// Returns the size of a canary for an app with `total` users: `percent` of them, and at least `least`.
    package static func wanted(of total: Int, percent: Double, least: Int) -> Int {
        max(1, least, Int((Double(total) * percent / 100).rounded(.up)))
    }
}

extension CanaryChoice.Candidate {
    /// The user of `row`, who is the subject `holder`.
    ///
    /// - Parameter salt: a string unknown to anybody who could choose the subject's id.
    package init(row: Int, _ holder: LedgerHolder, salt: String) {
        let digest = SHA256.hash(Array("\(salt)/".utf8) + holder.key)
        self.init(
            row: row, rank: digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }, issuedAt: holder.issuedAt,
            expiresAt: holder.expiresAt)
    }
}

/// A campaign's subjects in a file, and those of them who can be asked for.
struct CampaignList {
    private let path: String
    private let configuration: Configuration

    /// The list of the job with `files`.
    init(_ files: ReissueFiles, _ configuration: Configuration) {
        path = files.subjects
        self.configuration = configuration
    }

    /// A subject who can be asked for.
    struct Member {
        /// The row, from 1.
        let row: Int
        let key: [UInt8]
        let app: Configuration.App
    }

    /// Calls `body` with each subject who can be asked for, in their order.
    func each(_ body: (Member) throws -> Void) throws {
        let input = try LedgerInput(path: path, configuration)
        var row = 0
        while let items = try input.next() {
            for item in items {
                row += 1
                guard let app = item.app, case .success(let user) = item.row.user,
                    let key = try? ReissueEvent.key(of: user, app: app.name, adapter: app.adapter)
                else { continue }
                try body(Member(row: row, key: key, app: app))
            }
        }
    }

    /// Returns the number of all rows.
    func count() throws -> Int { try LedgerInput(path: path, configuration).count() }

    /// Moves `rows` to the place behind the first `fixed` rows, which stay, because their events may have been sent
    /// under their numbers. The file is written whole or not at all.
    func move(_ rows: [Int], behind fixed: Int, on disk: Disk) throws {
        guard let handle = FileHandle(forReadingAtPath: path), let data = try handle.readToEnd() else {
            throw InputUnreadable(path: path, reason: "the job's list of subjects is not there")
        }
        let lines = Array(data).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let count = lines.last?.isEmpty == true ? lines.count - 1 : lines.count
        let moved = Set(rows)
        let rest = (fixed..<max(fixed, count)).filter { !moved.contains($0 + 1) }
        let order = Array(0..<min(fixed, count)) + rows.map { $0 - 1 } + rest
        try DurableWrite(path: path, mode: 0o600, on: disk).write { (sink) throws(KeyRingError) in
            var buffer: [UInt8] = []
            for place in order where lines.indices.contains(place) {
                buffer += lines[place]
                buffer.append(UInt8(ascii: "\n"))
                guard buffer.count > 1 << 20 else { continue }
                try sink.append(buffer)
                buffer = []
            }
            try sink.append(buffer)
        }
    }
}
