import AdapterKit
import ProgramTestSupport
import Testing
import Vendors

@testable import WorkerConfiguration

/// Tests of a running gateway's plan for a file that was read again.
@Suite struct GatewayReloadPlanTests {
    private static let text = """
        kafka: { bootstrap_servers: 127.0.0.1:9092 }
        keys:
          shop: { path: keys/shop }
        apps:
          ios: { adapter: braze, key: shop, lifetime: 12h }
          android: { adapter: braze, key: shop }
        pickup:
          listen: 127.0.0.1:8080
          session: { issuer: https://login.example, jwks: https://login.example/jwks }
          apps:
            ios: { issuer: https://login.example }
          user_rate: 5
        worker:
          memory: 32MB
        log: { level: notice }
        """

    private func configuration(_ text: String = text) throws -> Configuration {
        var file = ConfigurationFile(text)
        file.adapters = .remint
        return try file.configuration()
    }

    /// Returns the plan for the usual file with these passages replaced.
    private func plan(_ changes: (String, String)...) throws -> GatewayReloadPlan {
        var text = Self.text
        for (passage, replacement) in changes {
            try #require(text.contains(passage), "\(passage)")
            text = text.replacing(passage, with: replacement)
        }
        let old = try configuration()
        return GatewayReloadPlan(started: old, running: old, new: try configuration(text))
    }

    @Test func `a change of comments or of the worker's settings alone changes nothing`() throws {
        let plan = try plan(("memory: 32MB", "memory: 64MB"), ("user_rate: 5", "user_rate:   5 # a comment"))
        #expect(plan.isEmpty && plan.needsRestart == [])
    }

    @Test func `apps, callers and limits are taken over`() throws {
        let plan = try plan(
            ("lifetime: 12h", "lifetime: 6h"), ("  android:", "  tablet:"), ("user_rate: 5", "user_rate: 6"),
            ("jwks: https://login.example/jwks", "jwks: https://login.example/keys"), ("level: notice", "level: info"),
            ("    ios: { issuer", "    tablet: { issuer: https://login.example }\n    ios: { issuer"))
        #expect(
            Set(plan.changes) == [
                "apps.ios", "apps.tablet", "apps.android", "pickup.user_rate", "pickup.session.jwks", "log.level",
                "pickup.apps.tablet.issuer",
            ])
        #expect(plan.needsRestart == [])
    }

    @Test func `the worker's times of coalescing and probes are taken over, and an app keeps its topics`() throws {
        let plan = try plan(
            ("memory: 32MB", "admission: { coalesce: 5s, suspend_probe: 90s, subjects: 0 }"),
            ("lifetime: 12h }", "lifetime: 12h, topics: [shop.ios] }"))
        #expect(Set(plan.changes) == ["worker.admission.coalesce", "worker.admission.suspend_probe", "apps.ios"])
        #expect(plan.needsRestart == ["apps.ios.topics"])
        let admission = plan.configuration.worker.admission
        #expect(admission.coalescing == .seconds(5) && admission.probeWait == .seconds(90))
        #expect(plan.configuration.apps.map(\.topics) == [[], []])
    }

    @Test func `a change of servers, clients or caches waits for a restart`() throws {
        let plan = try plan(
            ("127.0.0.1:9092", "127.0.0.1:9093"), ("listen: 127.0.0.1:8080", "listen: 127.0.0.1:8081\n  cache: 32MB"))
        #expect(plan.isEmpty)
        #expect(Set(plan.needsRestart) == ["kafka.bootstrap_servers", "pickup.listen", "pickup.cache"])
        #expect(plan.configuration.kafka.bootstrapServers == "127.0.0.1:9092")
    }
}
