import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
    /// The ids of log lines: in the sources, on the page `config/LOGS.md`, and in the tests.
    @Suite struct LogLineTests {
        private static let sources = Result { try LogLines(under: "Sources") }

        @Test func `every log line is on its page, and no other`() throws {
            let page = try String(contentsOf: Repository.root.appending(path: "config/LOGS.md"), encoding: .utf8)
            var written: Set<LogLines.Line> = []
            for row in page.matches(of: #/(?m)^\| `([^`]+)` \| ([a-z, ]+) \| `([^`]+)` \|/#) {
                for level in row.2.split(separator: ", ") {
                    written.insert(.init(event: String(row.1), level: String(level), message: String(row.3)))
                }
            }
            let sources = try Self.sources.get()
            // The code decides the level of these lines: librdkafka's own, and the errors of its producer.
            let relayed = written.filter { sources.relayed.contains($0.event) }
            #expect(Set(relayed.map(\.event)) == sources.relayed)
            #expect(sources.lines.count > 50)
            #expect(sources.lines.subtracting(written).isEmpty, "\(sources.lines.subtracting(written))")
            let unwritten = written.subtracting(relayed).subtracting(sources.lines)
            #expect(unwritten.isEmpty, "\(unwritten)")
        }

        @Test func `a log line has an id, and an id has one meaning`() throws {
            let sources = try Self.sources.get()
            #expect(sources.withoutEvent.isEmpty, "write an id before each message: \(sources.withoutEvent)")
            #expect(sources.ambiguous.isEmpty, "write one message for each id: \(sources.ambiguous)")
        }

        @Test func `an id that a test waits for is one of a log line`() throws {
            let sources = try Self.sources.get()
            let known = sources.relayed.union(sources.lines.map(\.event))
            let use = /(?:(?:logged|hasLogged|logCount|logLines|\.logs)\(|\.line\(event: |\$0\.event == )"([^"]+)"/
            for file in Repository.files(under: "Tests", ending: "swift") {
                let text = try String(contentsOf: file, encoding: .utf8)
                let unknown = text.matches(of: use).map { String($0.1) }.filter { !known.contains($0) }
                #expect(unknown.isEmpty, "\(file.lastPathComponent): \(unknown)")
            }
        }

        @Test func `log lines are found in every form`() {
            let found = LogLines(
                text: """
                    logger.notice(isQuiet ? "a.one" : "a.two", isQuiet ? "one" : "two")
                    context.gatewayLogger.error(
                        "a.three", "three (3), still", metadata: ["not": "this"])
                    logger.info("four", metadata: ["not": "this"])
                    logger.info("a.one", "five")
                    logger.log(level: level, "six", metadata: ["remint.event": "a.six"])
                    logger.log(level: level, "seven")
                    """)
            #expect(
                Set(found.lines.map { "\($0.event) \($0.level) \($0.message)" }) == [
                    "a.one notice one", "a.two notice two", "a.three error three (3), still", "a.one info five",
                ])
            #expect(found.relayed == ["a.six"])
            #expect(found.withoutEvent == ["four", "seven"])
            #expect(found.ambiguous == ["a.one"])
        }
    }
}
