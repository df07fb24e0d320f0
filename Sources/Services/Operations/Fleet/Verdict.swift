package import AdapterKit
import Kafka
import Keyring
package import Pipeline

/// The answer to the first question of an engineer on call: what does not work, the affected users, since when, until when,
/// and the command and runbook for it. `remint status`, `/fleet` and `/status` show it first.
package struct Verdict: Sendable, Equatable {
    /// The most findings that are shown; the others are counted.
    private static let most = 20

    /// The effect of a finding on users, from the worst on.
    package enum Effect: String, Sendable, Comparable {
        /// Users get no tokens, or soon will not.
        case fails
        /// Events are answered, and a part does not work as it should.
        case degraded
        case paused
        /// A part of the status that nobody could read.
        case unknown

        private var rank: Int {
            switch self {
            case .fails: 0
            case .degraded: 1
            case .paused: 2
            case .unknown: 3
            }
        }

        package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
    }

    /// One thing that does not work.
    package struct Finding: Sendable, Equatable {
        /// The subject, the same in every document: `app/NAME`, `lane/NAME`, `topic/NAME`, `ring/NAME`, `worker/PART`.
        package var subject: String
        package var effect: Effect
        package var what: String
        /// The users or apps that it concerns; empty for none.
        package var affected = ""
        package var since: UnixTime?
        /// The time of the next probe of a suspension, or the end of a pause; nil where nobody set one.
        package var until: UnixTime?
        /// The first command; empty for none.
        package var command = ""
        /// The section of OPERATION.md, the name of an alert.
        package var runbook = ""

        package init(
            _ subject: String, _ effect: Effect, _ what: String, affected: String = "", since: UnixTime? = nil,
            until: UnixTime? = nil, command: String = "", runbook: String = ""
        ) {
            self.subject = subject
            self.effect = effect
            self.what = what
            self.affected = affected
            self.since = since
            self.until = until
            self.command = command
            self.runbook = runbook
        }
    }

    /// The findings, from the worst on.
    package let findings: [Finding]
    /// The number of further findings.
    package let more: Int

    /// Orders `findings` by effect, each effect in the given order.
    package init(_ findings: [Finding]) {
        let sorted = findings.enumerated().sorted { ($0.element.effect, $0.offset) < ($1.element.effect, $1.offset) }
        self.findings = sorted.prefix(Self.most).map(\.element)
        more = max(0, findings.count - Self.most)
    }

    /// The state in a word: works, or the worst effect.
    package var state: String { findings.first?.effect.rawValue ?? "works" }

    /// Writes the member `verdict`.
    package func write(to json: inout JSONWriter) {
        json.name("verdict")
        json.beginObject()
        json.member("state", state)
        json.name("findings")
        json.beginArray()
        for finding in findings { finding.write(to: &json) }
        json.endArray()
        json.member("more", Int64(more))
        json.endObject()
    }
}

extension Verdict.Finding {
    /// Returns the finding about an app whose events wait.
    ///
    /// - Parameter nextProbe: the time of the worker's next probe; nil where it is unknown.
    package static func app(_ suspension: Suspension, nextProbe: UnixTime? = nil) -> Self {
        let name = suspension.app
        guard suspension.cause == .suspended else {
            return Self(
                "app/\(name)", .paused, "\(name) is paused\(note(suspension.by, suspension.why))",
                affected: "all users of \(name)", since: suspension.since, until: suspension.until,
                command: "remint apps resume \(name)", runbook: "RemintAppPaused")
        }
        let key = suspension.keyVersion.map { " \($0)" } ?? ""
        let affected =
            suspension.reach == .everyone
            ? "all users of \(name)" : "\(suspension.users.of("user")) of \(name)"
        return Self(
            "app/\(name)", .fails, "\(name) is suspended: its vendor refuses the key\(key)\(note("", suspension.why))",
            affected: affected, since: suspension.since, until: nextProbe, command: "remint apps list",
            runbook: "RemintAppSuspended")
    }

    package static func lane(_ pause: LanePause) -> Self {
        let affected =
            switch pause.lane {
            case .live: "all users"
            case .retries: "users whose events wait for another attempt"
            case .bulk: "re-issue jobs and campaigns"
            }
        return Self(
            "lane/\(pause.lane.rawValue)", .paused,
            "the \(pause.lane.rawValue) lane is paused\(note(pause.by, pause.why))", affected: affected,
            since: pause.since,
            until: pause.until, command: "remint lanes resume \(pause.lane.rawValue)", runbook: "RemintLanePaused")
    }

