import AdapterKit
import Keyring
import Telemetry

/// The metrics of the key rings and of their campaigns, as their folders have them. A ring that a signer holds has none but
/// the end of the version that signs.
struct KeyMetrics: Sendable {
    private let ends: GaugeFamily
    private let created: GaugeFamily
    private let activated: GaugeFamily
    private let phases: GaugeFamily
    private let paused: GaugeFamily
    private let begun: GaugeFamily
    private let pausedSince: GaugeFamily
    private let users: GaugeFamily

    init(_ registry: MetricsRegistry) {
        ends = registry.gauge(
            "remint_key_retire_timestamp_seconds",
            "Retirement time (retire_after) of the signing version, and of its successor in an open campaign, in seconds since 1970; absent without retire_after.",
            labels: ["ring", "version"])
        created = registry.gauge(
            "remint_key_created_timestamp_seconds",
            "Time at which the version that signs was added to its ring, in seconds since 1970.",
            labels: ["ring", "version"])
        activated = registry.gauge(
            "remint_key_activated_timestamp_seconds",
            "Time since which the version signs, in seconds since 1970.", labels: ["ring", "version"])
        let names = Rotation.Phase.allCases.map(\.rawValue).joined(separator: ", ")
        phases = registry.gauge(
            "remint_campaign_phase",
            "1 for the phase of the ring's last campaign, 0 for the other phases: \(names).",
            labels: ["ring", "phase"])
        paused = registry.gauge(
            "remint_campaign_paused", "1 while the ring's open campaign is paused; absent without an open campaign.",
            labels: ["ring"])
        begun = registry.gauge(
            "remint_campaign_start_timestamp_seconds",
            "Time at which the ring's open campaign began, in seconds since 1970.", labels: ["ring"])
        pausedSince = registry.gauge(
            "remint_campaign_paused_timestamp_seconds",
            "Time at which the ring's open campaign was paused, in seconds since 1970; absent while it is not.",
            labels: ["ring"])
        users = registry.gauge(
            "remint_campaign_users",
            "Users of the open campaign's present round: done (a new token is requested, or impossible) or left (still to do).",
            labels: ["ring", "state"])
    }

    /// Replaces all values by those of `reports`.
    ///
    /// - Parameter keyEnds: the ends of the versions that the rings need.
    func set(_ reports: [RingReport], ends keyEnds: [KeyEnd]) {
        ends.replace(Self.values(keyEnds.map { ([$0.ring, $0.version], Double($0.end.seconds)) }))
        let active = reports.compactMap { report in
            report.versions.first { $0.state == .active }.map { (ring: report.name, version: $0) }
        }
        created.replace(
            Self.values(
                active.compactMap { entry in
                    entry.version.created.map { ([entry.ring, entry.version.id], Double($0.seconds)) }
                }))
        activated.replace(
            Self.values(
                active.compactMap { entry in
                    entry.version.activated.map { ([entry.ring, entry.version.id], Double($0.seconds)) }
                }))
        set(
            reports.compactMap { report in
                report.campaign.map { (ring: report.name, campaign: $0, progress: report.progress) }
            })
    }

    private func set(_ campaigns: [(ring: String, campaign: Rotation, progress: CampaignProgress?)]) {
        phases.replace(
            Self.values(
                campaigns.flatMap { entry in
                    Rotation.Phase.allCases.map { phase in
                        ([entry.ring, phase.rawValue], phase == entry.campaign.phase ? 1.0 : 0)
                    }
                }))
        let open = campaigns.filter { !$0.campaign.phase.isOver }
        paused.replace(Self.values(open.map { ([$0.ring], $0.campaign.pause == nil ? 0.0 : 1) }))
        begun.replace(Self.values(open.map { ([$0.ring], Double($0.campaign.begun.seconds)) }))
        pausedSince.replace(
            Self.values(
                open.compactMap { entry in
                    entry.campaign.pausedSince.map { ([entry.ring], Double($0.seconds)) }
                }))
        users.replace(
            Self.values(
                open.flatMap { entry -> [([String], Double)] in
                    guard let progress = entry.progress else { return [] }
                    let done = ([entry.ring, "done"], Double(progress.done))
                    return [done] + (progress.left.map { [([entry.ring, "left"], Double($0))] } ?? [])
                }))
    }

    private static func values(_ pairs: [([String], Double)]) -> [[String]: Double] {
        Dictionary(pairs) { first, _ in first }
    }
}
