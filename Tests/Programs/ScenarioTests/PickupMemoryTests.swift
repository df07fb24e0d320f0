import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// The memory of devices that are connected, and of those whose calls wait.
    @Suite(.timeLimit(.minutes(5))) struct PickupMemoryTests {
        /// Opens connections, asks once on each, and lets a call wait on each; prints by how many bytes a connection the gateway has grown
        /// before and after the calls. Some connections come first: what every process needs once is not counted.
        private static let devices = """
            import re, resource, socket, sys, time, urllib.request
            host, port, metrics, pid, key = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5]
            count, first = 1000, 150
            resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
            def memory():
                for line in open(f"/proc/{pid}/status"):
                    if line.startswith("VmRSS:"): return int(line.split()[1]) * 1024
            def waiting():
                text = urllib.request.urlopen(f"http://{metrics}/metrics").read().decode()
                found = re.search(r"(?m)^remint_pickup_waiting_calls (\\S+)", text)
                return float(found.group(1)) if found else 0
            def connect():
                connection = socket.create_connection((host, port))
                connection.sendall(b"GET /health/live HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
                assert connection.recv(4096).startswith(b"HTTP/1.1 200")
                return connection
            def ask(connection, number):
                connection.sendall((f"GET /v1/apps/onesignal-shop/token?after=0&wait=30 HTTP/1.1\\r\\nHost: a\\r\\nX-Api-Key: {key}\\r\\n"
                                    f'Remint-Vouched: {{"user":"user-{number}"}}\\r\\n\\r\\n').encode())
            def wait(wanted):
                end = time.monotonic() + 25
                while waiting() < wanted:
                    assert time.monotonic() < end, "the calls do not wait"
                    time.sleep(0.1)
            early = [connect() for _ in range(first)]
            for number, connection in enumerate(early): ask(connection, number)
            wait(first)
            before = memory()
            connections = [connect() for _ in range(count)]
            idle = memory()
            for number, connection in enumerate(connections): ask(connection, first + number)
            wait(first + count)
            print((idle - before) // count, (memory() - before) // count)
            """

        @Test func `a device that waits takes less than 16 kB, and its connection without a call less than 12`()
            async throws
        {
            let shop = try await Shop.open()
            let gateway = try await Gateway.start(shop)
            let parts = gateway.address.split(separator: ":").map(String.init)
            let client = try await Program.run(
                "python3",
                [
                    "-c", Self.devices, parts[0], parts[1], gateway.metrics, "\(gateway.program.processID)",
                    Gateway.apiKey,
                ])
            let bytes = client.outputText.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            try #require(bytes.count == 2, "\(client.outputText) \(client.errorText)")
            #expect(bytes[0] < 12_000 && bytes[1] < 16_000, "\(bytes)")
            await shop.close(expecting: 0)
        }

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
