import AsyncTestSupport
import Kafka

extension Fault {
    private static func letters(_ name: String, _ code: String, _ app: String, _ report: String) -> Fault {
        Fault(
            name: name, scene: .starts,
            make: { stage in try await stage.shop.produce((0..<30).map { _ in rawReport(app, report) }) },
            readiness: .shows("events in the last 15 minutes are dead letters: \(code)"),
            firstLine: .logs("events.dead-lettered"), lastLine: .logs("events.dead-lettered"),
            metric: FaultMetric("remint_outcomes_total", #"code="\#(code)""#, bound: .atLeast(30)),
            alert: FaultAlert("RemintDeadLetters", #"code="\#(code)""#, isRepeated: true),
            status: .shows("remint.dead-letters 2 30"),
            page: .shows("dead letters: \(code)"), end: .newWorker())
    }

    private static func unreadable(_ name: String, _ topic: String, isAtStart: Bool, _ kind: String) -> Fault {
        let skipped = "record.skipped"
        return Fault(
            name: name, scene: isAtStart ? .starts : .brokers, isAtStart: isAtStart,
            make: { stage in
                try await stage.shop.produce([
                    ProducerRecord(topic: topic, key: Array("a".utf8), value: Array("garbage".utf8), headers: [])
                ])
            },
            readiness: .shows("a record was skipped: \(kind)"), firstLine: .logs(skipped), lastLine: .logs(skipped),
            metric: FaultMetric("remint_unreadable_records_total", #"topic_kind="\#(kind)""#, bound: .atLeast(1)),
            alert: FaultAlert("RemintUnreadableRecords", #"topic_kind="\#(kind)""#),
            status: .cannotSee("only a reader of every record sees it"), page: .shows("a record was skipped: \(kind)"),
            end: .newStage)
    }

    /// Produces `count` events with keys of their own, which spread over the partitions.
    private static func produce(_ count: Int, of bytes: Int, to stage: FaultStage) async throws {
        let value = Array(repeating: UInt8(ascii: "x"), count: bytes)
        try await stage.shop.produce(
            (0..<count).map { number in
                ProducerRecord(
                    topic: "remint.invalidations", key: Array("key-\(number)".utf8), value: value, headers: [])
            })
    }

    /// Lets a worker read some events, so that the next one goes on behind them.
    private static let readSome: Action = { stage in
        try await stage.ready()
        let before = await stage.metrics()
        let letters = FaultMetric("remint_outcomes_total", #"outcome="dead_lettered""#, bound: .atLeast(8))
        try await produce(8, of: 1, to: stage)
        try await eventually("the dead letters of eight events") {
            await stage.metrics()?.shows(letters, since: before) == true
        }
    }

    private static let lost = "records.lost"

    static let records: [Fault] = [
        Fault(
            name: "records were deleted before a worker read them", scene: .brokers, isAtStart: true, prepare: readSome,
            // More than a partition of the embedded broker keeps.
            make: { try await produce(40, of: 500_000, to: $0) },
            readiness: .shows("were deleted before they were read"), firstLine: .logs(lost), lastLine: .logs(lost),
            metric: FaultMetric("remint_lost_records_total", bound: .atLeast(1)),
            alert: FaultAlert("RemintRecordsLost", #"topic="remint.invalidations""#),
            status: .cannotSee("the group's offsets are within the log again"),
            page: .shows("were deleted before they were read"),
            end: .newWorker { stage in
                try await eventually("a lane in which no event waits") {
                    try await stage.fleet().contains("remint.invalidations 2 0")
                }
            }
        ).inEveryRun,
        Fault(
            name: "a producer sends a record batch that cannot be unpacked", scene: .starts,
            // zstd packs it to some kilobytes, and unpacked it is larger than any answer that the worker accepts.
            make: { stage in
                let blanks = [UInt8](repeating: 32, count: 70_000_000)
                try await stage.shop.produce(
                    [ProducerRecord(topic: "remint.invalidations", key: Array("a".utf8), value: blanks, headers: [])],
                    ["compression.codec": "zstd", "message.max.bytes": "100000000"])
            },
            readiness: .shows("a record batch at offset"), firstLine: .logs("batch.unreadable"),
            lastLine: .logs("batch.passed"), metric: FaultMetric("remint_unreadable_batches_total", bound: .atLeast(1)),
            alert: FaultAlert("RemintUnreadableBatch", #"topic="remint.invalidations""#),
            status: .shows("remint.dead-letters 2 1"), page: .shows("a record batch at offset"), end: .newWorker()
        ).inEveryRun,
        letters("a producer sends events that cannot be read", "malformed_report", "braze-ios", "[]").inEveryRun,
        letters("a producer names an app that is not configured", "unknown_app", "nobody", #"{"errorCode":22}"#),
        letters("a producer sends events without a user", "missing_user", "braze-ios", #"{"errorCode":22}"#),
        unreadable(
            "the control topic has a record that no worker wrote", "remint.control", isAtStart: false, "control"),
        unreadable("the token topic has a record that no worker wrote", "remint.tokens", isAtStart: true, "tokens"),
    ]
}
