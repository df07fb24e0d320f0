package import AdapterKit
import JOSE
import Keyring
import Operations
import Pipeline
import Telemetry

extension StatusReport {
    /// The report as `/status` answers it.
    var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("shape", Self.shape)
        json.member("at", at.description)
        verdict.write(to: &json)
        write(worker, to: &json)
        write(rates, to: &json)
        json.object("recent") { json in write(recent, to: &json) }
        json.array("lanes", lanes) { lane, json in write(lane, to: &json) }
        write(outcomes, "outcomes", to: &json)
        write(unattributed, "unattributed", to: &json)
        json.counts("unattributed_dead_letters", unattributedDeadLetters)
        let shown = busiestApps
        json.member("apps_left_out", Int64(apps.count - shown.count))
        json.array("apps", shown) { app, json in
            app.status.write(to: &json)
            write(app.outcomes, "outcomes", to: &json)
            if !app.deadLetters.isEmpty { json.counts("dead_letters", app.deadLetters) }
            if let recent = recent.apps[app.status.name] {
                json.object("recent") { json in recent.write(to: &json) }
            }
        }
        rings.write(to: &json, at: at)
        json.array("lookups", lookups) { account, json in
            json.member("account", account.account)
            json.member("circuit", account.circuit)
            json.member("queued", Int64(account.queued))
            json.member("in_flight", Int64(account.inFlight))
        }
        json.endObject()
        return json.bytes
    }

    /// The apps whose events wait, and the ones with the most recent events, in the order of the configuration.
    private var busiestApps: [App] {
        guard apps.count > Self.mostApps else { return apps }
        let order = apps.indices.sorted { left, right in
            func rank(_ place: Int) -> (Int, Int, Int) {
                let app = apps[place].status
                return (app.suspension == nil ? 1 : 0, -(recent.apps[app.name]?.quarterHour.ended ?? 0), place)
            }
            return rank(left) < rank(right)
        }
        return order.prefix(Self.mostApps).sorted().map { apps[$0] }
    }

    private func write(_ worker: Worker, to json: inout JSONWriter) {
        json.object("worker") { json in
            json.member("name", worker.name)
            json.member("group", worker.group)
            if worker.build != BuildInfo() {
                json.member("version", worker.build.version)
                json.member("build", worker.build.description)
            }
            json.member("started", worker.started.description)
            json.member("uptime_seconds", max(0, at.seconds - worker.started.seconds))
            json.member("state", worker.state)
            if let runbook = worker.runbook { json.member("runbook", runbook) }
            json.member("seconds_since_heartbeat", worker.sinceHeartbeat)
            json.object("problems") { json in
                for (dependency, problem) in worker.problems.sorted(by: { $0.key < $1.key }) {
                    json.member(dependency.rawValue, problem)
                }
            }
            json.object("degraded") { json in
                for (part, reason) in worker.degraded.sorted(by: { $0.key < $1.key }) {
                    json.member(part.rawValue, reason)
                }
            }
        }
    }

    private func write(_ rates: Rates, to json: inout JSONWriter) {
        json.object("rates") { json in
            json.member("seconds", rates.seconds)
            json.member("ended", rates.ended)
            json.member("minted", rates.minted)
            json.integers("ended_by_second", rates.endedBySecond)
            json.integers("minted_by_second", rates.mintedBySecond)
            json.integers("dead_lettered_by_second", rates.deadLetteredBySecond)
        }
    }

    private func write(_ recent: Recent, to json: inout JSONWriter) {
        for (name, window) in [
            ("minute", recent.minute), ("quarter_hour", recent.quarterHour), ("hour", recent.hour),
        ] {
            json.object(name) { json in
                json.member("seconds", window.seconds)
                window.tally.write(to: &json)
            }
        }
        json.object("by_minute") { json in
            json.integers("ended", recent.byMinute.ended)
            json.integers("minted", recent.byMinute.minted)
            json.integers("dead_lettered", recent.byMinute.deadLettered)
        }
        let letters = recent.deadLetters.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        json.array("dead_letters", letters) { letter, json in
            json.member("code", letter.key)
            json.member("count", Int64(letter.value))
            json.member("meaning", ErrorCode(rawValue: letter.key)?.summary ?? "")
        }
        json.object("unattributed") { json in unattributedRecent.write(to: &json) }
    }

    private func write(_ flow: LaneFlow, to json: inout JSONWriter) {
        json.member("lane", flow.lane.rawValue)
        json.member("taken", Int64(flow.taken))
        json.member("taken_per_second", flow.takenPerSecond)
        json.member("queued", Int64(flow.queued))
        json.member("lag", Int64(flow.lag))
        json.member("partitions", Int64(flow.partitions))
        json.member("oldest_seconds", flow.oldest)
        if let latency = flow.latency {
            json.object("latency") { json in
                json.member("p50", latency.median)
                json.member("p99", latency.p99)
                json.member("count", Int64(latency.count))
            }
        }
        guard let pause = flow.pause else { return }
        json.object("paused") { json in pause.write(to: &json) }
    }

    private func write(_ outcomes: Outcomes, _ name: String, to json: inout JSONWriter) {
        json.object(name) { json in
            for (name, count) in zip(Outcomes.names, outcomes.counts) { json.member(name, Int64(count)) }
        }
    }
}

