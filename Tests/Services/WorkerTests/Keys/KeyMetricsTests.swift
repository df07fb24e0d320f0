import AdapterKit
import Keyring
import Telemetry
import Testing

@testable import Worker

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
