import AdapterKit
import Foundation
import ProgramTestSupport
import Testing
import Vendors

@testable import WorkerConfiguration

/// Tests of a running worker's plan for a file that was read again.
@Suite("A configuration that is read again")
struct ReloadPlanTests {
    private static let text = """
        kafka: { bootstrap_servers: 127.0.0.1:9092, properties: { client.id: shop } }
        keys:
          shop: { path: keys/shop }
          push: { path: keys/push }
          held: { signer: signer.sock }
        apps:
          ios: { adapter: braze, key: shop, lifetime: 12h }
          push: { adapter: dotdigital, key: push, settings: { issuer: acme, audience: "https://push.example" } }
          far: { adapter: braze, key: held }
        worker:
          memory: 32MB
        """

    private func configuration(_ text: String = text, _ files: [String: String] = [:]) throws -> Configuration {
        var file = ConfigurationFile(text, files: files)
        file.adapters = .remint
        return try file.configuration()
    }

    /// Returns the plan for the usual file with these passages replaced.
    private func plan(_ changes: (String, String)..., files: [String: String] = [:]) throws -> ReloadPlan {
        var text = Self.text
        for (passage, replacement) in changes {
            try #require(text.contains(passage), "\(passage)")
            text = text.replacing(passage, with: replacement)
        }
        let old = try configuration()
        return ReloadPlan(started: old, running: old, new: try configuration(text, files))
    }

    @Test func `a file with the same meaning in another form changes nothing`() throws {
        let plan = try plan(
            (
                "  ios: { adapter: braze, key: shop, lifetime: 12h }",
                "  # a comment\n  ios: {adapter: braze, key: 'shop', lifetime: 12h}"
            ),
            ("worker:\n  memory: 32MB", "delivery: exactly_once\nworker: { memory: 32MB, bulk_share: 0.1 }"))
        #expect(plan.isEmpty)
        #expect(plan.needsRestart == [])
        #expect(plan.unchangedApps == ["ios", "push", "far"])
    }

    @Test func `an app that is added, changed or taken out is no other app's matter`() throws {
        let plan = try plan(
            ("lifetime: 12h", "lifetime: 6h"),
            ("  far: { adapter: braze, key: held }", "  new: { adapter: braze, key: shop }"))
        #expect(plan.changes == ["apps.ios", "apps.new", "apps.far"])
        #expect(plan.needsRestart == [])
        #expect(plan.unchangedApps == ["push"])
        #expect(plan.configuration.apps.map(\.name) == ["ios", "push", "new"])
        #expect(plan.configuration.apps.first?.lifetime == 21_600)
    }

    @Test func `a vendor file beside the configuration is part of the app that names it`() throws {
        let app = "  file: { adapter: own.yaml, key: push }\nworker:"
        let text = Self.text.replacing("worker:", with: app)
        let vendor = try String(
            contentsOf: Repository.root.appending(path: "adapters/declared/centrifugo.yaml"), encoding: .utf8)
        let old = try configuration(text, ["conf/own.yaml": vendor])
        let same = try configuration(text, ["conf/own.yaml": vendor])
        let other = try configuration(text, ["conf/own.yaml": vendor + "\n# another word\n"])
        #expect(ReloadPlan(started: old, running: old, new: same).isEmpty)
        let plan = ReloadPlan(started: old, running: old, new: other)
        #expect(plan.changes == ["apps.file"])
        #expect(plan.unchangedApps == ["ios", "push", "far"])
    }

