import AdapterKit
import AsyncTestSupport
import Foundation
import Keyring
import Signing
import Synchronization
import Telemetry
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Preflight
@testable import Worker

/// A ring whose active version ends, under a clock that the test moves.
@Suite("The ends of signing keys") final class KeyEndWatchTests {
    private static let end = UnixTime(seconds: 1_900_000_000)
    private let folder: TemporaryFolder
    private let preflight: Preflight
    private let clock = MovedClock(KeyEndWatchTests.end)
    private let status = WorkerStatus()
    private let metrics = WorkerMetrics()
    private let log = RecordingLog()

    init() throws {
        folder = try TemporaryFolder()
        preflight = try Self.preflight(in: folder.path, retireAfter: Self.end)
        status.set(.worker, nil)
    }

    /// Makes the ring and reads its configuration.
    private static func preflight(in folder: String, retireAfter: UnixTime?) throws -> Preflight {
        let directory = KeyRingDirectory(path: "\(folder)/ring")
        try? FileManager.default.removeItem(atPath: directory.path)
        try directory.makeFolder()
        var editor = try KeyRingEditor(directory)
        try editor.add(
            try SigningKey.generate(.hs256), id: "k1", encoding: .hex, at: UnixTime(seconds: 1_800_000_000),
            retireAfter: retireAfter)
        let text = workerConfiguration(brokers: "127.0.0.1:1", ring: directory.path)
        let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil })
        return Preflight(file: "c.yaml", registry: registry, source: source)
    }

    private func watch(
        _ preflight: Preflight? = nil, rings: [KeyRing]? = nil, changed: (inout Configuration) -> Void = { _ in }
    ) throws -> KeyEndWatch {
        let preflight = preflight ?? self.preflight
        var configuration = try #require(preflight.configuration)
        changed(&configuration)
        let signer = LocalSigner(rings ?? Array(preflight.rings.values), lanes: 1)
        return KeyEndWatch(
            { [configuration] in configuration }, signer: signer, status: status, metrics: metrics,
            logger: log.logger(),
            now: { [clock] in clock.now() })
    }

    private func move(to secondsBeforeEnd: Int64) {
        clock.move(to: Self.end.advanced(bySeconds: -secondsBeforeEnd))
    }

    private var events: [String?] { log.lines.map(\.event) }

    @Test func `a worker whose app cannot sign is not ready, and names app, ring, version and command`() throws {
        let watch = try watch()
        var seen = KeyEndWatch.Seen()
        move(to: 40 * 86_400)
        watch.look(&seen)
        #expect(status.isReady)
        #expect(events.isEmpty)
        move(to: -1)
        for _ in 0..<2 { watch.look(&seen) }
        #expect(
            status.problems == [
                .keys:
                    "the app push cannot sign: the version k1 of the key ring push retired at \(Self.end); replace the key: remint rotate prepare --key push, then: remint rotate promote --key push --now"
            ])
        #expect(events == ["key.retiring", "app.not-signing"])
        #expect(log.lines.last?.metadata["remint.app"] == "push")
        // Another key without an end.
        try self.watch(Self.preflight(in: folder.path, retireAfter: nil)).look(&seen)
        #expect(status.isReady)
        #expect(events.last == "app.signing")
    }

    @Test func `an app whose key became unknown keeps its problem`() throws {
        var seen = KeyEndWatch.Seen()
        move(to: -1)
        try watch().look(&seen)
        let problems = status.problems
        #expect(problems[.keys] != nil)
        let before = events
        // The listing cannot be read, and the signer has no key of the ring.
        try FileManager.default.removeItem(atPath: "\(folder.path)/ring/keyring.json")
        let unknown = try watch(rings: [])
        for _ in 0..<2 { unknown.look(&seen) }
        #expect(events == before)
        #expect(status.problems == problems)
    }

    @Test func `an app that is no longer configured has no problem, and nothing is logged about it`() throws {
        var seen = KeyEndWatch.Seen()
        move(to: -1)
        try watch().look(&seen)
        let before = events
        try watch { $0.apps = [] }.look(&seen)
        #expect(status.isReady)
        #expect(events == before)
    }

    @Test func `a key that leaves no room for the vendor's shortest token cannot sign`() throws {
        let app = try #require(preflight.configuration?.apps.first)
        let shortest = app.adapter.lifetime.allowed.lowerBound
        let watch = try watch()
        var seen = KeyEndWatch.Seen()
        move(to: shortest)
        watch.look(&seen)
        #expect(status.isReady)
        move(to: shortest - 1)
        watch.look(&seen)
        #expect(status.problems[.keys]?.contains("retires at \(Self.end)") == true)
    }

    @Test func `a key's end is logged at 30, 7 and 1 days and at its end, once each`() throws {
        let watch = try watch()
        var seen = KeyEndWatch.Seen()
        for (days, lines) in [(31, 0), (29, 1), (28, 1), (6, 2), (5, 2)] as [(Int64, Int)] {
            move(to: days * 86_400)
            watch.look(&seen)
            #expect(log.lines.count == lines, "\(days) days")
        }
        #expect(log.lines.last?.metadata["remint.detail"]?.contains("in 6 days; replace it:") == true)
    }

    @Test func `the metric has the end of each ring's active version`() throws {
        var seen = KeyEndWatch.Seen()
        try watch().look(&seen)
        let line = #"remint_key_retire_timestamp_seconds{ring="push",version="k1"} 1900000000"#
        let text = metrics.registry.exposition()
        #expect(text.contains(line), "\(text)")
        for name in ["created", "activated"] {
            let age = #"remint_key_\#(name)_timestamp_seconds{ring="push",version="k1"} 1800000000"#
            #expect(text.contains(age), "\(text)")
        }
        try watch(Self.preflight(in: folder.path, retireAfter: nil)).look(&seen)
        #expect(!metrics.registry.exposition().contains("remint_key_retire_timestamp_seconds{"))
    }

    @Test func `a check warns 30 days before the end, and fails where an app cannot sign`() throws {
        func ends(_ secondsBeforeEnd: Int64) -> [Diagnostic] {
            preflight.notices(at: Self.end.advanced(bySeconds: -secondsBeforeEnd))
                .filter { $0.message.contains("k1") }
        }
        #expect(ends(30 * 86_400).isEmpty)
        #expect(ends(30 * 86_400 - 1).map(\.severity) == [.warning])
        #expect(
            ends(3 * 86_400).map(\.message) == [
                "the active version k1 of the key ring push retires at \(Self.end), in 3 days; replace it: remint rotate prepare --key push --config c.yaml"
            ])
        #expect(ends(0).map(\.severity) == [.error])
        #expect(ends(0).first?.message.hasPrefix("the app push cannot sign: the version k1") == true)
        #expect(preflight.isReady, "the worker starts, because other apps' users need tokens")
    }
}

