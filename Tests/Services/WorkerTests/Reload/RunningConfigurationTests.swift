import AdapterKit
import Keyring
import Signing
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Preflight
@testable import Worker

/// Tests of the configuration that the watcher posts and the loop takes.
@Suite("The running configuration") final class RunningConfigurationTests {
    private let folder: String
    private let temporary: TemporaryFolder

    init() throws {
        temporary = try TemporaryFolder()
        folder = temporary.path
        for ring in ["one", "two"] { try KeyRings.make("\(folder)/\(ring)") }
    }

    private func preflight(ring: String = "one", more: String = "") -> Preflight {
        let text = workerConfiguration(brokers: "127.0.0.1:1", ring: "\(folder)/\(ring)", more: more)
        return Preflight(
            file: "c.yaml", registry: registry,
            source: ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil }))
    }

    private func reload(_ running: RunningConfiguration, _ preflight: Preflight) throws -> Reload {
        let new = try #require(preflight.configuration, "\(preflight.diagnostics)")
        let plan = ReloadPlan(started: running.started, running: running.current, new: new)
        return try Reload(plan, preflight, running: running.current)
    }

    private func running() throws -> RunningConfiguration {
        let preflight = preflight()
        return RunningConfiguration(
            try #require(preflight.configuration, "\(preflight.diagnostics)"), revisions: preflight.revisions)
    }

    @Test func `the loop takes the last posted configuration, once`() throws {
        let running = try running()
        #expect(running.take() == nil)
        for size in [40, 50] {
            let next = try reload(running, preflight(more: "worker: { memory: \(size)MB }"))
            #expect(running.post(next, to: 0))
        }
        #expect(running.current.worker.memory == 32 << 20, "not before it is taken")
        #expect(running.take()?.plan.configuration.worker.memory == 50 << 20)
        #expect(running.current.worker.memory == 50 << 20)
        #expect(running.take() == nil)
    }

    @Test func `a reload that was compared with an outdated configuration is refused`() throws {
        let running = try running()
        let first = try reload(running, preflight(more: "worker: { memory: 40MB }"))
        #expect(running.post(first, to: running.numbered.number))
        _ = running.take()
        #expect(!running.post(first, to: 0))
        #expect(running.take() == nil)
    }

    @Test func `a file that equals the running configuration withdraws the posted one`() throws {
        let running = try running()
        #expect(running.post(try reload(running, preflight(more: "worker: { memory: 40MB }")), to: 0))
        #expect(running.post(nil, to: 0))
        #expect(running.take() == nil)
    }

    @Test func `the keys of a reload count as provided once the signer has them`() throws {
        let running = try running()
        #expect(running.post(try reload(running, preflight(ring: "two")), to: 0))
        let reload = try #require(running.take())
        #expect(running.current.keys.map(\.path) == ["\(folder)/two"])
        #expect(running.provided.keys.map(\.path) == ["\(folder)/one"], "the signer has no other ring yet")
        running.provide(reload.plan.configuration)
        #expect(running.provided.keys.map(\.path) == ["\(folder)/two"])
    }

    @Test func `a ring that moved is brought along, with its listing as it was read`() throws {
        let running = try running()
        let moved = try reload(running, preflight(ring: "two"))
        #expect(moved.rings.map(\.name) == ["push"] && moved.goneRings.isEmpty)
        #expect(running.post(moved, to: 0))
        _ = running.take()
        #expect(running.rings.revisions.keys.sorted() == ["\(folder)/two"])
        #expect(running.rings.rings.map(\.path) == ["\(folder)/two"])
        #expect(try reload(running, preflight(ring: "two")).rings.isEmpty)
    }
}

@Suite("Accounts of look-ups over a reload") struct LookupSuccessionTests {
    private func succession(
        _ old: [(String, Int)], _ new: [(String, Int)]
    ) -> (before: [String: String], fixed: Set<String>) {
        let succession = LookupSuccession(
            from: old.map { (name: $0.0, fingerprint: Fingerprint(of: $0.1)) },
            to: new.map { (name: $0.0, fingerprint: Fingerprint(of: $0.1)) })
        return (succession.before, succession.fixed)
    }

    @Test func `an account that is the same goes on`() {
        let (before, fixed) = succession([("a", 1), ("b", 2)], [("a", 1), ("b", 2), ("c", 3)])
        #expect(before == ["a": "a", "b": "b"] && fixed.isEmpty)
    }

    @Test func `an account whose first app went goes on under the next one's name`() {
        let (before, fixed) = succession([("a", 1)], [("b", 1)])
        #expect(before == ["b": "a"] && fixed.isEmpty)
    }

    @Test func `an account whose terms changed goes on, marked as changed`() {
        let (before, fixed) = succession([("a", 1)], [("a", 2)])
        #expect(before == ["a": "a"] && fixed == ["a"])
    }

    /// The first app moved to credentials of its own; the limit stays with who still has the old ones.
    @Test func `an account's limits follow it to its new name, not the account that takes its old name`() {
        let (before, fixed) = succession([("a", 1)], [("a", 2), ("b", 1)])
        #expect(before == ["b": "a"] && fixed.isEmpty)
    }

    /// Minted tokens: every app asks one endpoint without credentials.
    @Test func `accounts that are all the same keep their names`() {
        let (before, _) = succession([("a", 1), ("b", 1), ("c", 1)], [("c", 1), ("b", 1), ("d", 1)])
        #expect(before == ["c": "c", "b": "b", "d": "a"])
    }
}
