import Foundation
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// The example of an edge in Java. Kafka's own client does not speak to the embedded broker.
    @Suite(.timeLimit(.minutes(5))) struct JavaEdgeTests {
        private static let libraries = ProcessInfo.processInfo.environment["REMINT_TEST_KAFKA_CLIENTS"] ?? ""
        private static let canRun =
            !libraries.isEmpty && ["javac", "java", "node", "curl", "openssl"].allSatisfy(Tool.isInstalled)
        private static let needs: Comment =
            "needs a JDK, Node, curl, openssl, and kafka-clients: set REMINT_TEST_KAFKA_CLIENTS to its class path"

        @Test(.enabled(if: canRun, needs)) func `the edge in Java does its duties`() async throws {
            try await Shop.open { shop in
                _ = try shop.startProgram()
                let gateway = try await Gateway(shop)
                let classes = try TemporaryFolder()
                let edge = EdgeExample(
                    "java", gateway: gateway.address, key: gateway.key, brokers: Cluster.brokers,
                    topic: shop.topics.live,
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
            }
        }
    }
}
