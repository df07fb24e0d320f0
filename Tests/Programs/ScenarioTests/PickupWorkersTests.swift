import AdapterKit
import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// The workers behind a gateway: what they do not answer, and when an operator holds them.
    @Suite(.timeLimit(.minutes(5))) struct PickupWorkersTests {
        private static let path = "/v1/apps/braze-ios/token"

        private static func remint(_ shop: borrowing Shop, _ arguments: String...) async throws {
            let program = try await Command.remint(
                arguments + ["--config", shop.configuration, "--brokers", shop.broker.bootstrapServers])
            try #require(program.status == 0, "\(program.errorText)")
        }

        @Test func `a stream that is opened while its app is paused gets its token after the pause`() async throws {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let session = try gateway.session("ann")
            try await Self.remint(shop, "apps", "pause", "braze-ios")
            try await eventually("the app's pause") {
                try await gateway.call("\(Self.path)?wait=0", session: session).text("code") == "app_paused"
            }
            let stream = try gateway.stream("braze-ios", try gateway.session("ben"))
            try #require(await stream.wrote(#""code":"app_paused""#), "\(stream.errorText)")
            try await Self.remint(shop, "apps", "resume", "braze-ios")
            try #require(await stream.wrote("event: token"), "\(stream.errorText)")
            await shop.close()
        }

        @Test func `idle connections neither end a gateway nor keep it from being called again`() async throws {
            let shop = try await Shop.open()
            let gateway = try await Gateway.start(shop)
            await gateway.stop()
            func start(_ files: Int) throws -> Program {
                try Program(
                    "prlimit",
                    ["--nofile=\(files):\(files)", Repository.remint, "pickup", "--config", gateway.file.path])
            }
            let refused = try start(120)
            await refused.waitForEnd()
            #expect(refused.status == 1 && refused.errorText.contains("open files, and the system allows 120; raise"))
            #expect(
                refused.errorText.split(separator: "\n").count == 1 + refused.logCount("gateway.started"),
                "\(refused.errorText)")

            let program = try start(900)
            try #require(await program.logged("gateway.listening"), "\(program.errorText)")
            let address = String(
                try #require(program.errorText.firstMatch(of: /remint\.pickup\.address=([0-9.:]+)/)).1)
            // More than the process may have; they stay until libdispatch has looked at its threads, once a second.
            let flood = try await Program.run(
                "python3",
                [
                    "-c",
                    """
                    import socket, sys, time
                    host, port = sys.argv[1].split(":")
                    open_ones = []
                    for number in range(1000):
                        connection = socket.socket()
                        connection.settimeout(5)
                        connection.connect((host, int(port)))
                        open_ones.append(connection)
                    time.sleep(4)
                    """, address,
                ])
            #expect(flood.status == 0, "\(flood.errorText)")
            #expect(program.status < 0, "it exited: \(program.errorText)")
            try await eventually("an answer of the gateway") {
                try await Program.run(
                    "curl", ["-s", "-m", "5", "-w", "%{http_code}", "http://\(address)/health/live"]
                ).outputText.hasSuffix("200")
            }
            program.terminate()
            await program.waitForEnd()
            await shop.close()
        }
    }
}
