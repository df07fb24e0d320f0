import AsyncTestSupport
import Foundation
import Glibc
import Kafka
import ProgramTestSupport
import Testing

extension Scenarios {
    /// A stand-in for systemd reads what the services report by sd_notify(3).
    @Suite(.timeLimit(.minutes(5))) struct SupervisionTests {
        /// Prints every message on a line of its own.
        private static let listener = """
            import socket, sys
            name = sys.argv[1]
            one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            one.bind("\\0" + name[1:] if name[0] == "@" else name)
            print("bound", file=sys.stderr, flush=True)
            while True:
                print(one.recv(4096).decode().replace("\\n", " "), file=sys.stderr, flush=True)
            """

        private func listen(on name: String) async throws -> Program {
            let manager = try Program("python3", ["-c", Self.listener, name])
            try #require(await manager.wrote("bound"), "\(manager.errorText)")
            return manager
        }

        private func end(_ programs: Program...) async {
            for program in programs {
                program.terminate()
                await program.waitForEnd()
            }
        }

        /// Waits until the messages match `pattern`. Returns false if the manager ends before.
        private func heard(_ pattern: String, by manager: Program) async throws -> Bool {
            func matches() -> Bool { manager.errorText.range(of: pattern, options: .regularExpression) != nil }
            try await eventually("the message \(pattern)") { matches() || manager.status >= 0 }
            return matches()
        }

        private static let reload = #"RELOADING=1 MONOTONIC_USEC=\d+\n(?:.*\n)*READY=1"#

        @Test func `a worker reports start, life, reload and stop to the service manager`() async throws {
            let shop = try await Shop.open()
            let name = shop.folder.appending(path: "notify").path
            let manager = try await listen(on: name)
            let worker = try Program(
                Repository.remint, ["run", "--config", shop.configuration],
                environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "1000000"])
            for message in ["READY=1", "WATCHDOG=1", "STATUS=ready"] {
                #expect(try await heard(message, by: manager), "\(message): \(manager.errorText)\(worker.errorText)")
            }
            worker.send(SIGHUP)
            #expect(try await heard(Self.reload, by: manager), "\(manager.errorText)")
            await end(worker)
            #expect(worker.status == 0, "\(worker.errorText)")
            #expect(try await heard("STOPPING=1", by: manager), "\(manager.errorText)")
            await end(manager)
            await shop.close()
        }

        @Test func `a gateway reports start, life, reload and stop to the service manager`() async throws {
            let shop = try await Shop.open()
            let file = shop.folder.appending(path: "gateway.yaml")
            let section = "\npickup: { listen: 127.0.0.1:0, drain: 0s, api_keys: { a: { hash: \(Self.hash) } } }\n"
            try Data((try String(contentsOfFile: shop.configuration, encoding: .utf8) + section).utf8).write(to: file)
            let name = "@remint-\(UUID().uuidString)"
            let manager = try await listen(on: name)
            let gateway = try Program(
                Repository.remint, ["pickup", "--config", file.path],
                environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "1000000"])
            for message in ["READY=1", "WATCHDOG=1"] {
                #expect(try await heard(message, by: manager), "\(message): \(manager.errorText)\(gateway.errorText)")
            }
            gateway.send(SIGHUP)
            #expect(try await heard(Self.reload, by: manager), "\(manager.errorText)")
            await end(gateway)
            #expect(try await heard("STOPPING=1", by: manager), "\(manager.errorText)")
            await end(manager)
            await shop.close()
        }

        private static let hash = String(repeating: "0", count: 64)
    }
}
