import AdapterKit
import ArgumentParser
import Foundation
import JOSE
import Keyring
import Logging
import Operations
import Pipeline
import WorkerConfiguration

/// The setup of a `remint reissue`: its input, its files, its pace.
struct ReissueSetup {
    let configuration: Configuration
    let brokers: String
    let app: Configuration.App?
    let files: ReissueFiles
    let pace: ReissuePace
    /// The source that the checkpoint must be of: the same content of the same file, or the same choice among the ledger, and the same workers.
    let identity: String
    private let command: ReissueCommand

    init(_ command: ReissueCommand, _ configuration: Configuration) throws {
        self.command = command
        self.configuration = configuration
        brokers = command.dryRun && !command.ledger ? "" : try configuration.brokers(instead: command.brokers)
        app = try command.app.map { try command.options.app($0, in: configuration) }
        if let key = command.key { _ = try command.options.keyRing(key, in: configuration) }
        files = ReissueFiles(state: command.state ?? Self.state(for: command, configuration))
        let rest = try command.waveRest.map { text in
            guard let rest = DurationText.parse(text) else {
                throw ValidationError("--wave-rest is a duration such as 30s, 10m or 1h")
            }
            return rest / .seconds(1)
        }
        pace = ReissuePace(
            rate: command.rate.perSecond, jitter: command.jitter, wave: command.wave, rest: rest ?? 0)
        identity = command.dryRun ? "" : "\(try Self.choice(command, app)) \(Self.workers(configuration))"
    }

    /// Returns whether `progress` is this job's.
    func isOwn(_ progress: ReissueProgress) -> Bool { progress.input == identity }

    private static func choice(_ command: ReissueCommand, _ app: Configuration.App?) throws -> String {
        guard let input = command.input else {
            return
                "ledger app=\(command.app ?? "*") ring=\(command.key ?? "*") key=\(command.keyID ?? "*") expiring=\(command.expiringWithin ?? "*")"
        }
        let columns = columns(command, app).joined(separator: ",")
        return
            "\(input) sha256=\(try UserInput.digest(of: input)) app=\(command.app ?? "") columns=\(columns)"
    }

    /// Returns the identity of the workers that the events are for: brokers may move, their group and topics stay.
    private static func workers(_ configuration: Configuration) -> String {
        "group=\(configuration.kafka.group) bulk=\(configuration.topics.invalidationsBulk) tokens=\(configuration.topics.tokens)"
    }

    /// Returns the progress of a job that begins.
    func begin() -> ReissueProgress {
        var random = SystemRandomNumberGenerator()
        return ReissueProgress(job: RandomUUID.make(using: &random), input: identity)
    }

    /// Lists the ledger's subjects, where that is the input and was not done.
    ///
    /// - Returns: whether there is anything to do. A job out of the ledger without a subject leaves no file.
    func prepareInput(_ progress: inout ReissueProgress) async throws -> Bool {
        guard command.ledger, progress.isUntouched else { return true }
        let (keys, hidden) = try await ledgerKeys()
        progress.hidden = hidden?.count ?? 0
        guard !keys.isEmpty else { return false }
        try LedgerInput.write(keys, to: files.subjects)
        try files.save(progress)
        return true
    }

    /// The sentence for a version that several rings have, where none is named; nil where there is no doubt.
    var doubt: String? {
        guard command.ledger, command.key == nil, let id = command.keyID else { return nil }
        let rings = LedgerRing.names(havingVersion: id, in: configuration)
        guard rings.count > 1 else { return nil }
        return
            "the rings \(rings.joined(separator: ", ")) have a version \(id) each, and the tokens of all are meant; for those of one: --key \(rings[0])"
    }

    /// Returns the error of a job with `progress` that did not ask for everybody; nil where it did, or goes on.
    func omission(of progress: ReissueProgress) -> InputUnreadable? {
        guard progress.isFinished, progress.hidden > 0 else { return nil }
        let offsets = progress.hidden.of("offset was", "offsets were")
        return InputUnreadable(
            path: configuration.topics.tokens,
            reason:
                "\(offsets) hidden behind an open transaction when the ledger was read, so their users were not asked for; see that the workers run (\(RemintCommand("status"))), then run this command again"
        )
    }

