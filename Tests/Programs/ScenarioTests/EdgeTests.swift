import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension DeviceScenarios {
    /// The examples of edges: sessions, vouched users, events on the input topic, and tokens from the gateway.
    @Suite(.timeLimit(.minutes(5))) struct EdgeTests {
        /// A folder with the module kafkajs; nil if there is none.
        private static let modules = ProcessInfo.processInfo.environment["REMINT_TEST_NODE_MODULES"]
        private static let canRunPages = ["node", "curl", "openssl", "kcat"].allSatisfy(Tool.isInstalled)
        private static let needs: Comment = "needs Node, curl, openssl and kcat (Debian: nodejs, curl, openssl, kcat)"

        /// Runs devices against the edge in `language`, and then the commands of its page.
        private static func check(
            _ language: String, _ executable: String, _ arguments: [String], more: [String: String] = [:]
        ) async throws {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let edge = EdgeExample(
                language, gateway: gateway.address, key: Gateway.apiKey, brokers: shop.broker.bootstrapServers,
                more: more)
            let devices = try await edge.devices(of: executable, arguments)
            #expect(
                devices.outputText.trimmingCharacters(in: .newlines) == EdgeExample.expected,
                "\(devices.outputText) \(devices.errorText) \(gateway.program.errorText)")
            let page = try await edge.runPage()
            #expect(
                page.status == 0 && page.outputText.contains(#""token":"ey"#), "\(page.outputText) \(page.errorText)")
            await shop.close()
        }

        @Test(.enabled(if: canRunPages, needs)) func `the edge in Node does its duties`() async throws {
            // Without the module, events go through kcat.
            let more = Self.modules.map { ["NODE_PATH": $0] } ?? ["EDGE_PRODUCER": "kcat"]
            try await Self.check("node", "node", ["server.mjs"], more: more)
        }

        @Test(
            .enabled(
                if: canRunPages && PythonModules.areInstalled("confluent_kafka"),
                "needs Node, curl, openssl, kcat, and Python's confluent-kafka"))
        func `the edge in Python does its duties`() async throws {
            try await Self.check("python", "python3", ["server.py"])
        }
    }
}
