import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension DeviceScenarios {
    /// Those who only take: silent and half-open connections, bodies and headers without an end, waits of a year, streams that are
    /// not read, clients that vanish. The others are served.
    @Suite(.timeLimit(.minutes(10))) struct PickupAbuseTests {
        @Test func `who takes without end is let go of, and the others are served`() async throws {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let sessions = try (0..<100).map { "user-\($0) \(try gateway.session("user-\($0)"))" }
            let file = shop.folder.appending(path: "sessions.txt")
            try Data(sessions.joined(separator: "\n").utf8).write(to: file)
            let devices = try await Program.run(
                "python3",
                [
                    Repository.root.appending(path: "Tests/Benchmarks/pickup.py").path, "abuse", "--url",
                    "http://\(gateway.address)", "--sessions", file.path, "--app", "onesignal-shop", "--pid",
                    "\(gateway.program.processID)", "--open", "300", "--patience", "10",
                ])
            #expect(devices.status == 0, "\(devices.outputText) \(devices.errorText)")
            await gateway.stop()
            #expect(gateway.program.status == 0, "\(gateway.program.errorText)")
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }
    }
}
