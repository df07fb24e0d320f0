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
    }
}
