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

        @Test(arguments: ["run", "pickup"])
        func `a service reports start, life, reload and stop to the service manager`(_ command: String) async throws {
            let shop = try await Shop.open()
            let hash = String(repeating: "0", count: 64)
            let section = "pickup: { listen: 127.0.0.1:0, drain: 0s, api_keys: { a: { hash: \(hash) } } }\n"
            let isWorker = command == "run"
            if !isWorker { try shop.configure("\napps:\n", "\n\(section)apps:\n") }
            // A path, and a name without a file.
            let name = isWorker ? shop.folder.appending(path: "notify").path : "@remint-\(UUID().uuidString)"
            let manager = try await listen(on: name)
            let service = try Program(
                Repository.remint, [command, "--config", shop.configuration],
                environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "1000000"])
            for message in ["READY=1", "WATCHDOG=1"] + (isWorker ? ["STATUS=ready"] : []) {
                #expect(try await heard(message, by: manager), "\(message): \(manager.errorText)\(service.errorText)")
            }
            service.send(SIGHUP)
            #expect(try await heard(Self.reload, by: manager), "\(manager.errorText)")
            await end(service)
            if isWorker { #expect(service.status == 0, "\(service.errorText)") }
            #expect(try await heard("STOPPING=1", by: manager), "\(manager.errorText)")
            await end(manager)
            await shop.close()
        }
    }
}