    /// Returns the subject keys that the command selects, and the offsets that an open transaction hides.
    ///
    /// - Throws: `UnknownVersion` where the ledger has never seen the version that is meant; `HiddenOffsets` where it shows nobody and
    ///   was not read whole.
    private func ledgerKeys() async throws -> (keys: [[UInt8]], hidden: HiddenOffsets?) {
        let now = CommandContext.current.now()
        let filter = LedgerFilter(
            apps: command.app.map { [$0] }, keyID: command.keyID,
            ring: command.key.map { LedgerRing($0, in: configuration) },
            expiringBefore: try command.expiringWithin.map { try now.moment(after: $0) })
        let reader = LedgerReader(
            configuration, brokers: brokers, logger: .quiet(configuration.log), display: ProgressLines.display())
        // A clock that is ahead must not hide tokens that the campaigns count.
        let (keys, hidden) = try await reader.keys(
            matching: filter, at: ClockTolerance.standard.earliest(at: now))
        if let hidden {
            guard !keys.isEmpty else { throw hidden }
            Terminal.error("remint: warning: not everybody who is meant is asked for: \(hidden)")
        }
        if keys.isEmpty, let id = command.keyID {
            let found = try await reader.holdings(at: now)
            let known = LedgerRing.names(havingVersion: id, in: configuration)
            if let unknown = UnknownVersion(id, in: found, isListed: !known.isEmpty) { throw unknown }
        }
        return (keys, hidden)
    }

    /// The sentence for how to see that nobody is left, where the version that is meant is revoked; nil where it is not.
    var verification: String? {
        guard command.ledger, let id = command.keyID else { return nil }
        let rings = configuration.keys.filter { ring in
            guard command.key.map({ $0.hasSameBytes(as: ring.name) }) ?? true, let path = ring.path else {
                return false
            }
            return (try? KeyRingDirectory(path: path).readListing())?.state(of: id) == .revoked
        }
        guard let ring = rings.first else { return nil }
        return
            "\(id) is revoked; once the workers answered, the ledger must show no live token of it: \(RemintCommand("ledger", ring: ring.name, "--key-id", id))"
    }

    /// Opens the input, and returns a function that returns its items, a few at a time.
    func open() throws -> () throws -> [ReissueJob.Item]? {
        guard let path = command.input else {
            let input = try LedgerInput(path: files.subjects, configuration)
            return { try input.next() }
        }
        let input = try UserInput(
            path: path, format: command.format ?? ReissueCommand.format(of: path) ?? .csv, columns: columns,
            areNamed: Self.areNamed(app), delimiter: command.delimiter.utf8.first ?? UInt8(ascii: ","))
        return { try input.next()?.map { ReissueJob.Item(row: $0, app: nil) } }
    }

    /// Returns the number of rows, for the progress bar; reads the input once more.
    func count() throws -> Int? {
        let next = try open()
        var count = 0
        while let items = try next() { count += items.count }
        return count
    }

    /// Calls `body` with every item, and with its problem if it has one.
    func each(_ body: (ReissueJob.Item, UserRow.BadRow?) -> Void) async throws {
        func check(_ item: ReissueJob.Item) {
            do throws(UserRow.BadRow) {
                guard let app = item.app ?? app else { throw UserRow.BadRow("its app is not configured") }
                _ = try ReissueEvent(
                    user: try item.row.user.get(), app: app.name, adapter: app.adapter, id: "", at: UnixTime(seconds: 0)
                )
                body(item, nil)
            } catch { body(item, error) }
        }
        guard command.ledger else {
            let next = try open()
            while let items = try next() { items.forEach(check) }
            return
        }
        let apps = Dictionary(configuration.apps.map { ($0.name, $0) }) { first, _ in first }
        for (number, key) in try await ledgerKeys().keys.enumerated() {
            let subject = SubjectKey(key)
            let user = subject.map { Result<[UInt8], UserRow.BadRow>.success($0.user) }
            check(
                ReissueJob.Item(
                    row: UserRow(line: number + 1, user: user ?? .failure(.init(SubjectKey.refusal(key)))),
                    app: subject.flatMap { apps[$0.app] }))
        }
    }

    private var columns: [String] { Self.columns(command, app) }

    private static func columns(_ command: ReissueCommand, _ app: Configuration.App?) -> [String] {
        command.userColumn.isEmpty ? [areNamed(app) ? "registered" : "user"] : command.userColumn
    }

    /// Returns whether the app's vendor names users by several ids, so that a plain one is refused.
    private static func areNamed(_ app: Configuration.App?) -> Bool {
        guard let adapter = app?.adapter, let text = try? JSONDocument(parsing: Array("\"probe\"".utf8)).root else {
            return false
        }
        do throws(Rejection) { _ = try adapter.user(reissuing: text) } catch {
            return error.code == .malformedReport
        }
        return false
    }

    private static func state(for command: ReissueCommand, _ configuration: Configuration) -> String {
        if let input = command.input { return "\(input).reissue.json" }
        let choice = [command.app, command.key, command.keyID, command.expiringWithin, workers(configuration)]
            .map { $0 ?? "" }.joined(separator: "\n")
        let digest = SHA256.hash(Array(choice.utf8)).prefix(4)
        return "reissue-" + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + ".json"
    }
}