    @Test func `a change that needs a restart is named and held back, and the rest is taken over`() throws {
        let plan = try plan(
            ("client.id: shop", "client.id: other"), ("lifetime: 12h", "lifetime: 6h"),
            (
                "worker:\n  memory: 32MB",
                """
                delivery: at_least_once
                topics: { tokens: others }
                admin: { listen: 127.0.0.1:1 }
                log: { level: debug, format: text }
                worker:
                  memory: 64MB
                  shutdown_deadline: 1m
                  retries: { tiers: [2s], max_attempts: 3 }
                  admission: { subjects: 10, coalesce: 5s }
                """
            ))
        #expect(
            plan.needsRestart == [
                "kafka.properties", "delivery", "topics.tokens", "worker.shutdown_deadline", "worker.retries.tiers",
                "worker.admission.subjects", "admin", "admin.listen", "log.format",
            ])
        #expect(
            plan.changes == [
                "worker.memory", "worker.retries.max_attempts", "worker.admission.coalesce", "log.level", "apps.ios",
            ])
        let (target, old) = (plan.configuration, try configuration())
        #expect(target.kafka.properties.map(\.value) == ["shop"])
        #expect(target.delivery == old.delivery && target.topics.tokens == "remint.tokens" && target.admin == nil)
        #expect(target.worker.shutdownDeadline == old.worker.shutdownDeadline)
        #expect(target.worker.retries.tiers == old.worker.retries.tiers && target.worker.retries.maxAttempts == 3)
        #expect(target.worker.admission.subjects == 250_000 && target.worker.admission.coalesce == .seconds(5))
        #expect(target.log.format == .json && target.log.level == "debug")
        #expect(target.worker.memory == 64 << 20)
        #expect(target.apps.first?.lifetime == 21_600)
    }

    /// A second change of a value is compared with what the start knows, not with what the last reading knew.
    @Test func `a change that needs a restart is named until the file agrees with the start again`() throws {
        let old = try configuration()
        let first = try configuration(Self.text.replacing("client.id: shop", with: "client.id: other"))
        let before = ReloadPlan(started: old, running: old, new: first)
        let again = ReloadPlan(started: old, running: before.configuration, new: first)
        #expect(again.isEmpty && again.needsRestart == ["kafka.properties"])
        let back = ReloadPlan(started: old, running: again.configuration, new: old)
        #expect(back.isEmpty && back.needsRestart == [])
    }

    @Test func `an app keeps its topics until the next start, and a new one takes nothing from others`() throws {
        let plan = try plan(
            ("lifetime: 12h }", "lifetime: 12h, topics: [own] }"),
            ("worker:", "  new: { adapter: braze, key: shop, topics: [news] }\nworker:"))
        #expect(plan.needsRestart == ["apps.ios.topics", "apps.new.topics"])
        #expect(plan.configuration.apps.first?.topics == [])
        #expect(plan.configuration.apps.last?.topics == ["news"])
    }

    @Test func `key rings come, go and move`() throws {
        let plan = try plan(
            ("  push: { path: keys/push }", "  push: { path: keys/moved }\n  other: { path: keys/other }"),
            ("key: shop, lifetime", "key: other, lifetime"))
        #expect(plan.changes == ["keys.push", "keys.other", "apps.ios"])
        #expect(plan.needsRestart == [])
        #expect(plan.configuration.keys.map(\.name) == ["shop", "push", "other", "held"])
        #expect(plan.configuration.keys[1].path == "conf/keys/moved")
    }

    @Test func `a ring stays with its signer, and one moved to a signer waits with its apps`() throws {
        let plan = try plan(
            ("  held: { signer: signer.sock }", "  held: { path: keys/held }"),
            ("  shop: { path: keys/shop }", "  shop: { signer: signer.sock }\n  more: { signer: signer.sock }"),
            ("worker:", "  new: { adapter: braze, key: more }\nworker:"))
        #expect(Set(plan.needsRestart) == ["keys.shop.signer", "keys.more.signer", "keys.held.signer", "apps.new.key"])
        #expect(plan.isEmpty)
        #expect(plan.configuration.keys.map(\.path) == ["conf/keys/shop", "conf/keys/push", nil])
        #expect(plan.configuration.apps.map(\.name) == ["ios", "push", "far"])
    }

    @Test func `a signer's client knows the algorithms that it was started for`() throws {
        let app = "  new: { adapter: dotdigital, key: held, settings: { issuer: a, audience: \"https://b.example\" } }"
        #expect(try plan(("worker:", app + "\nworker:")).needsRestart == ["apps.new.key"])
        let other = try plan(("worker:", "  new: { adapter: braze, key: held }\nworker:"))
        #expect(other.needsRestart == [] && other.changes == ["apps.new"])
    }

    @Test func `an app that is held back keeps the ring that it signs with`() throws {
        let plan = try plan(
            ("  shop: { path: keys/shop }", "  fresh: { signer: signer.sock }"),
            ("key: shop, lifetime", "key: fresh, lifetime"))
        #expect(plan.configuration.apps.first?.key == "shop")
        #expect(plan.configuration.keys.contains { $0.name == "shop" && $0.path == "conf/keys/shop" })
    }

    @Test func `an app that is held back is asked about with its own credentials`() throws {
        func text(_ ios: String, far key: String) -> String {
            func app(_ name: String, _ ring: String, _ secret: String) -> String {
                "  \(name): { adapter: braze, key: \(ring), lookup: { mode: verify, endpoint: \"https://rest.example\", key: \(secret) } }\n"
            }
            return "kafka: { bootstrap_servers: 127.0.0.1:9092 }\n"
                + "keys: { shop: { path: keys/shop }, fresh: { signer: signer.sock } }\n"
                + "apps:\n" + app("ios", "shop", ios) + app("far", key, "a-rest-key-of-the-vendor")
        }
        let together = text("a-rest-key-of-the-vendor", far: "shop")
        let old = try configuration(together.replacing(", fresh: { signer: signer.sock }", with: ""))
        let new = try configuration(text("another-key-of-the-vendor", far: "fresh"))
        let plan = ReloadPlan(started: old, running: old, new: new)
        #expect(plan.needsRestart.contains("apps.far.key"))
        let lookups = plan.configuration.apps.compactMap(\.lookup)
        #expect(lookups.map(\.account) == ["ios", "ios (before)"])
        #expect(lookups.last?.endpointFingerprint == old.apps.last?.lookup?.endpointFingerprint)
        // The next reload finds it as it is.
        let again = ReloadPlan(started: old, running: plan.configuration, new: new)
        #expect(again.configuration.apps.compactMap(\.lookup).map(\.account) == ["ios", "ios (before)"])
    }

    @Test func `the gateway's section is nothing to a worker`() throws {
        let pickup = "pickup: { listen: 127.0.0.1:1, session: { issuer: a, jwks: \"https://a.example\" } }\nworker:"
        let plan = try plan(("worker:", pickup))
        #expect(plan.isEmpty && plan.needsRestart == [])
    }

    /// Each key that there is, left out of a file that has all of them: the plan follows what is declared of it.
    @Test(arguments: FullConfiguration.all.flatMap(\.members))
    func `a key is taken over or named, as it is declared`(_ member: FullConfiguration.Member) throws {
        guard case .key(let key) = member.declaration, member.path.first != "pickup" else { return }
        let full = try FullConfiguration.of(member)
        let old = try #require(full.fixture.read().configuration)
        guard let new = full.replacing(member).read().configuration else { return }
        let plan = ReloadPlan(started: old, running: old, new: new)
        let name = member.path.joined(separator: ".")
        switch key.change {
        case .needsRestart:
            #expect(plan.needsRestart.contains(name))
            #expect(plan.isEmpty || member.path.first == "apps", "\(plan.changes)")
        case .passedOver, .reloadsInGateway:
            #expect(plan.isEmpty && plan.needsRestart == [], "\(plan.changes)")
        case .reloads:
            #expect(plan.needsRestart == [])
            let whole = ["apps", "keys"].contains(member.path[0]) ? member.path.prefix(2).joined(separator: ".") : name
            #expect(plan.changes.contains(whole), "\(plan.changes)")
        }
    }

    @Test func `the page on operation names every key that needs a restart, and no other`() throws {
        let page = try String(contentsOf: Repository.root.appending(path: "config/OPERATION.md"), encoding: .utf8)
        let section = try #require(page.split(separator: "\n## ").first { $0.hasPrefix("Reloading") })
        let rows = section.matches(of: /(?m)^\| (`[^|]+`) \|/).flatMap {
            $0.1.matches(of: /`([^`]+)`/).map { String($0.1) }
        }
        var declared: [String: KeyChange] = [:]
        func add(_ section: SectionDescription, _ path: [String]) {
            let path = section.name.isEmpty ? path : path + [section.name]
            for key in section.keys { declared[(path + [key.name]).joined(separator: ".")] = key.change }
            for inner in section.sections { add(inner, path) }
        }
        for section in Configuration.sections { add(section, []) }
        let named = declared.filter { key, _ in rows.contains { key == $0 || key.hasPrefix("\($0).") } }
        #expect(Set(named.keys) == Set(declared.filter { $0.value == .needsRestart }.keys))
        #expect(rows.allSatisfy { row in declared.keys.contains { $0 == row || $0.hasPrefix("\(row).") } })
    }
}
