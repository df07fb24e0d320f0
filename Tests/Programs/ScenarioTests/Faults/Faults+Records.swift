import Kafka
import ProgramTestSupport

extension Fault {
    private static func letters(_ name: String, _ code: String, _ app: String, _ report: String) -> Fault {
        Fault(
            name: name,
            make: { stage in try await stage.shop.produce((0..<30).map { _ in rawReport(app, report) }) },
            readiness: .shows("events in the last 15 minutes are dead letters: \(code)"),
            firstLine: .shows("events were dead-lettered"), lastLine: .shows("events were dead-lettered"),
            metric: FaultMetric("remint_outcomes_total", #"code="\#(code)""#, bound: .atLeast(30)),
            alert: FaultAlert("RemintDeadLetters", #"code="\#(code)""#, isRepeated: true),
            status: .shows("remint.dead-letters 2 30"),
            page: .shows("dead letters: \(code)"))
    }

    private static func unreadable(_ name: String, _ topic: String, isAtStart: Bool, _ kind: String) -> Fault {
        let skipped = "a record was skipped: no worker can have written it"
        return Fault(
            name: name, isAtStart: isAtStart,
            make: { stage in
                try await stage.shop.produce([
                    ProducerRecord(topic: topic, key: Array("a".utf8), value: Array("garbage".utf8), headers: [])
                ])
            },
            readiness: .shows("a record was skipped: \(kind)"), firstLine: .shows(skipped), lastLine: .shows(skipped),
            metric: FaultMetric("remint_unreadable_records_total", #"topic_kind="\#(kind)""#, bound: .atLeast(1)),
            alert: FaultAlert("RemintUnreadableRecords", #"topic_kind="\#(kind)""#),
            status: .cannotSee("only a reader of every record sees it"), page: .shows("a record was skipped: \(kind)"))
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

    /// Produces more than a partition of the embedded broker keeps, while no worker reads.
    private static let loseRecords: Action = { stage in
        try await stage.startWorker()
        try await produce(8, of: 1, to: stage)
        while await stage.metrics()?.shows(letters(atLeast: 8)) != true { try Task.checkCancellation() }
        let worker = try stage.program
        worker.terminate()
        await worker.waitForEnd()
        try await produce(40, of: 500_000, to: stage)
    }

    private static func letters(atLeast count: Double) -> FaultMetric {
        FaultMetric("remint_outcomes_total", #"outcome="dead_lettered""#, bound: .atLeast(count))
    }

    private static let lost = "records were deleted before they were read; their events are never answered"

    static let records: [Fault] = [
        Fault(
            name: "records were deleted before a worker read them", isAtStart: true, make: loseRecords,
            readiness: .shows("were deleted before they were read"), firstLine: .shows(lost), lastLine: .shows(lost),
            metric: FaultMetric("remint_lost_records_total", bound: .atLeast(1)),
            alert: FaultAlert("RemintRecordsLost", #"topic="remint.invalidations""#),
            status: .cannotSee("the group's offsets are within the log again"),
            page: .shows("were deleted before they were read")),
        letters("a producer sends events that cannot be read", "malformed_report", "braze-ios", "[]"),
        letters("a producer names an app that is not configured", "unknown_app", "nobody", #"{"errorCode":22}"#),
        letters("a producer sends events without a user", "missing_user", "braze-ios", #"{"errorCode":22}"#),
        unreadable(
            "the control topic has a record that no worker wrote", "remint.control", isAtStart: false, "control"),
        unreadable("the token topic has a record that no worker wrote", "remint.tokens", isAtStart: true, "tokens"),
    ]
}