    private static func note(_ by: String, _ why: String) -> String {
        (by.isEmpty ? "" : " by \(by)") + (why.isEmpty ? "" : ": \(why)")
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("subject", subject)
        json.member("effect", effect.rawValue)
        json.member("what", what)
        if !affected.isEmpty { json.member("affected", affected) }
        if let since { json.member("since", since.description) }
        if let until { json.member("until", until.description) }
        if !command.isEmpty { json.member("command", command) }
        if !runbook.isEmpty { json.member("runbook", runbook) }
        json.endObject()
    }
}

// MARK: The fleet's verdict

extension FleetStatus {
    /// The time without a commit after which a lane with waiting events counts as stalled. Workers commit several times a second.
    private static let stalledAfter: Int64 = 120

    package var verdict: Verdict {
        var findings = missing.map { topic in
            Verdict.Finding(
                "topic/\(topic)", .fails, "the topic \(topic) does not exist or may not be seen", affected: "all apps",
                command: "remint topics create", runbook: "RemintNotReady")
        }
        findings += lanes.compactMap { finding($0) }
        findings += apps.compactMap { app in app.suspension.map { .app($0) } }
        for ring in rings {
            let users = apps.filter { $0.keyRing == ring.name }.map(\.name)
            let affected =
                users.prefix(3).joined(separator: ", ") + (users.count > 3 ? " and \(users.count - 3) more" : "")
            if let problem = ring.problem {
                findings.append(
                    .init(
                        "ring/\(ring.name)", .fails, "\(ring.name): \(problem)", affected: affected,
                        command: "remint check", runbook: "RemintNotReady"))
            }
            for end in ring.ends {
                guard let warning = end.warning(at: at) else { continue }
                findings.append(
                    .init(
                        "ring/\(ring.name)", end.stage(at: at) == .over ? .fails : .degraded, warning,
                        affected: affected,
                        until: end.end, command: "\(RemintCommand("rotate prepare", ring: ring.name))",
                        runbook: "RemintKeyRetires"))
            }
            guard let campaign = ring.campaign, !campaign.phase.isOver, let pause = campaign.pause else { continue }
            findings.append(
                .init(
                    "campaign/\(ring.name)", .paused, "the campaign of \(ring.name) is paused: \(pause)",
                    affected: affected, since: campaign.begun,
                    command: "\(RemintCommand("rotate status", ring: ring.name))",
                    runbook: "RemintCampaignPaused"))
        }
        findings += keyProblems.map { .init("keys", .fails, $0, command: "remint check", runbook: "RemintNotReady") }
        findings += problems.map { .init("status", .unknown, $0) }
        return Verdict(findings)
    }

    /// Returns whether events of `lane` wait and no worker has committed any for two minutes. Retries wait for the delay
    /// of their tier.
    package func isStalled(_ lane: LaneState) -> Bool {
        guard lane.lane != .retries, lane.pause == nil, let lag = lane.lag, lag > 0, let committed = lane.committed
        else {
            return false
        }
        let limit = at.advanced(bySeconds: -Self.stalledAfter)
        // Few offsets that nobody could read may be marks of transactions.
        return committed < limit && (lane.oldest.map { $0 < limit } ?? (lag > FleetReader.mostRead))
    }

    private func finding(_ lane: LaneState) -> Verdict.Finding? {
        let name = lane.lane.rawValue
        if let pause = lane.pause { return .lane(pause) }
        guard !lane.topics.contains(where: { $0.partitions == 0 }) else { return nil }
        let (affected, effect): (String, Verdict.Effect) = lane.lane == .live ? ("all apps", .fails) : ("", .degraded)
        if let group = lane.members {
            let all = lane.topics.reduce(0) { $0 + $1.partitions }
            let without = all - group.members.reduce(0) { $0 + $1.partitions.count }
            if group.members.isEmpty {
                return .init(
                    "lane/\(name)", effect, "no worker consumes the \(name) lane", affected: affected,
                    since: lane.committed,
                    command: "systemctl status remint", runbook: "RemintNoWorker")
            }
            if group.state == "Stable", without > 0 {
                return .init(
                    "lane/\(name)", effect, "\(without) of \(all.of("partition")) of the \(name) lane have no worker",
                    affected: lane.lane == .live ? "the users of these partitions" : "",
                    command: "remint check --connect",
                    runbook: "RemintNotReady")
            }
        }
        guard isStalled(lane) else { return nil }
        return .init(
            "lane/\(name)", effect,
            "the \(name) lane is stalled: \((lane.lag ?? 0).of("event waits", "events wait")), and no worker finishes any",
            affected: affected, since: lane.committed, command: "remint check --connect",
            runbook: "RemintLiveEventsWait")
    }
}
