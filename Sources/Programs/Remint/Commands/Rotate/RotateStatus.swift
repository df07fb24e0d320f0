import AdapterKit
import ArgumentParser
import Formats
import JOSE
import Keyring
import Logging
import Operations
import Pipeline
import Wiring
import Worker
import WorkerConfiguration

/// `remint rotate status`.
struct RotateStatus: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the progress of the campaign, and the number of live tokens of the old version.",
        discussion: .help(
            """
            If no broker answers, the command prints only the campaign's state, and exits with 75. The exit code is 1
            while another version in use, in any ring, has the key of a revoked version of this ring.
            """,
            examples: """
                remint rotate status --config remint.yaml --key shop
                remint rotate status --config remint.yaml --key shop --json
                """))

    @OptionGroup var ring: KeyRingOptions
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?
    @Flag(help: "Print the status as JSON.") var json = false

    func run() async throws {
        let ring = try ring.load()
        let campaign = Campaign(ring: ring)
        let rotation = try campaign.load()
        for revived in ring.directory.revivedVersions(in: try ring.directory.readListing()) {
            Terminal.error("remint: warning: \(ring.ring.name): \(revived.description)")
        }
        let progress = try campaign.progress(of: rotation)
        // Brokers may be away while an operator wants to know how far the campaign is.
        if !json { show(rotation, progress, campaign) }
        let found: Found
        do { found = try await read(rotation, ring) } catch {
            if json {
                printJSON(ring, rotation, progress, nil)
            } else {
                Terminal.print("live tokens of \(rotation.from): unknown, for the ledger cannot be read")
            }
            throw error
        }
        json ? printJSON(ring, rotation, progress, found) : show(found, rotation, ring)
        try ring.requireRevokedEverywhere()
    }

    /// The tokens of a campaign's versions and the events that wait, as brokers show them.
    private struct Found {
        /// Tokens of the old version, and of the ring's revoked ones.
        let old: CampaignHoldings
        let new: VersionHoldings
        /// Events on the bulk lane that no worker has consumed.
        let waiting: Int?
    }

    private func read(_ rotation: Rotation, _ ring: RingInUse) async throws -> Found {
        let brokers = try ring.configuration.brokers(instead: brokers)
        let logger = Logger.quiet(ring.configuration.log)
        let reader = LedgerReader(
            ring.configuration, brokers: brokers, logger: logger, display: ProgressLines.display())
        let ledgerRing = ring.ledgerRing
        let ledger = try await reader.holdings(
            at: CommandContext.current.now(), matching: LedgerFilter(ring: ledgerRing))
        let lag = BulkLag(
            ring.configuration, KafkaProperties(ring.configuration, bootstrapServers: brokers), logger: logger)
        let waiting = await lag.value
        await lag.close()
        return Found(
            old: CampaignHoldings(
                ledger, versions: try ring.withRevoked(rotation.from), of: ledgerRing, in: ring.configuration),
            new: VersionHoldings(
                ledger, version: rotation.to, of: ledgerRing, apps: Set(ring.configuration.apps.map(\.name))),
            waiting: waiting)
    }

    /// Prints the state of the campaign as the ring's folder has it.
    private func show(_ rotation: Rotation, _ progress: ReissueProgress?, _ campaign: Campaign) {
        let pause = rotation.pause.map { ", paused: \($0)" } ?? ""
        let name = campaign.ring.ring.name
        Terminal.print("\(name): from \(rotation.from) to \(rotation.to): \(rotation.phase.rawValue)\(pause)")
        let by = rotation.by.map { " by \($0)" } ?? "", why = rotation.why.map { ": \($0)" } ?? ""
        Terminal.print("campaign \(rotation.id) (\(rotation.kind.rawValue)), begun \(rotation.begun)\(by)\(why)")
        do { _ = try campaign.derived() } catch let error as RotationError {
            Terminal.error("remint: warning: \(error.description)")
        } catch { Terminal.error("remint: warning: \(error)") }
        if let progress {
            Terminal.print(
                "re-issued: \(progress.sent.of("event")) sent of \(progress.rows.of("row")), \(progress.rejected) rejected"
            )
        }
        for stratum in Self.canary(rotation) { Terminal.print("canary of \(stratum)") }
        if !rotation.failedApps.isEmpty {
            Terminal.print("canary not passed: \(rotation.failedApps.joined(separator: ", "))")
        }
    }

    /// Prints what brokers show.
    private func show(_ found: Found, _ rotation: Rotation, _ ring: RingInUse) {
        let old = found.old.first
        if let waiting = found.waiting { Terminal.print("bulk lane: \(waiting.of("event waits", "events wait"))") }
        let end = old.lastEnd.map { "; the last one ends at \(UnixTime(seconds: $0))" } ?? ""
        Terminal.print("live tokens of \(rotation.from): \(old.live)\(end)")
        if !old.reasons.isEmpty { Terminal.print("  \(old.reasons)") }
        for other in found.old.otherLiving {
            Terminal.print("live tokens of \(other.version), which is revoked: \(other.live)")
            Terminal.print("  \(other.tokenReasons); ask for new ones: \(ring.reissueCommand(of: other.version))")
        }
        Terminal.print("live tokens of \(rotation.to): \(found.new.live)")
        if let hidden = found.old.hidden { Terminal.error("remint: warning: \(hidden)") }
        Terminal.print(ring.unknowable(of: rotation.from, replacedBy: rotation.to))
    }

    /// Returns the present canary by app, or the last one that was judged.
    private static func canary(_ rotation: Rotation) -> [RotationStratum] {
        if let canary = rotation.canary, !canary.hasFailed { return canary.strata }
        return rotation.judged
    }

    private func printJSON(
        _ ring: RingInUse, _ rotation: Rotation, _ progress: ReissueProgress?, _ found: Found?
    ) {
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
        if let found { Self.write(found, to: &json) }
        json.endObject()
        Terminal.print(json.printable)
    }

    private static func write(_ found: Found, to json: inout JSONWriter) {
        let old = found.old.first
        if let waiting = found.waiting { json.member("bulk_lag", Int64(waiting)) }
        json.member("live_old", Int64(old.live))
        if let end = old.lastEnd { json.member("last_old_expires_at", end) }
        json.member("challenge_bound_old", Int64(old.challengeBound))
        json.member("unknown_ring_old", Int64(old.unknownRing))
        json.member("unreadable", Int64(old.unreadable))
        json.member("strangers", Int64(old.strangers))
        if let hidden = old.hidden { json.member("hidden_offsets", Int64(hidden.count)) }
        json.name("live_revoked")
        json.beginObject()
        for other in found.old.otherLiving { json.member(other.version, Int64(other.live)) }
        json.endObject()
        json.member("live_new", Int64(found.new.live))
    }
}
