import AdapterKit
import ArgumentParser
import Formats
import JOSE
import Operations
import Pipeline
import WorkerConfiguration

/// `remint ledger`: who holds a live token of which key.
struct LedgerCommand: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger", abstract: "Shows live tokens by app, key ring and version.",
        discussion: .help(
            """
            The command reads the headers of the token topic from its beginning to its current end, one partition after
            the other. It keeps a hash of each subject: \(LedgerTable.bytesPerSubject.of("byte")) each, in a table of at
            most --memory. If a partition has more subjects, the command reads it several times, each time for a part of
            its subjects. The Kafka client needs some 64 MB more.

            If an open transaction hides a part of the topic for more than 30 seconds, the command reports this and
            exits with 1. It also exits with 1 for a --key-id that neither a ring nor the ledger knows.
            """,
            examples: """
                remint ledger --config remint.yaml --key shop
                remint ledger --config remint.yaml --app web --expiring-within 1h --json
                """))

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Only tokens of this app.") var app: String?
    @Option(name: .shortAndLong, help: "Only tokens of this key ring, and tokens whose ring is unknown.")
    var key: String?
    @Option(help: "Only tokens of this version of the key.") var keyID: String?
    @Option(help: ArgumentHelp("Only tokens that expire within this time.", valueName: "1h"))
    var expiringWithin: String?
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?
    @OptionGroup var memory: LedgerMemory
    @Flag(help: "Print the list as JSON, one line for each row.") var json = false

    func run() async throws {
        let configuration = try options.loadConfiguration()
        let now = CommandContext.current.now()
        let filter = LedgerFilter(
            apps: app.map { [$0] }, keyID: keyID,
            ring: try key.map { LedgerRing(try options.keyRing($0, in: configuration), in: configuration) },
            expiringBefore: try expiringWithin.map { try now.moment(after: $0) })
        let reader = LedgerReader(
            configuration, brokers: try configuration.brokers(instead: brokers), memory: try memory.bytes,
            logger: .quiet(configuration.log), display: ProgressLines.display())
        let ledger = try await reader.holdings(at: now, matching: filter)
        if let keyID, ledger.list.isEmpty {
            let rings = LedgerRing.names(havingVersion: keyID, in: configuration)
            if rings.isEmpty,
                let unknown = UnknownVersion(keyID, in: try await reader.holdings(at: now), isListed: false)
            {
                throw unknown
            }
            Terminal.error("remint: the ledger shows 0 live tokens of \(keyID.printable(limit: 40))")
        }
        let holdings = ledger.list
        json ? holdings.forEach(Self.printJSON) : printTable(holdings, now)
        if ledger.strangers > 0 {
            let records = ledger.strangers.of(
                "record of the token topic is no replacement token",
                "records of the token topic are no replacement tokens")
            Terminal.error("remint: \(records)")
        }
        if ledger.unreadable > 0 {
            let records = ledger.unreadable.of("record of the token topic", "records of the token topic")
            Terminal.error("remint: \(records) cannot be read: whose tokens they are is unknown")
        }
        if let place = ledger.firstDoubtful {
            Terminal.error("remint: the first of them is at partition \(place.partition), offset \(place.offset)")
        }
        if let hidden = ledger.hidden { throw hidden }
    }

    private func printTable(_ holdings: [LedgerHolding], _ now: UnixTime) {
        var table = TextTable("APP", "RING", "KEY", "LIVE", "FIRST ENDS", "LAST ENDS", "ENDED")
        for holding in holdings {
            table.add(
                holding.app.printable(limit: 40), holding.ring?.printable(limit: 40) ?? "-",
                holding.keyID.printable(limit: 40), String(holding.live),
                holding.firstEnd.map { UnixTime(seconds: $0).description } ?? "-",
                holding.lastEnd.map { UnixTime(seconds: $0).description } ?? "-", String(holding.ended))
        }
        for line in table.lines { Terminal.print(line) }
    }

    private static func printJSON(_ holding: LedgerHolding) {
        var json = JSONWriter()
        json.beginObject()
        json.member("app", holding.app)
        if let ring = holding.ring { json.member("key_ring", ring) }
        json.member("key_id", holding.keyID)
        json.member("live", Int64(holding.live))
        if let end = holding.firstEnd { json.member("first_expires_at", end) }
        if let end = holding.lastEnd { json.member("last_expires_at", end) }
        json.member("ended", Int64(holding.ended))
        json.endObject()
        Terminal.print(json.printable)
    }
}

extension UnixTime {
    /// Returns the moment that is `text`, such as 1h, after this one, in seconds since 1970.
    ///
    /// - Throws: `ValidationError`.
    func moment(after text: String) throws -> Int64 {
        guard let duration = DurationText.parse(text) else {
            throw ValidationError("\(text.printable(limit: 20)) is not a duration such as 30s, 10m, 1h or 7d")
        }
        return advanced(bySeconds: duration.components.seconds).seconds
    }
}
