import AdapterKit
import Foundation
import Telemetry
import WorkerTestSupport

@testable import Kafka
@testable import Operations
@testable import Pipeline
@testable import Worker
@testable import WorkerConfiguration

/// A worker and its fleet as the status page shows them.
enum PageStory: String, CaseIterable, Sendable {
    /// Names of 64 letters, with and without separators, paused and suspended apps, dead letters and bursts.
    case longNames = "long-names"
    /// A thousand apps in one fleet of twelve workers.
    case thousandApps = "thousand-apps"
    /// A worker that has just started.
    case idle

    /// A name of 64 letters that may break nowhere.
    static let unbroken = String(repeating: "abcdefgh", count: 8)
    private static let dashed = "shop-operations-production-eu-west-ios-customer-notifications-v2"
    private static let scored = "shop_operations_production_eu_west_ios_customer_notifications_v2"

    /// The state of the worker.
    var status: WorkerStatus {
        let status = WorkerStatus()
        status.set(name: self == .longNames ? Self.scored : "remint-worker-0")
        status.set(.worker, nil)
        status.set(apps)
        if self == .longNames {
            status.set(
                .keys,
                "keys/gone/keyring.json: cannot be read: No such file or directory; fix the path or put the file there")
            status.set(pauses)
        }
        return status
    }

    private func past(_ seconds: Int64) -> UnixTime { Events.now.advanced(bySeconds: -seconds) }

    private var pauses: [LanePause] {
        [
            LanePause(
                lane: .bulk, since: past(5400), by: "ann@laptop",
                why: "the nightly batch must not compete with the campaign", until: past(-7200))
        ]
    }

    private var apps: [WorkerStatus.AppStatus] {
        func app(_ name: String, _ ring: String = "braze", _ suspension: Suspension? = nil) -> WorkerStatus.AppStatus {
            .init(name: name, adapter: "braze", keyRing: ring, keyVersion: "2026-11", suspension: suspension)
        }
        switch self {
        case .idle: return [app("shop-ios")]
        case .longNames:
            return [
                app(
                    Self.dashed, Self.scored,
                    Suspension(
                        app: Self.dashed, since: past(300), by: "remint-worker-1",
                        why: "14 users refuse tokens of key version 2026-11", users: 14, keyVersion: "2026-11")),
                app(
                    Self.scored, Self.dashed,
                    Suspension(
                        app: Self.scored, cause: .paused, since: past(300_000), by: "root",
                        why: "maintenance of the vendor", until: past(-3600))),
                app(Self.unbroken, Self.unbroken), app("braze-ios"),
            ]
        case .thousandApps:
            let pause = Suspension(
                app: "tenant-777", cause: .paused, since: past(600), by: "root",
                why: "the vendor's page shows <img src=x>")
            return (0..<1000).map { app("tenant-\($0)", "tenant-\($0 % 30)", $0 == 777 ? pause : nil) }
        }
    }

    /// A reporter of the worker, after an hour of its work, which `metrics` counts.
    func reporter(
        _ status: WorkerStatus, _ metrics: WorkerMetrics, rings folder: String
    ) throws -> StatusReporter {
        let place = FileLocation(file: "remint.yaml", line: 1, column: 1)
        let names =
            self == .thousandApps
            ? (0..<30).map { "tenant-\($0)" }
            : self == .longNames ? [Self.scored, Self.dashed, Self.unbroken, "braze"] : ["braze"]
        for name in names { try KeyRings.make("\(folder)/\(name)", version: "2026-11") }
        let gone = self == .longNames ? ["gone"] : []
        let keys = (names + gone).map {
            Configuration.Key(name: $0, path: "\(folder)/\($0)", signer: nil, place: place)
        }
        let reporter = StatusReporter(
            status: status, metrics: metrics, keys: keys,
            build: BuildInfo(
                version: "0.1.0", kind: "release", commit: "4f1c2a9", swift: "6.3", librdkafka: "2.8.0",
                openssl: "3.0.19"),
            group: group, age: seconds)
        var lag: [[String]: Double] = [:]
        for lane in Lane.allCases {
            for place in partitions(of: 0, in: lane) {
                lag[[lane.rawValue, place.topic, "\(place.partition)"]] = Double(waiting / Int64(Self.partitionCount))
            }
        }
        metrics.partitions.lag.replace(lag)
        let start = ContinuousClock.now - .seconds(seconds)
        let moments = self == .idle ? Array(0...8) : Array(stride(from: 0, to: 3540, by: 10)) + Array(3540...3600)
        for (step, moment) in moments.enumerated() {
            work(metrics, step, isLastMinute: moment > 3540)
            reporter.note(at: start + .seconds(moment))
        }
        return reporter
    }

