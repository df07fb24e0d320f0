import Foundation
import Logging
import Synchronization
import Telemetry
import Testing

/// The lines a logger wrote.
final class RecordedLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func logger(_ label: String = "remint.test", level: Logger.Level = .trace) -> Logger {
        Logger(label: label) { label in handler(label, level: level) }
    }

    func handler(_ label: String, level: Logger.Level = .trace) -> JSONLogHandler {
        JSONLogHandler(label: label, level: level) { [self] line in lines.withLock { $0.append(line) } }
    }

    /// The only line, as JSON; its members are all texts.
    func object() throws -> [String: String] {
        #expect(all.count == 1)
        return try Self.parse(#require(all.first))
    }

    static func parse(_ line: String) throws -> [String: String] {
        #expect(line.hasSuffix("}\n"))
        #expect(line.utf8.count { $0 == 0x0A } == 1, "a line is one line")
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
    }
}

/// A string whose name is fit to be printed.
struct SampleText: CustomTestStringConvertible, Sendable {
    let text: String
    var testDescription: String { String(text.debugDescription.prefix(40)) }
}

/// An error whose text is given.
private struct SampleError: Error, CustomStringConvertible {
    let description: String
}

@Suite("Log lines")
struct JSONLogHandlerTests {
    static let texts: [SampleText] = [
        "", "plain", "\"quoted\"", "back\\slash", "\\\"", "a\nb", "a\r\nb", "\t\u{8}\u{C}", "\u{0}",
        "\u{1F}\u{7F}\u{80}\u{9F}",
        "\u{2028}\u{2029}", "é", "e\u{301}", "👩‍👩‍👧", "a\u{FEFF}", "\u{FFFF}", "\u{10FFFF}", "</script>", "{\"a\":1}",
        "\u{1B}[31mred",
        String(unicodeScalarsFrom: 0..<0x20), String(repeating: "\u{7}\"", count: 10_000),
    ].map(SampleText.init)

