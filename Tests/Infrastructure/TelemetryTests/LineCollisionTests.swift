import Glibc
import Logging
import Telemetry
import Testing

@Suite("Details that would hide a line's own members")
struct LineCollisionTests {
    @Test(arguments: ["time", "level", "message", "logger", "error"])
    func `a detail with a reserved name is written under metadata`(_ name: String) throws {
        let lines = RecordedLines()
        lines.logger().info("m", metadata: ["\(name)": "detail"])
        let object = try lines.object()
        #expect(object["metadata.\(name)"] == "detail")
        #expect(object["message"] == "m")
        #expect(object["level"] == "info")
    }

    @Test func `a provider's details are written, and give way to the logger's`() throws {
        let lines = RecordedLines()
        var logger = lines.logger()
        logger.handler.metadataProvider = Logger.MetadataProvider { ["trace": "t", "both": "provider"] }
        logger[metadataKey: "both"] = "logger"
        logger.info("m")
        #expect(try lines.object()["trace"] == "t")
        #expect(try lines.object()["both"] == "logger")
    }

    #if os(Linux)
        @Test func `a full disk behind standard error stops nobody`() async {
            await #expect(processExitsWith: .success) {
                let full = open("/dev/full", O_WRONLY)
                dup2(full, 2)
                JSONLogHandler.standardError("a line\n")
            }
        }
    #endif
}
