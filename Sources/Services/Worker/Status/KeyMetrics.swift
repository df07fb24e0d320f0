import AdapterKit
import Keyring
import Telemetry

/// The metrics of the key rings and of their campaigns, as their folders have them. A ring that a signer holds has none but
/// the end of the version that signs.
struct KeyMetrics: Sendable {
    private let ends = GaugeFamily(
        "remint_key_retire_timestamp_seconds",
        "Retirement time (retire_after) of the signing version, and of its successor in an open campaign, in seconds since 1970; absent without retire_after.",
        labels: ["ring", "version"])
    private let created = GaugeFamily(
        "remint_key_created_timestamp_seconds",
        "Time at which the version that signs was added to its ring, in seconds since 1970.",
        labels: ["ring", "version"])
    private let activated = GaugeFamily(
        "remint_key_activated_timestamp_seconds",
        "Time since which the version signs, in seconds since 1970.", labels: ["ring", "version"])
    private let phases = GaugeFamily(
        "remint_campaign_phase",
        "1 for the phase of the ring's last campaign, 0 for the other phases: \(Rotation.Phase.allCases.map(\.rawValue).joined(separator: ", ")).",
        labels: ["ring", "phase"])
    private let paused = GaugeFamily(
        "remint_campaign_paused", "1 while the ring's open campaign is paused; absent without an open campaign.",
        labels: ["ring"])
    private let begun = GaugeFamily(
        "remint_campaign_start_timestamp_seconds",
        "Time at which the ring's open campaign began, in seconds since 1970.", labels: ["ring"])
    private let pausedSince = GaugeFamily(
        "remint_campaign_paused_timestamp_seconds",
        "Time at which the ring's open campaign was paused, in seconds since 1970; absent while it is not.",
        labels: ["ring"])
    private let users = GaugeFamily(
        "remint_campaign_users",
        "Users of the open campaign's present round: done (a new token is requested, or impossible) or left (still to do).",
        labels: ["ring", "state"])

    init(_ registry: MetricsRegistry) {
        registry.add(familiesOf: self)
    }

    /// Replaces all values by those of `reports`.
    ///
    /// - Parameter keyEnds: the ends of the versions that the rings need.
    func set(_ reports: [RingReport], ends keyEnds: [KeyEnd]) {
        ends.replace(keyEnds.map { ([$0.ring, $0.version], Double($0.end.seconds)) })
        let active = reports.compactMap { report in
            report.versions.first { $0.state == .active }.map { (ring: report.name, version: $0) }
        }
        created.replace(
            active.compactMap { entry in
                entry.version.created.map { ([entry.ring, entry.version.id], Double($0.seconds)) }
            })
        activated.replace(
            active.compactMap { entry in
                entry.version.activated.map { ([entry.ring, entry.version.id], Double($0.seconds)) }
            })
        let campaigns = reports.compactMap { report in
            report.campaign.map { (ring: report.name, campaign: $0, progress: report.progress) }
        }
        phases.replace(
            campaigns.flatMap { entry in
                Rotation.Phase.allCases.map { ([entry.ring, $0.rawValue], $0 == entry.campaign.phase ? 1.0 : 0) }
            })
        let open = campaigns.filter { !$0.campaign.phase.isOver }
        paused.replace(open.map { ([$0.ring], $0.campaign.pause == nil ? 0.0 : 1) })
        begun.replace(open.map { ([$0.ring], Double($0.campaign.begun.seconds)) })
        pausedSince.replace(
            open.compactMap { entry in entry.campaign.pausedSince.map { ([entry.ring], Double($0.seconds)) } })
        users.replace(
            open.flatMap { entry -> [([String], Double)] in
                guard let progress = entry.progress else { return [] }
                let done = ([entry.ring, "done"], Double(progress.done))
                return [done] + (progress.left.map { [([entry.ring, "left"], Double($0))] } ?? [])
            })
    }
}