    @Test func `a line has time, level, message and logger, in this order`() throws {
        let lines = RecordedLines()
        lines.logger("remint").info("the worker started")
        let line = try #require(lines.all.first)
        let object = try lines.object()
        #expect(Set(object.keys) == ["time", "level", "message", "logger"])
        #expect(object["level"] == "info")
        #expect(object["message"] == "the worker started")
        #expect(object["logger"] == "remint")
        let time = try #require(object["time"])
        #expect(throws: Never.self) {
            try Date(time, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        }
        #expect(time.hasSuffix("Z"))
        #expect(
            line
                == "{\"time\":\"\(time)\",\"level\":\"info\",\"message\":\"the worker started\",\"logger\":\"remint\"}\n"
        )
    }

    @Test(arguments: texts)
    func `any text comes back as it was, in any place of a line`(_ sample: SampleText) throws {
        let text = sample.text
        let lines = RecordedLines()
        lines.logger("l" + text).error(
            "\(text)", error: SampleError(description: text), metadata: ["k": "\(text)", "k2.\(text)": "v"])
        let object = try lines.object()
        #expect(Array((object["message"] ?? "-").unicodeScalars) == Array(text.unicodeScalars))
        #expect(object["logger"] == "l" + text)
        #expect(object["k"] == text)
        #expect(object["k2.\(text)"] == "v")
        #expect(object["error"] == text)
    }

    @Test func `control characters never reach the terminal`() throws {
        let lines = RecordedLines()
        lines.logger().info("\(String(unicodeScalarsFrom: 0..<0x20))\u{7F}\u{9B}\u{202E}\u{2028}\u{E0001}")
        let line = try #require(lines.all.first).dropLast()
        let hidden: [Unicode.GeneralCategory] = [.control, .format, .lineSeparator, .paragraphSeparator]
        #expect(!line.unicodeScalars.contains { hidden.contains($0.properties.generalCategory) })
        for escape in ["\\u0000", "\\n", "\\u001f", "\\u007f", "\\u009b", "\\u202e", "\\u2028", "\\udb40\\udc01"] {
            #expect(line.contains(escape), "\(escape)")
        }
    }

    @Test(arguments: Logger.Level.allCases)
    func `levels are named as swift-log names them`(_ level: Logger.Level) throws {
        let lines = RecordedLines()
        lines.logger().log(level: level, "m")
        #expect(try lines.object()["level"] == level.rawValue)
    }

    @Test(arguments: Logger.Level.allCases)
    func `lines below the level are not written`(_ level: Logger.Level) throws {
        let lines = RecordedLines()
        let logger = lines.logger(level: level)
        for level in Logger.Level.allCases { logger.log(level: level, "m") }
        let written = try lines.all.map { try RecordedLines.parse($0)["level"] }
        #expect(written == Logger.Level.allCases.filter { $0 >= level }.map(\.rawValue))
    }

    @Test func `the level is each logger's own`() {
        let lines = RecordedLines()
        let first = lines.logger(level: .error)
        var second = first
        second.logLevel = .debug
        first.info("no")
        second.info("yes")
        #expect(lines.all.count == 1)
        #expect(first.logLevel == .error)
    }

    @Test func `a line of each level has its id, and an error stays one`() throws {
        let lines = RecordedLines()
        let logger = lines.logger()
        logger.debug("a.debug", "m")
        logger.info("a.info", "m")
        logger.notice("a.notice", "m")
        logger.warning("a.warning", "m")
        logger.error("a.error", "m")
        logger.critical("a.critical", "m", error: SampleError(description: "it broke"), metadata: ["k": "v"])
        let written = try lines.all.map(RecordedLines.parse)
        let levels = ["debug", "info", "notice", "warning", "error", "critical"]
        #expect(written.compactMap { $0["level"] } == levels)
        #expect(written.compactMap { $0["remint.event"] } == levels.map { "a.\($0)" })
        #expect(written.last?["error"] == "it broke" && written.last?["k"] == "v")
    }

    @Test func `a line that is not written makes no details`() {
        let lines = RecordedLines()
        let logger = lines.logger(level: .warning)
        var count = 0
        func details() -> Logger.Metadata {
            count += 1
            return ["k": "v"]
        }
        logger.notice("a.notice", "m", metadata: details())
        #expect(lines.all.isEmpty && count == 0)
        logger.error("a.error", "m", metadata: details())
        #expect(lines.all.count == 1 && count == 1)
    }

    @Test func `details follow in the order of their keys`() throws {
        let lines = RecordedLines()
        lines.logger().info("m", metadata: ["b": "2", "a.b": "1", "remint.app": "shop", "a": "0", "C": "3"])
        let line = try #require(lines.all.first)
        let tail = try #require(line.split(separator: "\"logger\":\"remint.test\"").last)
        #expect(tail == ",\"C\":\"3\",\"a\":\"0\",\"a.b\":\"1\",\"b\":\"2\",\"remint.app\":\"shop\"}\n")
    }

    @Test func `a line's own details go before the logger's`() throws {
        let lines = RecordedLines()
        var logger = lines.logger()
        logger[metadataKey: "kept"] = "logger"
        logger[metadataKey: "both"] = "logger"
        let copy = logger
        logger[metadataKey: "gone"] = "x"
        logger[metadataKey: "gone"] = nil
        logger.info("m", metadata: ["both": "line", "own": "line"])
        let object = try lines.object()
        #expect(object["kept"] == "logger")
        #expect(object["both"] == "line")
        #expect(object["own"] == "line")
        #expect(object["gone"] == nil)
        #expect(copy[metadataKey: "gone"] == nil)
        #expect(copy[metadataKey: "kept"] == "logger")
    }

    @Test func `lists and dictionaries among the details are texts`() throws {
        let lines = RecordedLines()
        lines.logger().info("m", metadata: ["list": ["a", "b\""], "map": ["k": "v"], "object": .stringConvertible(7)])
        let object = try lines.object()
        #expect(object["list"]?.contains("b\\\"") == true || object["list"]?.contains("b\"") == true)
        #expect(object["map"]?.contains("v") == true)
        #expect(object["object"] == "7")
    }

    @Test func `an error has a field of its own, and a line without one has none`() throws {
        let lines = RecordedLines()
        lines.logger().warning("m", error: SampleError(description: "it \"broke\""))
        #expect(try lines.object()["error"] == "it \"broke\"")
        let others = RecordedLines()
        others.logger().warning("m")
        #expect(try others.object()["error"] == nil)
    }

    @Test func `many threads write whole lines`() async throws {
        let lines = RecordedLines()
        let logger = lines.logger()
        await withTaskGroup { group in
            for number in 0..<200 { group.addTask { logger.info("m", metadata: ["number": "\(number)"]) } }
        }
        let numbers = try lines.all.map { try RecordedLines.parse($0)["number"] }
        #expect(Set(numbers) == Set((0..<200).map { "\($0)" }))
    }
}

@Suite("Keys of log lines")
struct LogKeyTests {
    @Test func `keys are dotted, lowercase and each has one meaning`() {
        let keys = [
            LogKey.app, LogKey.errorCode, LogKey.detail, LogKey.delivery, LogKey.lane, LogKey.users, LogKey.topic,
            LogKey.partitions, LogKey.kafkaError,
            LogKey.bootstrapServers,
        ]
        #expect(Set(keys).count == keys.count)
        for key in keys {
            #expect(key.hasPrefix("remint.") || key.hasPrefix("kafka."))
            #expect(key.allSatisfy { $0.isASCII && ($0.isLowercase || $0 == "." || $0 == "_") })
        }
    }
}

extension String {
    fileprivate init(unicodeScalarsFrom range: Range<UInt32>) {
        self.init(String.UnicodeScalarView(range.compactMap(Unicode.Scalar.init)))
    }
}
