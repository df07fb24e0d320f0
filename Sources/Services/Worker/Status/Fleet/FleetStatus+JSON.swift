import AdapterKit
import Kafka
import Keyring
package import Operations
import Pipeline

extension FleetStatus {
    /// The version of the shape. Members may be added to it; one that is taken away or comes to mean something else makes it the next.
    private static let shape: Int64 = 1

    /// Returns the status as `remint status --json` prints it and `/fleet` answers it.
    ///
    /// - Parameter mostApps: the most apps in it; those whose events wait come first.
    package func json(mostApps: Int = .max) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("shape", Self.shape)
        json.member("at", at.description)
        json.member("group", group)
        json.array("lanes", lanes) { lane, json in lane.write(isStalled: isStalled(lane), to: &json) }
        json.object("dead_letters") { json in deadLetters.write(to: &json) }
        if let parkedLetters { json.object("parked_letters") { json in parkedLetters.write(to: &json) } }
        json.array("workers", workers) { worker, json in
            if !worker.name.isEmpty { json.member("name", worker.name) }
            json.member("client_id", worker.clientID)
            json.member("host", worker.host)
            json.member("workers", Int64(worker.count))
            if let committed = worker.committed { json.member("last_commit", committed.description) }
            json.object("partitions") { json in
                for (lane, count) in zip(lanes, worker.partitions) { json.member(lane.lane.rawValue, Int64(count)) }
            }
        }
        let isWhole = apps.count <= mostApps
        let shown =
            isWhole
            ? apps
            : Array((apps.filter { $0.suspension != nil } + apps.filter { $0.suspension == nil }).prefix(mostApps))
        json.member("apps_left_out", Int64(apps.count - shown.count))
        json.array("apps", shown) { app, json in
            let status = WorkerStatus.AppStatus(
                name: app.name, adapter: app.adapter, keyRing: app.keyRing, keyVersion: nil, suspension: app.suspension)
            status.write(to: &json)
        }
        rings.write(to: &json, at: at)
        verdict.write(to: &json)
        json.name("problems")
        json.beginArray()
        for topic in missing { json.string("the topic \(topic) does not exist or may not be seen") }
        for problem in keyProblems + problems { json.string(problem) }
        json.endArray()
        json.endObject()
        return json.bytes
    }
}

extension FleetStatus.LaneState {
    fileprivate func write(isStalled: Bool, to json: inout JSONWriter) {
        json.member("lane", lane.rawValue)
        json.member("group", group)
        json.member("state", pause != nil ? "paused" : isStalled ? "stalled" : "active")
        if let pause { json.object("paused") { json in pause.write(to: &json) } }
        if let lag { json.member("lag", lag) }
        if let oldest { json.member("oldest", oldest.description) }
        if let committed { json.member("last_commit", committed.description) }
        json.array("topics", topics) { topic, json in topic.write(to: &json) }
        guard let members else { return }
        json.member("group_state", members.state)
        json.array("members", members.members) { member, json in
            json.member("id", member.id)
            json.member("client_id", member.clientID)
            json.member("host", member.host)
            json.member("partitions", Int64(member.partitions.count))
        }
    }
}

extension FleetStatus.Topic {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("topic", name)
        json.member("partitions", Int64(partitions))
        if let waiting { json.member("waiting", waiting) }
        if isUpperBound {
            json.name("waiting_is_upper_bound")
            json.bool(true)
        }
    }
}
