import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension KeyScenarios {
    /// Tests that a process with keys shows nobody its memory.
    @Suite(.timeLimit(.minutes(5))) struct KeyProtectionTests {
        /// An account without rights: this one, or another where this is root, which may read everything.
        private static let user: UInt32 = geteuid() == 0 ? 65_534 : geteuid()
        private static let canChangeUser =
            geteuid() != 0 || FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")

        /// A command as that account, with `limit` KiB of locked memory where it is given.
        private static func command(_ arguments: [String], locking limit: Int? = nil) -> [String] {
            let change =
                geteuid() == 0
                ? ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--"] : []
            let shell = limit.map { ["sh", "-c", "ulimit -l \($0) && exec \"$@\"", "sh"] } ?? []
            return shell + change + arguments
        }

        private func start(_ arguments: [String], locking limit: Int? = nil) throws -> Program {
            let command = Self.command([Repository.remint] + arguments, locking: limit)
            return try Program(command[0], Array(command.dropFirst()))
        }

        /// A shop whose folder is the account's.
        private func shop() async throws -> Shop {
            let shop = try await Shop.open()
            guard geteuid() == 0 else { return shop }
            for path in [shop.folder.path]
                + (FileManager.default.subpaths(atPath: shop.folder.path) ?? []).map({
                    "\(shop.folder.path)/\($0)"
                })
            {
                try #require(chown(path, Self.user, Self.user) == 0)
            }
            return shop
        }

        @Test(.enabled(if: canChangeUser, "needs setpriv where the tests run as root"), arguments: ["signer", "run"])
        func `a process with keys allows no core dump, no tracing and no swap`(name: String) async throws {
            let shop = try await shop()
            let socket = shop.folder.appending(path: "s").path
            let arguments = [name, "--config", shop.configuration] + (name == "signer" ? ["--socket", socket] : [])
            let program = try start(arguments)
            try #require(
                await program.logged(name == "signer" ? "signer.listening" : "worker.consuming"),
                "\(program.errorText)")
            let folder = "/proc/\(program.processID)"
            let limits = try String(contentsOfFile: "\(folder)/limits", encoding: .utf8)
            #expect(limits.contains(/Max core file size +0 +0 +bytes/), "\(limits)")
            let status = try String(contentsOfFile: "\(folder)/status", encoding: .utf8)
            #expect(status.contains("Uid:\t\(Self.user)\t"))
            // A process that may not be traced has its files in /proc handed to root (proc(5)).
            #expect(try FileManager.default.attributesOfItem(atPath: "\(folder)/environ")[.ownerAccountID] as? Int == 0)
            let reading = Self.command(["sh", "-c", "exec 3< \(folder)/mem"])
            let reader = try await Program.run(reading[0], Array(reading.dropFirst()))
            #expect(reader.status != 0)
            #expect(reader.errorText.contains("Permission denied"), "\(reader.errorText)")
            if !program.hasLogged("keys.unprotected") {
                let locked = try #require(status.firstMatch(of: /VmLck:\s+(\d+) kB/)).1
                #expect(Int(locked).map { $0 >= 4 } == true)
            }
            program.terminate()
            await program.waitForEnd()
            #expect(program.status == 0, "\(program.errorText)")
            await shop.close()
        }

        @Test(.enabled(if: canChangeUser, "needs setpriv where the tests run as root"))
        func `a signer that may not lock its keys reports it once, and runs all the same`() async throws {
            let shop = try await shop()
            let socket = shop.folder.appending(path: "s").path
            let signer = try start(["signer", "--config", shop.configuration, "--socket", socket], locking: 0)
            try #require(await signer.logged("signer.listening"), "\(signer.errorText)")
            let lines = signer.logLines("keys.unprotected")
            #expect(lines.count == 1)
            #expect(lines.first?.contains("LimitMEMLOCK=") == true)
            signer.terminate()
            await signer.waitForEnd()
            #expect(signer.status == 0, "\(signer.errorText)")
            await shop.close()
        }
    }
}
