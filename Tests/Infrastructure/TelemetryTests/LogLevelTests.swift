import Logging
import Synchronization
import Telemetry
import Testing

@Suite struct LogLevelTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test func `a changed level applies to existing loggers, except those with their own`() throws {
        let lines = Lines(), level = LogLevel(.info)
        let logger = Logger(label: "test") { label in
            LimitedLogHandler(JSONLogHandler(label: label, level: .trace) { lines.add($0) }, level: level)
        }
        var own = logger
        own.logLevel = .error
        func say() {
            logger.debug("shared")
            own.info("own")
        }
        say()
        #expect(lines.all.isEmpty)
        level.set(.debug)
        say()
        #expect(lines.all.count == 1 && lines.all[0].contains("shared"))
        level.set(.critical)
        logger.error("not any more")
        #expect(lines.all.count == 1)
    }

    @Test func `metadata of a logger passes through to each line`() {
        let lines = Lines()
        var logger = Logger(label: "test") { label in
            LimitedLogHandler(JSONLogHandler(label: label, level: .trace) { lines.add($0) }, level: LogLevel(.info))
        }
        logger[metadataKey: "who"] = "me"
        logger.info("a line")
        #expect(lines.all.first?.contains(#""who":"me""#) == true)
        #expect(logger[metadataKey: "who"] == "me")
    }
}