/// A clock that the test moves.
private final class MovedClock: Sendable {
    private let time: Mutex<UnixTime>

    init(_ time: UnixTime) { self.time = Mutex(time) }

    func now() -> UnixTime { time.withLock { $0 } }
    func move(to moment: UnixTime) { time.withLock { $0 = moment } }
}

@Suite("Metrics of key rings and campaigns") struct KeyMetricsTests {
    private static let begun = UnixTime(seconds: 1_800_000_000)

    private func samples(_ reports: [RingReport], ends: [KeyEnd] = []) -> [String] {
        let registry = MetricsRegistry()
        let metrics = KeyMetrics(registry)
        // Values of before are gone.
        metrics.set([report(paused: true)], ends: [KeyEnd(ring: "x", version: "y", isSigning: true, end: Self.begun)])
        metrics.set(reports, ends: ends)
        return registry.exposition().split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    }

    private func report(paused: Bool, over: Bool = false) -> RingReport {
        var report = RingReport(name: "shop")
        report.versions = [
            ListedVersion(id: "a", algorithm: .rs256, file: "a.pem", created: UnixTime(seconds: 1_700_000_000))
        ]
        var rotation = Rotation(id: "c", from: "a", to: "b", at: Self.begun)
        if paused {
            try? rotation.pause(because: "OPS-7")
            rotation.datePause(Self.begun.advanced(bySeconds: 60))
        }
        if over { try? rotation.abort() }
        report.campaign = rotation
        return report
    }

    @Test func `an open campaign has its phase, its start and its pause`() {
        let samples = samples([report(paused: true)])
        #expect(samples.contains(#"remint_campaign_phase{ring="shop",phase="prepared"} 1"#))
        #expect(samples.contains(#"remint_campaign_phase{ring="shop",phase="waves"} 0"#))
        #expect(samples.contains(#"remint_campaign_paused{ring="shop"} 1"#))
        #expect(samples.contains(#"remint_campaign_start_timestamp_seconds{ring="shop"} 1800000000"#))
        #expect(samples.contains(#"remint_campaign_paused_timestamp_seconds{ring="shop"} 1800000060"#))
    }

    @Test func `a campaign that is not paused has no pause`() {
        let samples = samples([report(paused: false)])
        #expect(samples.contains(#"remint_campaign_paused{ring="shop"} 0"#))
        #expect(!samples.contains { $0.hasPrefix("remint_campaign_paused_timestamp_seconds") })
        #expect(!samples.contains { $0.hasPrefix("remint_campaign_users") })
    }

    @Test func `a campaign that is over has its phase alone`() {
        let samples = samples([report(paused: false, over: true)])
        #expect(samples.contains(#"remint_campaign_phase{ring="shop",phase="aborted"} 1"#))
        #expect(samples.allSatisfy { $0.hasPrefix("remint_campaign_phase") }, "\(samples)")
    }

    @Test func `the end of a key is shown, and a ring without an active version has no age`() {
        let end = KeyEnd(ring: "shop", version: "a", isSigning: true, end: Self.begun)
        #expect(
            samples([RingReport(name: "far", isBehindSigner: true)], ends: [end])
                == [#"remint_key_retire_timestamp_seconds{ring="shop",version="a"} 1800000000"#])
    }
}
