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
        addLanes()
        addWorkers()
        addApps()
        addRings()
        addProblems()
    }

    // MARK: Parts

    private mutating func addLanes() {
        var table = TextTable("LANE", "TOPIC", "PARTITIONS", "WAITING", "STATE")
        for lane in status.lanes {
            for topic in lane.topics { add(topic, lane.lane.rawValue, Self.state(of: lane, topic), to: &table) }
        }
        add(status.deadLetters, "dead letters", status.deadLetters.partitions == 0 ? "missing" : "-", to: &table)
        if let parked = status.parkedLetters { add(parked, "parked", "-", to: &table) }
        begin(table)
        for pause in status.lanes.compactMap(\.pause) {
            say(
                Self.hold("the \(pause.lane.rawValue) lane is paused", pause.since, pause.until, pause.by, pause.why))
        }
    }

    private func add(_ topic: FleetStatus.Topic, _ lane: String, _ state: String, to table: inout TextTable) {
        table.add(
            lane, topic.name.printable(limit: 40), String(topic.partitions),
            topic.waiting.map { topic.isUpperBound ? "<= \($0)" : String($0) } ?? "?",
            state)
    }

    private static func state(of lane: FleetStatus.LaneState, _ topic: FleetStatus.Topic) -> String {
        if topic.partitions == 0 { return "missing" }
        if lane.pause != nil { return "paused" }
        guard let group = lane.members else { return "?" }
        if group.members.isEmpty { return "no worker" }
        return group.state == "Stable" ? "taken from" : "rebalancing"
    }

    private mutating func addWorkers() {
        guard status.lanes.contains(where: { $0.members != nil }) else { return }
        var table = TextTable(
            "CLIENT", "HOST", "WORKERS", "LIVE PARTITIONS", "RETRIES", "BULK")
        for worker in status.workers {
            let counts = worker.partitions.map(String.init) + ["-", "-", "-"]
            table.add(
                worker.clientID.printable(limit: 30), worker.host.printable(limit: 24), String(worker.count), counts[0],
                counts[1], counts[2])
        }
        guard !table.rows.isEmpty else { return say("no worker is there", isHeading: true, afterGap: true) }
        begin(table)
    }

    private mutating func addApps() {
        let waiting = status.apps.filter { $0.suspension != nil }
        let count = status.apps.count.of("app")
        say(
            "\(count), \(waiting.isEmpty ? "none" : String(waiting.count)) waiting", isHeading: true,
            afterGap: true)
        for app in waiting {
            guard let suspension = app.suspension else { continue }
            say(
                Self.hold(
                    "\(app.name.printable(limit: 40)) is \(suspension.cause.rawValue)", suspension.since,
                    suspension.until, suspension.by, suspension.why))
        }
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
            if let problem = ring.problem { say("\(ring.name.printable(limit: 30)): \(problem.printable())") }
            for end in ring.ends {
                if let warning = end.warning(at: status.at) { say(warning.printable()) }
            }
            guard let campaign = ring.campaign else { continue }
            let pause = campaign.pause.map { ", paused: \($0.printable())" } ?? ""
            say(
                "campaign of \(ring.name.printable(limit: 30)): from \(campaign.from) to \(campaign.to), \(campaign.phase.rawValue) since \(campaign.begun)\(pause)"
            )
        }
    }

    private mutating func addProblems() {
        guard !status.problems.isEmpty else { return }
        say("problems", isHeading: true, afterGap: true)
        for problem in status.problems { say(problem.printable(limit: 300)) }
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

    private static func hold(
        _ what: String, _ since: UnixTime, _ until: UnixTime?, _ by: String, _ why: String
    ) -> String {
        let end = until.map { " until \($0)" } ?? ""
        let author = by.isEmpty ? "" : " by \(by.printable(limit: 40))"
        let reason = why.isEmpty ? "" : ": \(why.printable(limit: 300))"
        return "\(what) since \(since)\(end)\(author)\(reason)"
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
