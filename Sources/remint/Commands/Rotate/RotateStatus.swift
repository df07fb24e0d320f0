import Wiring
import AdapterKit
import ArgumentParser
import JOSE
import Keyring
import Logging
import Operations
import Pipeline
import Worker
import WorkerConfiguration

/// `remint rotate status`.
struct RotateStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "How far the campaign is, and who still holds a token of the old version.")

    @OptionGroup var ring: KeyRingOptions
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?
    @Flag(help: "Print it as JSON.") var json = false

    func run() async throws {
        let ring = try ring.load()
        let campaign = Campaign(ring: ring)
        let rotation = try campaign.load()
        for revived in ring.directory.revivedVersions(in: try ring.directory.readListing()) {
            Terminal.error("remint: warning: \(ring.ring.name): \(revived.description)")
        }
        let progress = try campaign.progress(of: rotation)
        let brokers = try ring.configuration.brokers(instead: brokers)
        let now = UnixTime.system()
        let reader = LedgerReader(
            ring.configuration, brokers: brokers, logger: .quiet(ring.configuration.log), display: ProgressLine())
        let ledgerRing = ring.ledgerRing
        let ledger = try await reader.holdings(at: now, matching: LedgerFilter(ring: ledgerRing))
        let apps = Set(ring.configuration.apps.map(\.name))
        let all = CampaignHoldings(
            ledger, versions: try ring.withRevoked(rotation.from), of: ledgerRing, in: ring.configuration)
        let old = all.first
        let new = VersionHoldings(ledger, version: rotation.to, of: ledgerRing, apps: apps)
        let logger = Logger.quiet(ring.configuration.log)
        let lag = BulkLag(
            ring.configuration, KafkaProperties(ring.configuration, bootstrapServers: brokers), logger: logger)
        let waiting = await lag.value
        await lag.close()
        if json {
            printJSON(ring, rotation, progress, waiting, all, new: new)
            return
        }
        let pause = rotation.pause.map { ", paused: \($0)" } ?? ""
        Terminal.print("\(ring.ring.name): from \(rotation.from) to \(rotation.to): \(rotation.phase.rawValue)\(pause)")
        let by = rotation.by.map { " by \($0)" } ?? "", why = rotation.why.map { ": \($0)" } ?? ""
        Terminal.print("campaign \(rotation.id) (\(rotation.kind.rawValue)), begun \(rotation.begun)\(by)\(why)")
        do { _ = try campaign.derived() } catch let error as RotationError {
            Terminal.error("remint: warning: \(error.description)")
        }
        if let progress {
            Terminal.print(
                "re-issued: \(progress.sent) events sent of \(progress.rows) rows, \(progress.rejected) rejected")
        }
        for stratum in Self.canary(rotation) { Terminal.print("canary of \(stratum)") }
        if !rotation.failedApps.isEmpty {
            Terminal.print("canary not passed: \(rotation.failedApps.joined(separator: ", "))")
        }
        if let waiting { Terminal.print("bulk lane: \(waiting) events wait") }
        let end = old.lastEnd.map { "; the last one ends at \(UnixTime(seconds: $0))" } ?? ""
        Terminal.print("live tokens of \(rotation.from): \(old.live)\(end)")
        if !old.reasons.isEmpty { Terminal.print("  \(old.reasons)") }
        for other in all.otherLiving {
            Terminal.print("live tokens of \(other.version), which is revoked: \(other.live)")
            Terminal.print("  \(other.tokenReasons); ask for new ones: \(ring.reissueCommand(of: other.version))")
        }
        Terminal.print("live tokens of \(rotation.to): \(new.live)")
        if let hidden = all.hidden { Terminal.error("remint: warning: \(hidden)") }
        Terminal.print(ring.unknowable(of: rotation.from, replacedBy: rotation.to))
    }

    /// Returns the present canary by app, or the last one that was judged.
    private static func canary(_ rotation: Rotation) -> [RotationStratum] {
        if let canary = rotation.canary, !canary.hasFailed { return canary.strata }
        return rotation.judged
    }

    private func printJSON(
        _ ring: RingInUse, _ rotation: Rotation, _ progress: ReissueProgress?, _ waiting: Int?,
        _ all: CampaignHoldings, new: VersionHoldings
    ) {
        let old = all.first
        var json = JSONWriter()
        json.beginObject()
        json.member("key_ring", ring.ring.name)
        json.member("campaign", rotation.id)
        json.member("kind", rotation.kind.rawValue)
        if let by = rotation.by { json.member("by", by) }
        if let why = rotation.why { json.member("why", why) }
        json.member("from", rotation.from)
        json.member("to", rotation.to)
        json.member("phase", rotation.phase.rawValue)
        if let pause = rotation.pause { json.member("paused", pause) }
        json.member("begun", rotation.begun.description)
        if let progress {
            json.member("sent", Int64(progress.sent))
            json.member("rejected", Int64(progress.rejected))
        }
        RotationStratum.write(Self.canary(rotation), "canary", to: &json)
        if let waiting { json.member("bulk_lag", Int64(waiting)) }
        json.member("live_old", Int64(old.live))
        if let end = old.lastEnd { json.member("last_old_expires_at", end) }
        json.member("challenge_bound_old", Int64(old.challengeBound))
        json.member("unknown_ring_old", Int64(old.unknownRing))
        json.member("unreadable", Int64(old.unreadable))
        json.member("strangers", Int64(old.strangers))
        if let hidden = old.hidden { json.member("hidden_offsets", Int64(hidden.count)) }
        json.name("live_revoked")
        json.beginObject()
        for other in all.otherLiving { json.member(other.version, Int64(other.live)) }
        json.endObject()
        json.member("live_new", Int64(new.live))
        json.endObject()
        Terminal.print(String(decoding: json.bytes, as: UTF8.self))
    }
}
