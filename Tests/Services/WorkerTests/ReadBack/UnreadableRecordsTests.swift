import AsyncTestSupport
import Pipeline
import Synchronization
import Telemetry
import Testing

@testable import Wiring
@testable import Worker

@Suite struct UnreadableRecordsTests {
    @Test func `each record is counted, and each kind and reason is logged once in ten minutes`() {
        let log = RecordingLog(), start = ContinuousClock.now, passed = Mutex(Duration.zero)
        let registry = MetricsRegistry()
        let family = UnreadableRecords.counter(in: registry)
        let unreadable = UnreadableRecords(
            family, logger: log.logger(), now: { start + passed.withLock { $0 } })
        for _ in 0..<50 {
            unreadable.count(.version, .tokens, at: RecordPosition(topic: "t", partition: 0, offset: 7))
            unreadable.count(.mismatched, .tokens)
            unreadable.count(.version, .offsets)
        }
        #expect(family.value("tokens", "version") == 50)
        #expect(family.value("tokens", "mismatched") == 50)
        #expect(family.value("offsets", "version") == 50)
        #expect(
            log.lines.map { $0.metadata["remint.detail"] } == [
                "tokens: version", "tokens: mismatched", "offsets: version",
            ])
        #expect(log.lines.first?.metadata["kafka.offset"] == "7")
        passed.withLock { $0 = .seconds(599) }
        unreadable.count(.version, .tokens)
        #expect(log.lines.count == 3)
        passed.withLock { $0 = .seconds(600) }
        unreadable.count(.version, .tokens)
        #expect(log.lines.count == 4)
    }
}
