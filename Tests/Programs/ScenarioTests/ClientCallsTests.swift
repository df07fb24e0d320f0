import AdapterKit
import AsyncTestSupport
import Foundation
@_spi(Signing) import JOSE
import Kafka
import ProgramTestSupport
import RemintClient
import StubServer
import Synchronization
import Testing

extension ClientScenarios {
    /// Calls of each client through 429, 503, cuts, sign-in pages and restarts of the gateway.
    @Suite(.timeLimit(.minutes(5))) struct ClientCallsTests {
        private static let count =
            ProcessInfo.processInfo.environment["REMINT_TEST_CLIENT_CALLS"].flatMap { Int($0) } ?? Scale.rounds(1000)
        private static let hasNode = Tool.isInstalled("node")
        private static let hasJava = Tool.isInstalled("javac") && Tool.isInstalled("java")
        private static let needsNode: Comment = "needs Node (Debian: nodejs)"

        /// The outcome of a program's calls, as it writes it.
        private struct Outcome: Decodable, Sendable {
            let calls: Int
            let answered: Int
            let streamed: Int
            let older: Count
            let refused: Count

            /// A number, or a list that is counted.
            struct Count: Decodable, Sendable {
                let value: Int

                init(_ value: Int) { self.value = value }

                init(from decoder: any Decoder) throws {
                    let container = try decoder.singleValueContainer()
                    if let value = try? container.decode(Int.self) {
                        self.value = value
                    } else {
                        value = try container.decode([Element].self).count
                    }
                }

                private struct Element: Decodable { init(from decoder: any Decoder) {} }
            }
        }

        /// A program's place: the faulty gateway, and a file with the sessions of all users.
        private struct Place: Sendable {
            let gateway: String
            let users: URL
        }

        /// Runs `client` before a gateway that restarts three times, behind a proxy with faults.
        private static func check(_ streams: Int, _ client: @escaping @Sendable (Place) async throws -> Outcome)
            async throws
        {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let issuer = try SigningKey.generate(.es256, keyID: "session-1")
            var gateway = try await Gateway.start(shop, issuer: issuer)
            let folder = try TemporaryFolder()
            let users = folder.url.appending(path: "users.json")
            try JSONEncoder().encode((0..<count).map { try gateway.session("u-\($0)") }).write(to: users)
            let proxy = try await FaultyProxy.start(gateway.address, seed: 7, serving: [folder.url])
            let place = Place(gateway: proxy.address, users: users)
            let calling = Task {
                do { return try await client(place) } catch {
                    await proxy.stop()
                    throw error
                }
            }
            // A graceful end, a crash, and another end, while calls are on their way: each call is at least one at the proxy.
            for (calls, signal) in [(count * 3 / 10, SIGTERM), (count * 6 / 10, SIGKILL), (count * 9 / 10, SIGTERM)] {
                try await proxy.calls(calls)
                gateway.program.send(signal)
                await gateway.program.waitForEnd()
                gateway = try await Gateway.start(shop, issuer: issuer)
                try await proxy.setUpstream(gateway.address)
            }
            let outcome = try await calling.value
            #expect(outcome.calls == count && outcome.answered == count, "no call is given up")
            #expect(outcome.refused.value == 0 && outcome.older.value == 0 && outcome.streamed == streams)
            let report = try await proxy.report()
            #expect(report.early.isEmpty, "calls before the time of Retry-After")
            #expect(report.inAddress == 0, "a session in an address")
            #expect(report.tooMany > 0 && report.unavailable > 0, "the plan has faults of both kinds")
            await proxy.stop()
            await shop.close()
        }

        private static func outcome(of program: Program) throws -> Outcome {
            try #require(program.status == 0, "\(program.errorText)")
            return try JSONDecoder().decode(Outcome.self, from: program.standardOutput)
        }

        private static func file(_ path: String) -> String { Repository.root.appending(path: path).path }

        @Test(.enabled(if: hasNode, needsNode)) func `the JavaScript client gives up no call in Node`() async throws {
            try await Self.check(10) { place in
                try Self.outcome(
                    of: await Program.run(
                        "node",
                        [
                            Self.file("Tests/Services/PickupTests/Pages/node-calls.mjs"),
                            Self.file("Sources/Services/Pickup/Resources/remint.mjs"), "http://\(place.gateway)",
                            "braze-ios", place.users.path,
                        ]))
            }
        }

        @Test(.enabled(if: hasNode, needsNode)) func `the Swift client gives up no call`() async throws {
            try await Self.check(10) { place in
                let sessions = try JSONDecoder().decode([String].self, from: Data(contentsOf: place.users))
                let gateway = try #require(URL(string: "http://\(place.gateway)"))
                let found = try await SwiftCalls(gateway: gateway, app: "braze-ios", sessions: sessions).run()
                return Outcome(
                    calls: found.calls, answered: found.answered, streamed: found.streamed,
                    older: .init(found.older), refused: .init(0))
            }
        }

        @Test(.enabled(if: hasNode && hasJava, "needs Node and a JDK (Debian: nodejs, openjdk-17-jdk-headless)"))
        func `the Java client gives up no call`() async throws {
            let classes = try TemporaryFolder()
            try await Self.compileJava(into: classes.url)
            let path = classes.url.path
            try await Self.check(10) { place in
                try Self.outcome(
                    of: await Program.run(
                        "java", ["-cp", path, "remint.Calls", "http://\(place.gateway)", "braze-ios", place.users.path])
                )
            }
        }

        @Test(.enabled(if: hasJava, "needs a JDK (Debian: openjdk-17-jdk-headless)"))
        func `the Java client keeps its promises before a scripted gateway`() async throws {
            let classes = try TemporaryFolder()
            try await Self.compileJava(into: classes.url)
            let checks = try await Program.run("java", ["-cp", classes.url.path, "remint.ClientChecks"])
            #expect(
                checks.status == 0 && checks.outputText.contains(": ok"), "\(checks.outputText) \(checks.errorText)")
        }

        /// Compiles the client as its page does, and the programs that test it.
        private static func compileJava(into classes: URL) async throws {
            let page = try String(contentsOfFile: file("config/clients/java/README.md"), encoding: .utf8)
            let command = String(try #require(page.firstMatch(of: /```sh\n(javac [^\n]*)\n```/)).1)
            let client = try await Program.run(
                "bash", ["-c", command.replacing("-d classes", with: "-d '\(classes.path)'")],
                directory: URL(filePath: file("config/clients/java")))
            try #require(client.status == 0, "\(client.errorText)")
            let tests = ["Calls", "ClientChecks"].map { file("Tests/Clients/java/\($0).java") }
            let compiler = try await Program.run(
                "javac", ["-encoding", "UTF-8", "-cp", classes.path, "-d", classes.path] + tests)
            try #require(compiler.status == 0, "\(compiler.errorText)")
        }

        @Test(.enabled(if: hasNode && browser != nil, "needs Node and Chromium (Debian: nodejs, chromium)"))
        func `the JavaScript client gives up no call in Chromium`() async throws {
            try await Self.check(2) { place in
                let mailbox = Site()
                let site = try await StubServer.start(mailbox, now: { UnixTime(microseconds: 0) })
                let profile = try TemporaryFolder()
                let chromium = try openPage(
                    "http://\(place.gateway)/calls.html?app=braze-ios&done=\(site.url)/done", profile: profile.url)
                let result = await mailbox.result()
                chromium.kill()
                await chromium.waitForEnd()
                await site.stop()
                return try JSONDecoder().decode(Outcome.self, from: Data(result))
            }
        }
    }
}
