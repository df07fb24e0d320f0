import Foundation
import Logging
import Synchronization
import Telemetry
import Testing

@Suite("Log lines of text") struct TextLogHandlerTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private struct SampleError: Error, CustomStringConvertible {
        let description: String
    }

    private let lines = Lines()

    private var logger: Logger {
        Logger(label: "test") { [lines] _ in
            TextLogHandler(
                level: .trace, write: { lines.add($0) }, now: { Date(timeIntervalSince1970: 1_800_000_000.25) })
        }
    }

    @Test func `the message stands before its details, behind a time in milliseconds`() {
        logger.warning("the fault", metadata: ["b": "two words", "a": "plain/0-5,7", "c": "", "d": "x=y"])
        #expect(
            lines.all == [
                "2027-01-15T08:00:00.250Z warning  the fault  a=plain/0-5,7 b=\"two words\" c=\"\" d=\"x=y\"\n"
            ])
    }

    @Test func `a line without details ends with its message, and an error is a detail`() {
        logger.info("done")
        logger.critical("cannot go on", error: SampleError(description: "it broke"))
        #expect(lines.all[0] == "2027-01-15T08:00:00.250Z info     done\n")
        #expect(lines.all[1].hasSuffix("Z critical cannot go on  error=\"it broke\"\n"))
    }

    @Test func `a line's id is a detail`() {
        logger.notice("worker.consuming", "the worker consumes", metadata: [LogKey.topic: "t", LogKey.version: "1"])
        #expect(
            lines.all[0].hasSuffix(
                " the worker consumes  kafka.topic=t remint.event=worker.consuming remint.version=1\n"))
    }

    @Test func `a line's own details go before the logger's`() {
        var logger = logger
        logger[metadataKey: "k"] = "logger"
        logger.info("m", metadata: ["k": "line"])
        #expect(lines.all[0].hasSuffix(" m  k=line\n"))
    }

    @Test(arguments: [
        "a\nb", "\u{1B}[31mred", "\u{0}", "\u{7F}", "a\rb", "\u{9B}31m", "a\u{85}b", "a\u{202E}b", "a\u{2066}b",
        "a\u{2028}b", "a\u{2029}b", "a\u{E0001}b",
    ])
    func `control characters reach the terminal in no place of a line`(_ text: String) {
        let hidden: [Unicode.GeneralCategory] = [.control, .format, .lineSeparator, .paragraphSeparator]
        logger.error("\(text)", error: SampleError(description: text), metadata: ["k": "\(text)", "k\(text)": "v"])
        #expect(lines.all[0].unicodeScalars.dropLast().allSatisfy { !hidden.contains($0.properties.generalCategory) })
    }
}

@Suite("The limit on repeated lines") struct RepeatLimitTests {
    @Test func `a fault has five lines a minute, and the next one counts the others`() {
        var limit = RepeatLimit()
        let verdicts = (0..<100).map { limit.verdict(on: "a", at: .seconds($0)) }
        #expect(verdicts.prefix(5).allSatisfy { $0 == .written(suppressed: 0) })
        #expect(verdicts[5] == .repeated(1) && verdicts[59] == .repeated(55))
        #expect(verdicts[60] == .written(suppressed: 55))
        #expect(verdicts[61...64].allSatisfy { $0 == .written(suppressed: 0) })
        #expect(verdicts[65] == .repeated(1))
    }

    @Test func `any minute has five lines at most, whenever it begins`() {
        var limit = RepeatLimit()
        let written = (0..<6000).filter { tenth in
            if case .written = limit.verdict(on: "a", at: .milliseconds(tenth * 100)) { true } else { false }
        }
        for start in written { #expect(written.count { $0 >= start && $0 < start + 600 } <= 5) }
        #expect(written.count == 50)
    }

    @Test func `faults do not count for each other, however many there are`() {
        var limit = RepeatLimit()
        for _ in 0..<5 { _ = limit.verdict(on: "a", at: .zero) }
        #expect(limit.verdict(on: "b", at: .zero) == .written(suppressed: 0))
        #expect(limit.verdict(on: "a", at: .zero) == .repeated(1))
        for number in 0..<5000 {
            #expect(limit.verdict(on: "fault \(number)", at: .seconds(1)) == .written(suppressed: 0))
        }
        #expect(limit.verdict(on: "one", most: 1, at: .zero) == .written(suppressed: 0))
        #expect(limit.verdict(on: "one", most: 1, at: .zero) == .repeated(1))
    }
}

@Suite("A log with a limit on each fault") struct LimitedLogHandlerTests {
    private let level = LogLevel(.info)
    private let lines = RecordedLines()

    private func makeLogger() -> Logger {
        let (level, sink, begin) = (level, lines, ContinuousClock.now)
        return Logger(label: "test") { label in
            let base = sink.handler(label)
            return LimitedLogHandler(base, level: level, now: { begin })
        }
    }

    private func levels() throws -> [String?] { try lines.all.map { try RecordedLines.parse($0)["level"] } }

    @Test func `repeats of a fault are debug lines with their count, also from copies of the logger`() throws {
        level.set(.debug)
        let logger = makeLogger()
        for number in 0..<8 {
            var copy = logger
            copy[metadataKey: "n"] = "\(number)"
            copy.warning("m", metadata: [LogKey.kafkaError: "\(number)"])
        }
        #expect(try levels() == Array(repeating: "warning", count: 5) + Array(repeating: "debug", count: 3))
        #expect(try RecordedLines.parse(lines.all[7])["remint.repeats"] == "3")
    }

    @Test func `repeats are not written where the log's level is info`() {
        let logger = makeLogger()
        for _ in 0..<100 { logger.error("m") }
        #expect(lines.all.count == 5)
    }

    @Test func `a fault is known by its id, whatever its message`() {
        let logger = makeLogger()
        for number in 0..<10 { logger.warning("topic.unwritable", "message \(number)") }
        #expect(lines.all.count == 5)
        for _ in 0..<10 { logger.warning("topics.missing", "message 0") }
        #expect(lines.all.count == 10)
    }

    @Test func `faults of other apps, topics and key rings have lines of their own; a lane has none`() {
        let logger = makeLogger()
        for key in [LogKey.app, LogKey.topic, LogKey.keyRing, LogKey.partitions] {
            for value in ["a", "b"] {
                for _ in 0..<6 { logger.warning("m", metadata: [key: "\(value)"]) }
            }
        }
        #expect(lines.all.count == 40)
        for lane in ["live", "bulk", "retries"] {
            for _ in 0..<6 { logger.warning("of a broker", metadata: [LogKey.lane: "\(lane)"]) }
        }
        #expect(lines.all.count == 45)
    }

    @Test func `the Kafka library has one line for each of its parts`() {
        let logger = makeLogger()
        for part in ["FAIL", "MAXPOLL"] {
            for number in 0..<50 {
                logger.warning("librdkafka", metadata: [LogKey.libraryFacility: "\(part)", "kafka.text": "\(number)"])
            }
        }
        #expect(lines.all.count == 2)
    }

    @Test func `lines that are no fault, and the last words of a process, have no limit`() {
        let logger = makeLogger()
        for _ in 0..<20 {
            logger.notice("m")
            logger.critical("m")
        }
        #expect(lines.all.count == 40)
    }
}
