import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// Those who only take: silent and half-open connections, bodies and headers without an end, waits of a year, streams that are
    /// not read, clients that vanish. The others are served.
    @Suite(.timeLimit(.minutes(5))) struct PickupAbuseTests {
        /// Sends requests over many connections for some seconds, and reads no answer; prints by how much the gateway has grown, in kB.
        private static let reckless = """
            import select, socket, sys, time
            host, port, pid = sys.argv[1], int(sys.argv[2]), sys.argv[3]
            def memory():
                for line in open(f"/proc/{pid}/status"):
                    if line.startswith("VmRSS:"): return int(line.split()[1])
            requests = b"GET /openapi.json HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" * 2000
            before = memory()
            connections = [socket.create_connection((host, port)) for _ in range(200)]
            for connection in connections: connection.setblocking(False)
            end = time.monotonic() + 6
            most = before
            while time.monotonic() < end:
                for connection in select.select([], connections, [], 0.2)[1]:
                    try: connection.send(requests)
                    except BlockingIOError: pass
                    except OSError: connections.remove(connection)
                most = max(most, memory())
            print(most - before)
            """

        @Test func `answers that nobody reads take no memory, however many requests come`() async throws {
            let shop = try await Shop.open()
            let gateway = try await Gateway.start(shop)
            let parts = gateway.address.split(separator: ":").map(String.init)
            let client = try await Program.run(
                "python3", ["-c", Self.reckless, parts[0], parts[1], "\(gateway.program.processID)"])
            let grown = try #require(Int(client.outputText.trimmingCharacters(in: .whitespacesAndNewlines)))
            #expect(grown < 40_000, "of 200 connections each holds a request, an answer and 16 kB each way at most")
            #expect(try await gateway.call("/health/live").status == 200)
            await shop.close(expecting: 0)
        }
    }
}
