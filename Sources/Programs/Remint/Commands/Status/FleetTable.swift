import AdapterKit
import Formats
import Kafka
import Keyring
import Operations
import Pipeline
import Worker
import YAMLReading

/// A fleet's status as lines for people, none longer than 99 characters but for the reasons that people gave.
struct FleetTable {
    /// A line of the table.
    struct Line {
        let words: String
        var isHeading = false

        /// Returns the line's text; in a terminal, headings are emphasized.
        func text(inTerminal isTerminal: Bool) -> String {
            isHeading && isTerminal ? "\u{1B}[1m\(words)\u{1B}[0m" : words
        }
    }

    /// The lines from first to last.
    private(set) var lines: [Line] = []
    private let status: FleetStatus

    init(_ status: FleetStatus, brokers: String) {
        self.status = status
        say("\(status.group.printable(limit: 40)) at \(brokers.printable(limit: 30)), \(status.at)", isHeading: true)
        add(status.verdict)
        addLanes()
        addWorkers()
        addApps()
        addRings()
    }

    // MARK: Parts

    private mutating func add(_ verdict: Verdict) {
        guard !verdict.findings.isEmpty else { return say("works: nothing is known to be wrong") }
        for finding in verdict.findings {
            let affected = finding.affected.isEmpty ? "" : " for \(finding.affected.printable(limit: 60))"
            say(
                "\(finding.effect.rawValue)\(affected): \(finding.what.printable(limit: 300))",
                isHeading: finding.effect == .fails)
            let parts = [
                finding.since.map { "since \($0)" }, finding.until.map { "until \($0)" },
                finding.command.isEmpty ? nil : "first: \(finding.command)",
                finding.runbook.isEmpty ? nil : "OPERATION.md, \(finding.runbook)",
            ]
            let rest = parts.compactMap(\.self)
            if !rest.isEmpty { say("  \(rest.joined(separator: "; "))") }
        }
        if verdict.more > 0 { say("and \(verdict.more) more: --json") }
    }

    private mutating func addLanes() {
        var table = TextTable("LANE", "TOPIC", "PARTITIONS", "WAITING", "STATE")
        for lane in status.lanes {
            for topic in lane.topics { add(topic, lane.lane.rawValue, state(of: lane, topic), to: &table) }
        }
        add(status.deadLetters, "dead letters", status.deadLetters.partitions == 0 ? "missing" : "-", to: &table)
        if let parked = status.parkedLetters { add(parked, "parked", "-", to: &table) }
        begin(table)
    }

    private func add(_ topic: FleetStatus.Topic, _ lane: String, _ state: String, to table: inout TextTable) {
        table.add(
            lane, topic.name.printable(limit: 40), String(topic.partitions),
            topic.waiting.map { topic.isUpperBound ? "<= \($0)" : String($0) } ?? "?",
            state)
    }

    private func state(of lane: FleetStatus.LaneState, _ topic: FleetStatus.Topic) -> String {
        if topic.partitions == 0 { return "missing" }
        if lane.pause != nil { return "paused" }
        guard let group = lane.members else { return "?" }
        if group.members.isEmpty { return "no worker" }
        if status.isStalled(lane) { return "stalled" }
        return group.state == "Stable" ? "consumed" : "rebalancing"
    }

    private mutating func addWorkers() {
        guard status.lanes.contains(where: { $0.members != nil }) else { return }
        var table = TextTable(
            "WORKER", "HOST", "WORKERS", "LIVE PARTITIONS", "RETRIES", "BULK", "LAST COMMIT")
        for worker in status.workers {
            let counts = worker.partitions.map(String.init) + ["-", "-", "-"]
            table.add(
                (worker.name.isEmpty ? worker.clientID : worker.name).printable(limit: 40),
                worker.host.printable(limit: 24), String(worker.count), counts[0], counts[1], counts[2],
                worker.committed.map { "\(Self.age(status.at.seconds - $0.seconds)) ago" } ?? "-")
        }
        guard !table.rows.isEmpty else { return say("no worker is there", isHeading: true, afterGap: true) }
        begin(table)
    }

    private mutating func addApps() {
        let waiting = status.apps.filter { $0.suspension != nil }
        let lags = status.lanes.map(\.lag)
        let events =
            lags.contains(nil)
            ? "an unknown number of events waits"
            : lags.compactMap(\.self).reduce(0, +).of("event waits", "events wait")
        say(
            "\(status.apps.count.of("app")), \(waiting.isEmpty ? "none" : String(waiting.count)) suspended or paused; \(events)",
            isHeading: true, afterGap: true)
    }

    private mutating func addRings() {
        guard !status.rings.isEmpty else { return }
        var table = TextTable("KEY RING", "VERSION", "STATE", "ALGORITHM", "AGE", "RETIRES IN")
        for ring in status.rings {
            let name = ring.name.printable(limit: 24)
            if ring.problem != nil { table.add(name, "-", "unreadable", "-", "-", "-") }
            if ring.isBehindSigner { table.add(name, "-", "at the signer", "-", "-", "-") }
            for version in ring.versions {
                let age = (version.activated ?? version.created).map { Self.age(status.at.seconds - $0.seconds) }
                let left =
                    version.state.verifies ? version.retireAfter.map { Self.left(at: status.at, until: $0) } : nil
                table.add(
                    name, version.id.printable(limit: 24), version.state.rawValue, version.algorithm.rawValue,
                    age ?? "-", left ?? "-")
            }
        }
        begin(table)
        for ring in status.rings {
            guard let campaign = ring.campaign else { continue }
            let pause = campaign.pause.map { ", paused: \($0.printable())" } ?? ""
            say(
                "campaign of \(ring.name.printable(limit: 30)): from \(campaign.from) to \(campaign.to), \(campaign.phase.rawValue) since \(campaign.begun)\(pause)"
            )
        }
    }

    // MARK: Words

    private mutating func begin(_ table: TextTable) {
        lines.append(Line(words: ""))
        for (index, line) in table.lines.enumerated() { lines.append(Line(words: line, isHeading: index == 0)) }
    }

    private mutating func say(_ words: String, isHeading: Bool = false, afterGap: Bool = false) {
        if afterGap { lines.append(Line(words: "")) }
        lines.append(Line(words: words, isHeading: isHeading))
    }

    /// Returns the time until `end` in its largest whole unit.
    private static func left(at now: UnixTime, until end: UnixTime) -> String {
        end <= now ? "over" : age(end.seconds - now.seconds)
    }

    /// Returns an age in its largest whole unit.
    private static func age(_ seconds: Int64) -> String {
        let seconds = max(0, seconds)
        for (unit, length) in [("d", Int64(86_400)), ("h", 3600), ("m", 60)] where seconds >= 2 * length {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }
}
