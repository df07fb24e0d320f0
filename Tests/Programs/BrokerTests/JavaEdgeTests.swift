import Foundation
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// The example of an edge in Java. Kafka's own client does not speak to the embedded broker.
    @Suite(.timeLimit(.minutes(5))) struct JavaEdgeTests {
        /// The class path of Kafka's client.
        private static let libraries = ProcessInfo.processInfo.environment["REMINT_TEST_KAFKA_CLIENTS"] ?? ""
        private static let canRun =
            !libraries.isEmpty && ["javac", "java", "node", "curl", "openssl"].allSatisfy(Tool.isInstalled)
        private static let needs: Comment =
            "needs a JDK, Node, curl, openssl, and kafka-clients: set REMINT_TEST_KAFKA_CLIENTS to its class path"

        @Test(.enabled(if: canRun, needs)) func `the edge in Java does its duties`() async throws {
            try await Shop.open { shop in
                let worker = try shop.startProgram()
                let made = try await Program.run(Repository.remint, ["pickup-key", "edge"])
                let key = made.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
                let hash = try #require(made.errorText.firstMatch(of: /\b[0-9a-f]{64}\b/)?.0)
                let (gateway, address) = try await Self.startGateway(shop, hash: String(hash))
                let classes = try TemporaryFolder()
                let edge = EdgeExample(
                    "java", gateway: address, key: key, brokers: Cluster.brokers, topic: shop.topics.live,
                    more: ["KAFKA_CLIENTS": Self.libraries, "CLASSES": classes.url.path])
                // The page compiles the edge.
                let page = try await edge.runPage()
                #expect(
                    page.status == 0 && page.outputText.contains(#""token":"ey"#),
                    "\(page.outputText) \(page.errorText)")
                let devices = try await edge.devices(
                    of: "java", ["-cp", "\(classes.url.path):\(Self.libraries)", "Edge"])
                #expect(
                    devices.outputText.trimmingCharacters(in: .newlines) == EdgeExample.expected,
                    "\(devices.outputText) \(devices.errorText)")
                gateway.terminate()
                await gateway.waitForEnd()
                worker.terminate()
                await worker.waitForEnd()
            }
        }

        /// Starts a gateway with an API key, and returns it with its address.
        private static func startGateway(_ shop: Shop, hash: String) async throws -> (Program, String) {
            let file = shop.folder.appending(path: "pickup.yaml")
            let text = try String(contentsOf: shop.folder.appending(path: "remint.yaml"), encoding: .utf8)
            let section = "pickup:\n  listen: 127.0.0.1:0\n  drain: 0s\n  api_keys: { edge: { hash: \(hash) } }\n"
            try Data("\(text)\n\(section)".utf8).write(to: file)
            let program = try Program(Repository.remint, ["pickup", "--config", file.path])
            try #require(await program.logged("gateway.listening"), "\(program.errorText)")
            let match = try #require(program.errorText.firstMatch(of: /remint\.pickup\.address=([0-9.:]+)/))
            return (program, String(match.1))
        }
    }
}