extension StatusReport.Recent.Tally {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("ended", Int64(ended))
        json.member("minted", Int64(minted))
        json.member("dead_lettered", Int64(deadLettered))
    }
}

extension StatusReport.Recent.App {
    fileprivate func write(to json: inout JSONWriter) {
        json.object("minute") { json in minute.write(to: &json) }
        json.object("quarter_hour") { json in quarterHour.write(to: &json) }
        json.counts("dead_letters", deadLetters.filter { $0.value > 0 })
    }
}

extension [RingReport] {
    /// Writes the members `rings` and `campaigns`, in `/status` as in `remint status`.
    package func write(to json: inout JSONWriter, at now: UnixTime) {
        json.array("rings", self) { ring, json in ring.write(to: &json, at: now) }
        let campaigns = compactMap { ring in ring.campaign.map { (ring: ring.name, campaign: $0) } }
        json.array("campaigns", campaigns) { entry, json in entry.campaign.write(of: entry.ring, to: &json) }
    }
}

extension RingReport {
    fileprivate func write(to json: inout JSONWriter, at now: UnixTime) {
        json.member("ring", name)
        json.member("source", isBehindSigner ? "signer" : "folder")
        if let problem { json.member("problem", problem) }
        let warnings = ends.compactMap { $0.warning(at: now) }
        if !warnings.isEmpty { json.member("warning", warnings.joined(separator: "; ")) }
        json.array("versions", versions) { version, json in
            json.member("id", version.id)
            json.member("state", version.state.rawValue)
            json.member("algorithm", version.algorithm.rawValue)
            if let created = version.created { json.member("created", created.description) }
            if let activated = version.activated { json.member("activated", activated.description) }
            if let retireAfter = version.retireAfter { json.member("retire_after", retireAfter.description) }
            guard let since = version.activated ?? version.created else { return }
            json.member("age_seconds", Swift.max(0, now.seconds - since.seconds))
        }
    }
}

extension Rotation {
    fileprivate func write(of ring: String, to json: inout JSONWriter) {
        json.member("ring", ring)
        json.member("id", id)
        json.member("kind", kind.rawValue)
        json.member("from", from)
        json.member("to", to)
        json.member("phase", phase.rawValue)
        json.member("begun", begun.description)
        if let pause { json.member("paused", pause) }
    }
}

extension WorkerStatus.AppStatus {
    /// Writes the members of the app's object, in `/status` as in `/apps`.
    package func write(to json: inout JSONWriter) {
        json.member("app", name)
        json.member("adapter", adapter)
        json.member("key_ring", keyRing)
        if let keyVersion { json.member("key_version", keyVersion) }
        json.member("state", suspension?.cause.rawValue ?? "active")
        guard let suspension else { return }
        if suspension.cause == .suspended { json.member("reach", suspension.reach.rawValue) }
        json.member("suspended_since", suspension.since.description)
        if let nextProbe { json.member("next_probe", nextProbe.description) }
        if let until = suspension.until { json.member("suspended_until", until.description) }
        json.member("refusing_users", Int64(suspension.users))
        if let version = suspension.keyVersion { json.member("refused_key_version", version) }
        json.member("by", suspension.by)
        json.member("why", suspension.why)
    }
}

extension JSONWriter {
    /// Writes a number to the thousandth; 0 for one without a form in JSON.
    fileprivate mutating func member(_ name: String, _ number: Double) {
        self.name(name)
        let thousandths = (number * 1000).rounded()
        raw(thousandths.isFinite && abs(thousandths) < 1e15 ? "\(thousandths / 1000)" : "0")
    }

    fileprivate mutating func integers(_ name: String, _ numbers: [Int]) {
        self.name(name)
        beginArray()
        for number in numbers { integer(Int64(number)) }
        endArray()
    }

    fileprivate mutating func counts(_ name: String, _ counts: [String: Int]) {
        object(name) { json in
            for (name, count) in counts.sorted(by: { $0.key < $1.key }) { json.member(name, Int64(count)) }
        }
    }

    package mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
        self.name(name)
        beginObject()
        body(&self)
        endObject()
    }

    /// Writes an array of objects, one for each of `elements`.
    package mutating func array<Element>(
        _ name: String, _ elements: [Element], _ body: (Element, inout JSONWriter) -> Void
    ) {
        self.name(name)
        beginArray()
        for element in elements {
            beginObject()
            body(element, &self)
            endObject()
        }
        endArray()
    }
}
