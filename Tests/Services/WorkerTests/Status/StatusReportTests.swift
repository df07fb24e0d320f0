import AdapterKit
import Foundation
import JOSE
import Keyring
import Telemetry
import Testing
import WorkerTestSupport

@testable import Pipeline
@testable import Worker
@testable import WorkerConfiguration

/// Tests of the answer of `/status`.
@Suite("The status report")
struct StatusReportTests {
    private func object(_ reporter: StatusReporter) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(reporter.report().json)) as? [String: Any])
    }

    private func settlement(_ app: String?, _ outcome: Outcome) -> Settlement {
        Settlement(
            origin: RecordPosition(topic: "t", partition: 0, offset: 0), eventID: nil, app: app, outcome: outcome,
            output: nil, algorithm: nil)
    }

    @Test func `the status report has shape 1 with fixed members`() throws {
        let object = try object(StatusReporter())
        #expect(object["shape"] as? Int == 1)
        #expect(
            object.keys.sorted() == [
                "apps", "apps_left_out", "at", "campaigns", "lanes", "lookups", "outcomes", "rates", "recent", "rings",
                "shape",
                "unattributed", "unattributed_dead_letters", "verdict", "worker",
            ])
        #expect(object["at"] as? String == Events.now.description)
        let worker = try #require(object["worker"] as? [String: Any])
        #expect(
            worker.keys.sorted() == [
                "degraded", "group", "name", "problems", "seconds_since_heartbeat", "started", "state",
                "uptime_seconds",
            ])
        #expect(worker["state"] as? String == "not_ready")
        #expect(worker["problems"] as? [String: String] == ["worker": "it is starting"])
        let rates = try #require(object["rates"] as? [String: Any])
        #expect(
            rates.keys.sorted() == [
                "dead_lettered_by_second", "ended", "ended_by_second", "minted", "minted_by_second", "seconds",
            ])
        let recent = try #require(object["recent"] as? [String: Any])
        #expect(
            recent.keys.sorted() == [
                "by_minute", "dead_letters", "hour", "minute", "quarter_hour", "unattributed",
            ])
        let lanes = try #require(object["lanes"] as? [[String: Any]])
        #expect(lanes.map { $0["lane"] as? String } == Lane.allCases.map(\.rawValue))
        #expect(
            lanes[0].keys.sorted() == [
                "lag", "lane", "oldest_seconds", "partitions", "queued", "taken", "taken_per_second",
            ])
        #expect(object["outcomes"] as? [String: Int] == Self.outcomes())
    }

    private static func outcomes(minted: Int = 0, skipped: Int = 0, dead: Int = 0) -> [String: Int] {
        ["minted": minted, "superseded": 0, "skipped": skipped, "deferred": 0, "dead_lettered": dead]
    }

    @Test func `the status report counts by app, and separately for unknown apps`() throws {
        let (status, metrics) = (WorkerStatus(), WorkerMetrics())
        status.set(name: "w-1")
        status.set(.worker, nil)
        let suspension = Suspension(
            app: "ill", since: UnixTime(seconds: 0), by: "w-1", why: "\"refused\"\n", users: 3, keyVersion: "k1")
        status.set([
            .init(name: "ill", adapter: "braze", keyRing: "r", keyVersion: "k1", suspension: suspension),
            .init(name: "well", adapter: "infobip", keyRing: "r", keyVersion: nil, suspension: nil),
        ])
        let reporter = StatusReporter(status: status, metrics: metrics)
        metrics.ends.count([
            settlement("well", .minted), settlement("well", .minted), settlement("ill", .skipped("why")),
            settlement("ill", .deadLettered(.unknownApp)), settlement(nil, .deadLettered(.unknownApp)),
        ])
        let object = try object(reporter)
        #expect(object["outcomes"] as? [String: Int] == Self.outcomes(minted: 2, skipped: 1, dead: 2))
        #expect(object["unattributed"] as? [String: Int] == Self.outcomes(dead: 1))
        let worker = try #require(object["worker"] as? [String: Any])
        #expect(worker["name"] as? String == "w-1")
        #expect(worker["state"] as? String == "ready")
        let apps = try #require(object["apps"] as? [[String: Any]])
        #expect(apps.map { $0["app"] as? String } == ["ill", "well"])
        #expect(apps.map { $0["state"] as? String } == ["suspended", "active"])
        #expect(apps[0]["outcomes"] as? [String: Int] == Self.outcomes(skipped: 1, dead: 1))
        #expect(apps[0]["dead_letters"] as? [String: Int] == ["unknown_app": 1])
        #expect(apps[0]["why"] as? String == "\"refused\"\n")
        #expect(apps[0]["by"] as? String == "w-1")
        #expect(apps[1]["outcomes"] as? [String: Int] == Self.outcomes(minted: 2))
        #expect(apps[1]["dead_letters"] == nil)
    }

    @Test func `of very many apps, the status has those that wait and the busiest`() throws {
        let (status, metrics) = (WorkerStatus(), WorkerMetrics())
        status.set(
            (0..<1200).map { number in
                let suspension = number == 1199 ? Suspension(app: "app-1199", since: UnixTime(seconds: 0)) : nil
                return .init(
                    name: "app-\(number)", adapter: "braze", keyRing: "r", keyVersion: nil, suspension: suspension)
            })
        let reporter = StatusReporter(status: status, metrics: metrics)
        reporter.note(at: .now - .seconds(60))
        metrics.ends.count([settlement("app-1100", .minted)])
        let report = try object(reporter)
        let names = try #require(report["apps"] as? [[String: Any]]).compactMap { $0["app"] as? String }
        #expect(names.count == 1000 && names.suffix(2) == ["app-1100", "app-1199"])
        #expect(report["apps_left_out"] as? Int == 200)
    }

    @Test func `the status report has the program's version and build, where they are known`() throws {
        let build = BuildInfo(version: "1.2.3", kind: "release", librdkafka: "2")
        let worker = try #require(try object(StatusReporter(build: build))["worker"] as? [String: Any])
        #expect(worker["version"] as? String == "1.2.3")
        #expect(worker["build"] as? String == "release, commit unknown, Swift unknown, librdkafka 2, OpenSSL unknown")
        #expect(worker["uptime_seconds"] as? Int == 0)
    }

    @Test func `a code of unknown apps that no dead letter has is not reported`() throws {
        let metrics = WorkerMetrics()
        metrics.begin([])
        #expect(metrics.outcomeCounts.contains { $0.code == "unknown_app" && $0.count == 0 })
        let object = try object(StatusReporter(metrics: metrics))
        #expect((object["unattributed_dead_letters"] as? [String: Int])?.isEmpty == true)
    }

    @Test func `recent events have their app, and dead letters of the last hour their meaning`() throws {
        let (status, metrics) = (WorkerStatus(), WorkerMetrics())
        status.set([.init(name: "a", adapter: "braze", keyRing: "r", keyVersion: nil, suspension: nil)])
        let reporter = StatusReporter(status: status, metrics: metrics)
        metrics.ends.count([settlement("a", .deadLettered(.keyUnavailable))])
        let start = ContinuousClock.now - .seconds(1800)
        reporter.note(at: start)
        metrics.ends.count([settlement("a", .minted), settlement("a", .deadLettered(.keyUnavailable))])
        metrics.ends.count([settlement(nil, .deadLettered(.unknownApp)), settlement("gone", .minted)])
        reporter.note(at: start + .seconds(1790))
        metrics.ends.count([settlement("a", .minted)])
        let object = try object(reporter)
        let recent = try #require(object["recent"] as? [String: Any])
        #expect((recent["minute"] as? [String: Any])?["ended"] as? Int == 1)
        let hour = try #require(recent["hour"] as? [String: Any])
        #expect(hour["ended"] as? Int == 5 && hour["minted"] as? Int == 3 && hour["dead_lettered"] as? Int == 2)
        let letters = try #require(recent["dead_letters"] as? [[String: Any]])
        #expect(letters.map { $0["code"] as? String } == ["key_unavailable", "unknown_app"], "not the one before it")
        #expect(letters.map { $0["count"] as? Int } == [1, 1])
        #expect(letters[1]["meaning"] as? String == ErrorCode.unknownApp.summary)
        let strays = try #require(recent["unattributed"] as? [String: Any])
        #expect(strays["dead_letters"] as? [String: Int] == ["unknown_app": 1])
        #expect(object["unattributed_dead_letters"] as? [String: Int] == ["unknown_app": 1])
        let app = try #require((object["apps"] as? [[String: Any]])?.first?["recent"] as? [String: Any])
        #expect((app["minute"] as? [String: Any])?["minted"] as? Int == 1)
        #expect(app["dead_letters"] as? [String: Int] == ["key_unavailable": 1])
    }

    @Test func `lanes have their rate, lag, age and latencies`() throws {
        let metrics = WorkerMetrics()
        let reporter = StatusReporter(metrics: metrics)
        let start = ContinuousClock.now
        reporter.note(at: start)
        metrics.events.add(500, "live")
        metrics.partitions.lag.replace([["live", "t", "0"]: 7, ["live", "t", "1"]: 5, ["bulk", "b", "0"]: 1])
        metrics.latency.observe(Array(repeating: 0.02, count: 100), ["live"])
        reporter.note(at: start + .seconds(5))
        let lanes = try #require(try object(reporter)["lanes"] as? [[String: Any]])
        let live = try #require(lanes.first { $0["lane"] as? String == "live" })
        #expect(live["taken"] as? Int == 500)
        #expect(live["taken_per_second"] as? Double == 100)
        #expect(live["lag"] as? Int == 12)
        #expect(live["partitions"] as? Int == 2)
        let latency = try #require(live["latency"] as? [String: Any])
        #expect(latency["count"] as? Int == 100)
        #expect(latency["p50"] as? Double == 0.018, "between the bounds 10 and 25 ms")
    }

    @Test func `a paused lane has the time, the operator and the reason in the status`() throws {
        let status = WorkerStatus()
        let since = UnixTime(seconds: 1_763_640_000)
        status.set([
            LanePause(lane: .bulk, since: since, by: "ann", why: "\"night\"", until: since.advanced(bySeconds: 60))
        ])
        let lanes = try #require(try object(StatusReporter(status: status))["lanes"] as? [[String: Any]])
        let paused = lanes.map { $0["paused"] as? [String: String] }
        #expect(paused[0] == nil && paused[1] == nil)
        #expect(
            paused[2] == [
                "since": since.description, "until": since.advanced(bySeconds: 60).description, "by": "ann",
                "why": "\"night\"",
            ])
    }

    @Test func `the status report has key rings with their versions' ages and campaigns, as they change`() throws {
        let folder = try TemporaryFolder()
        try KeyRings.make("\(folder.path)/r")
        let place = FileLocation(file: "c.yaml", line: 1, column: 1)
        let reporter = StatusReporter(keys: [
            .init(name: "r", path: "\(folder.path)/r", signer: nil, place: place),
            .init(name: "gone", path: "\(folder.path)/gone", signer: nil, place: place),
            .init(name: "away", path: nil, signer: "signer.sock", place: place),
        ])
        var report = try object(reporter)
        var rings = try #require(report["rings"] as? [[String: Any]])
        #expect(rings.map { $0["ring"] as? String } == ["r", "gone", "away"])
        #expect(rings.map { $0["source"] as? String } == ["folder", "folder", "signer"])
        #expect(rings.map { $0["problem"] is String } == [false, true, false])
        let versions = try #require(rings[0]["versions"] as? [[String: Any]])
        #expect(versions.map { $0["id"] as? String } == ["k1"])
        #expect(versions[0]["state"] as? String == "active")
        #expect(versions[0]["age_seconds"] as? Int == 0)
        #expect((report["campaigns"] as? [Any])?.isEmpty == true)

        try RotationFile(KeyRingDirectory(path: "\(folder.path)/r")).save(
            Rotation(id: "c-1", from: "k1", to: "k2", at: UnixTime(seconds: 1_800_000_000)))
        try KeyRings.make("\(folder.path)/gone", version: "k7")
        report = try object(reporter)
        rings = try #require(report["rings"] as? [[String: Any]])
        #expect(rings.map { $0["problem"] is String } == [false, false, false])
        let campaign = try #require((report["campaigns"] as? [[String: Any]])?.first)
        #expect(campaign["ring"] as? String == "r")
        #expect(campaign["id"] as? String == "c-1")
        #expect(campaign["kind"] as? String == "rotation")
        #expect(campaign["from"] as? String == "k1")
        #expect(campaign["to"] as? String == "k2")
        #expect(campaign["phase"] as? String == "prepared")
    }
}
