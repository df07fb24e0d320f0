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
        let rotation = try Campaign(ring: ring).load()
        let files = ReissueFiles(state: "\(ring.directory.path)/rotation-\(rotation.to).json")
        let progress = try files.load()
        let brokers = try ring.configuration.brokers(instead: brokers)
        let now = UnixTime.system()
        let ledger = try await LedgerReader(
            ring.configuration, brokers: brokers, logger: .quiet(ring.configuration.log), display: ProgressLine()
        ).holdings(at: now, matching: LedgerFilter(apps: ring.apps.map(\.name))).list
        let logger = Logger.quiet(ring.configuration.log)
        let lag = BulkLag(
            ring.configuration, KafkaProperties(ring.configuration, bootstrapServers: brokers), logger: logger)
        let waiting = await lag.value
        await lag.close()
        func live(_ version: String) -> (count: Int, lastEnd: Int64?) {
            let holdings = ledger.filter { $0.keyID == version }
            return (holdings.reduce(0) { $0 + $1.live }, holdings.compactMap(\.lastEnd).max())
        }
        let old = live(rotation.from), new = live(rotation.to)
        if json {
            printJSON(ring, rotation, progress, waiting, old: old.count, oldEnd: old.lastEnd, new: new.count)
            return
        }
        let pause = rotation.pause.map { ", paused: \($0)" } ?? ""
        Terminal.print("\(ring.ring.name): from \(rotation.from) to \(rotation.to): \(rotation.phase.rawValue)\(pause)")
        Terminal.print("begun \(rotation.begun)")
        if let progress {
            Terminal.print(
                "re-issued: \(progress.sent) events sent of \(progress.rows) rows, \(progress.rejected) rejected")
        }
        if let waiting { Terminal.print("bulk lane: \(waiting) events wait") }
        let end = old.lastEnd.map { "; the last one ends at \(UnixTime(seconds: $0))" } ?? ""
        Terminal.print("live tokens of \(rotation.from): \(old.count)\(end)")
        Terminal.print("live tokens of \(rotation.to): \(new.count)")
    }

    private func printJSON(
        _ ring: RingInUse, _ rotation: Rotation, _ progress: ReissueProgress?, _ waiting: Int?, old: Int,
        oldEnd: Int64?, new: Int
    ) {
        var json = JSONWriter()
        json.beginObject()
        json.member("key_ring", ring.ring.name)
        json.member("from", rotation.from)
        json.member("to", rotation.to)
        json.member("phase", rotation.phase.rawValue)
        if let pause = rotation.pause { json.member("paused", pause) }
        json.member("begun", rotation.begun.description)
        if let progress {
            json.member("sent", Int64(progress.sent))
            json.member("rejected", Int64(progress.rejected))
        }
        if let waiting { json.member("bulk_lag", Int64(waiting)) }
        json.member("live_old", Int64(old))
        if let oldEnd { json.member("last_old_expires_at", oldEnd) }
        json.member("live_new", Int64(new))
        json.endObject()
        Terminal.print(String(decoding: json.bytes, as: UTF8.self))
    }
}
