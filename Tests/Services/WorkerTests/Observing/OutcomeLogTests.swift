import AdapterKit
import AsyncTestSupport
import Testing

@testable import Pipeline
@testable import Worker

@Suite("The log's lines about outcomes")
struct OutcomeLogTests {
    private func unit(_ settlements: [Settlement]) -> CommitUnit {
        let records = settlements.map {
            InputRecord(origin: $0.origin, timestamp: nil, key: nil, value: [], headers: [])
        }
        var batch = Batch(number: 1, records: records, waiting: .over)
        batch.settlements = settlements
        return CommitUnit(batches: [batch], offsets: PerLane { _ in [:] })
    }

    private func end(_ app: String, _ outcome: Outcome, isClockSkew: Bool = false) -> Settlement {
        Settlement(
            origin: RecordPosition(topic: "t", partition: 0, offset: 0), eventID: nil, app: app, outcome: outcome,
            output: nil, isClockSkew: isClockSkew)
    }

    @Test func `reports of wrong clocks are logged once with a count for each app`() throws {
        let log = RecordingLog()
        var outcomes = OutcomeLog(unit([end("shop", .minted, isClockSkew: true), end("shop", .minted)]))
        outcomes.add(OutcomeLog(unit([end("shop", .superseded(.clockSkew)), end("web", .superseded(.clockSkew))])))
        outcomes.log(to: log.logger())
        let line = try #require(log.lines.first)
        #expect(log.lines.count == 1)
        #expect(line.event == "devices.clock-skew")
        #expect(line.metadata == ["remint.app": "shop: 2, web: 1"])
    }

    @Test func `a second without a finding logs nothing`() {
        let log = RecordingLog()
        OutcomeLog(unit([end("shop", .minted), end("shop", .superseded(.burst))])).log(to: log.logger())
        #expect(log.lines.isEmpty)
    }
}
