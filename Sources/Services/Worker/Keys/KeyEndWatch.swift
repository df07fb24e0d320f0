import AdapterKit
import Keyring
import Logging
import Pipeline
import Preflight
import Telemetry
import Wiring
import WorkerConfiguration

/// Looks every second at the key rings: at the ends of the keys that sign, at campaigns, and at each app's ability to sign.
/// It sets the readiness and the metrics, and logs each change once.
struct KeyEndWatch: Sendable {
    /// The state that was last logged.
    struct Seen: Sendable {
        var apps: [String: String] = [:]
        var stages: [[String]: KeyEnd.Stage] = [:]
        var pauses: [String: String] = [:]
    }

    private let configuration: @Sendable () -> Configuration
    private let rings: RingReader
    private let signer: any SigningPort
    private let status: WorkerStatus
    private let metrics: WorkerMetrics
    private let logger: Logger
    private let now: @Sendable () -> UnixTime

    /// A watch of the rings and apps of `configuration`, whose active keys `signer` knows.
    init(
        _ configuration: @escaping @Sendable () -> Configuration, signer: any SigningPort, status: WorkerStatus,
        metrics: WorkerMetrics, logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        self.configuration = configuration
        rings = RingReader { configuration().ringPlaces }
        self.signer = signer
        self.status = status
        self.metrics = metrics
        self.logger = logger
        self.now = now
    }

    func run() async {
        var seen = Seen()
        while !Task.isCancelled {
            look(&seen)
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Looks once, and logs the differences from `seen`.
    func look(_ seen: inout Seen) {
        let now = now()
        let reports = rings.read()
        let ends = reports.flatMap { report in
            report.isBehindSigner ? signedElsewhere(report.name).map { [$0] } ?? [] : report.ends
        }
        metrics.keys.set(reports, ends: ends)
        logStages(of: ends, &seen, at: now)
        logApps(reports, &seen, at: now)
        logPauses(reports, &seen)
    }

    private func logPauses(_ reports: [RingReport], _ seen: inout Seen) {
        var pauses: [String: String] = [:]
        for report in reports {
            guard let campaign = report.campaign, !campaign.phase.isOver, let pause = campaign.pause else { continue }
            pauses[report.name] = pause
            guard seen.pauses[report.name] == nil else { continue }
            logger.warning(
                "campaign.paused", "a campaign is paused; it replaces no token until it is resumed",
                metadata: [LogKey.keyRing: "\(report.name)", LogKey.detail: "\(pause)"])
        }
        for ring in seen.pauses.keys.sorted() where pauses[ring] == nil {
            logger.notice(
                "campaign.pause-over", "a campaign is not paused any more", metadata: [LogKey.keyRing: "\(ring)"])
        }
        seen.pauses = pauses
        let reasons = pauses.sorted { $0.key < $1.key }.map { "the campaign of \($0.key) is paused: \($0.value)" }
        status.degradations.set(.keys, reasons.isEmpty ? nil : reasons.joined(separator: "; "), of: "campaigns")
    }

    /// Returns the end of the version of `ring` that a signer signs with.
    private func signedElsewhere(_ ring: String) -> KeyEnd? {
        guard let key = signer.activeKey(of: ring), let end = key.retireAfter else { return nil }
        return KeyEnd(ring: ring, version: key.version, isSigning: true, end: end)
    }

    private func logStages(of ends: [KeyEnd], _ seen: inout Seen, at now: UnixTime) {
        var stages: [[String]: KeyEnd.Stage] = [:]
        for end in ends {
            guard let stage = end.stage(at: now), let warning = end.warning(at: now) else { continue }
            let name = [end.ring, end.version]
            stages[name] = stage
            if let before = seen.stages[name], before <= stage { continue }
            logger.warning(
                "key.retiring", "a key is near its end or past it; replace it",
                metadata: [
                    LogKey.keyRing: "\(end.ring)", LogKey.keyVersion: "\(end.version)", LogKey.detail: "\(warning)",
                ])
        }
        seen.stages = stages
        let warnings = ends.compactMap { $0.warning(at: now) }
        status.degradations.set(.keys, warnings.isEmpty ? nil : warnings.joined(separator: "; "))
    }

    private func logApps(_ reports: [RingReport], _ seen: inout Seen, at now: UnixTime) {
        // A ring that cannot be read, or whose signer has published no key, has a problem of its own.
        let unknown = Set(reports.filter { $0.isBehindSigner || $0.problem != nil }.map(\.name))
        let configuration = configuration()
        var problems: [String: String] = [:]
        for app in configuration.apps {
            let key = signer.activeKey(of: app.key)
            guard key != nil || !unknown.contains(app.key) else {
                // Without news of the key, the app's problem stays as it was.
                problems[app.name] = seen.apps[app.name]
                continue
            }
            let signing = AppSigning(app, version: key?.version, end: key?.retireAfter)
            guard let problem = signing.problem(at: now) else { continue }
            problems[app.name] = problem
            status.setKeys(problem, of: Self.source(app.name))
            // The reason changes at the end of the key. It is logged once.
            guard seen.apps[app.name] == nil else { continue }
            logger.error(
                "app.not-signing", "an app cannot sign; its events wait",
                metadata: [
                    LogKey.app: "\(app.name)", LogKey.keyRing: "\(app.key)",
                    LogKey.keyVersion: "\(key?.version ?? "none")", LogKey.detail: "\(problem)",
                ])
        }
        let apps = Set(configuration.apps.map(\.name))
        for app in seen.apps.keys.sorted() where problems[app] == nil {
            status.setKeys(nil, of: Self.source(app))
            // An app that is no longer configured cannot sign.
            guard apps.contains(app) else { continue }
            logger.notice("app.signing", "an app can sign again", metadata: [LogKey.app: "\(app)"])
        }
        seen.apps = problems
    }

    /// Returns the name of the problem of `app`, which no ring and no socket has.
    private static func source(_ app: String) -> String { "apps.\(app)" }
}