    /// The time since the worker's start, in seconds.
    private var seconds: Int64 { self == .idle ? 8 : 3600 }
    private var group: String { self == .longNames ? Self.dashed : "remint" }
    /// The events that wait in each topic.
    private var waiting: Int64 { self == .idle ? 0 : 1200 }

    /// Does a second of the worker's work.
    func work(_ metrics: WorkerMetrics) { work(metrics, 1, isLastMinute: true) }

    private func work(_ metrics: WorkerMetrics, _ step: Int, isLastMinute: Bool) {
        guard self != .idle else { return }
        let wave = 40 + Int(20 * sin(Double(step) / 7))
        let burst = isLastMinute && step % 60 == 30 ? 1500 : 0
        func end(_ app: String?, _ outcome: Outcome, _ count: Int) {
            let settlement = Settlement(
                origin: RecordPosition(topic: "t", partition: 0, offset: 0), eventID: nil, app: app, outcome: outcome,
                output: nil, algorithm: nil)
            metrics.ends.count(Array(repeating: settlement, count: count))
        }
        metrics.events.add(wave + burst + wave / 5 + 3, "live")
        metrics.latency.observe(Array(repeating: 0.04, count: wave), ["live"])
        let last = apps.last?.name
        end(last, .minted, wave + burst)
        end(last, .skipped("duplicate"), wave / 5)
        end(apps.last { $0.suspension == nil && $0.name != last }?.name, .minted, 3)
        guard step.isMultiple(of: 40) else { return }
        end(apps.first?.name, .deadLettered(.rejectedByVendor), 4)
        end(apps.first?.name, .deadLettered(.notFixableByToken), 2)
        end(nil, .deadLettered(.unknownApp), 3)
    }

    /// The partitions of each topic.
    private static let partitionCount = 12
    private static let topics: [Lane: [String]] = [
        .live: ["remint.invalidations"],
        .retries: ["remint.invalidations.retry.10s", "remint.invalidations.retry.1m"], .bulk: ["remint.bulk"],
    ]

    private var workers: Int { self == .thousandApps ? 12 : self == .longNames ? 3 : 1 }

    /// The partitions of `lane` that a worker of the fleet has; the worker of the page is number 0.
    private func partitions(of worker: Int, in lane: Lane) -> [TopicPartition] {
        (Self.topics[lane] ?? []).flatMap { topic in
            (0..<Self.partitionCount).filter { $0 % workers == worker }.map {
                TopicPartition(topic: topic, partition: Int32(clamping: $0))
            }
        }
    }

    private func members(of lane: Lane) -> [ConsumerGroup.Member] {
        (0..<workers).map { number in
            ConsumerGroup.Member(
                id: "\(number)", clientID: number == 1 && self == .longNames ? Self.scored : "remint",
                host: number == 1 && self == .longNames ? "/\(Self.unbroken)" : "/10.0.0.\(number + 1)",
                partitions: partitions(of: number, in: lane))
        }
    }

    /// The fleet of the worker.
    var fleet: FleetStatus {
        FleetStatus(
            at: Events.now, group: group,
            lanes: Lane.allCases.map { lane in
                FleetStatus.LaneState(
                    lane: lane, group: lane.rawValue,
                    pause: self == .longNames ? pauses.first { $0.lane == lane } : nil,
                    topics: (Self.topics[lane] ?? []).map {
                        FleetStatus.Topic(name: $0, partitions: Self.partitionCount, waiting: waiting)
                    },
                    members: ConsumerGroup(name: lane.rawValue, state: "Stable", members: members(of: lane)))
            },
            deadLetters: FleetStatus.Topic(
                name: "remint.dead-letters", partitions: 6, waiting: self == .idle ? 0 : 127),
            apps: apps.map {
                FleetStatus.AppState(
                    name: $0.name, adapter: $0.adapter, keyRing: $0.keyRing, suspension: $0.suspension)
            }, rings: [],
            problems: self == .longNames ? ["how many dead letters are parked is unknown: not authorized"] : [])
    }

    /// A view of the fleet without brokers.
    var view: FleetView {
        let fleet = fleet
        return FleetView(open: { FleetView.Source(read: { fleet }, close: {}) })
    }
}
