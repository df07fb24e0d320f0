import AdapterKit
import ArgumentParser
import Bench
import CommandKit
import JOSE
import Kafka
import Logging
import Operations
import Pipeline
import Wiring
import WorkerConfiguration

/// `remint-bench ledger`.
struct BenchLedger: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger", abstract: "Measures time and memory of the ledger for a number of subjects.",
        discussion: """
            Without --brokers, the command makes the records in this process, and measures only the ledger. With
            --brokers, the command writes the records to its own topic, reads the topic as remint ledger reads the token
            topic, and deletes it. Memory is the growth of the process since its start, including the producer of the
            records.
            """)

    @Option(help: "Number of subjects with a token.") var subjects = 1_000_000
    @Option(help: "Address of a real cluster, host:port.") var brokers: String?
    @Option(
        help: """
            With --brokers: topic for the records. The command does not delete this topic, so that you can read it \
            with other programs.
            """)
    var keep: String?
    @OptionGroup var memory: LedgerMemory
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard (1...1_000_000_000).contains(subjects) else { throw ValidationError("--subjects is 1 to 1000000000") }
        if let brokers { _ = try brokerList(brokers) }
        guard keep == nil || brokers != nil else { throw ValidationError("--keep needs --brokers") }
        _ = try memory.bytes
    }

    func run() async throws {
        let before = ResidentMemory.now
        let start = ContinuousClock.now
        let live: Int
        let seconds: Double
        if let brokers {
            (live, seconds) = try await throughBrokers(brokers)
        } else {
            live = inMemory()
            seconds = (.now - start) / .seconds(1)
        }
        let peak = max(0, ResidentMemory.peak - before)
        guard live == subjects else {
            throw BenchFailed("\(live.of("live token was", "live tokens were")) read of \(subjects)")
        }
        report(seconds, peak)
    }

    private func report(_ seconds: Double, _ peak: Int) {
        let each = Double(peak) / Double(subjects)
        if json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("subjects", Int64(subjects))
            writer.member("milliseconds", Int64(seconds * 1000))
            writer.member("peak_bytes", Int64(peak))
            writer.member("bytes_per_subject", Int64(each.rounded(.up)))
            writer.endObject()
            return Terminal.print(String(decoding: writer.bytes, as: UTF8.self))
        }
        let time = (seconds * 100).rounded() / 100
        Terminal.print(
            "\(subjects.of("subject")) in \(time) s, \(Int(Double(subjects) / max(0.001, seconds))) a second")
        Terminal.print(
            "peak memory \(peak >> 20) MB, \(Int(each.rounded(.up)).of("byte")) per subject; a table takes \(LedgerTable.bytesPerSubject)"
        )
    }

    private func inMemory() -> Int {
        var table = LedgerTable(subjects: subjects)
        let now = UnixTime.system()
        let end = now.seconds + 3600
        for number in 0..<subjects {
            table.take(Self.record(number, now, ending: end), offset: Int64(number), at: now)
        }
        var holdings = LedgerHoldings()
        holdings.add(table, matching: LedgerFilter(), at: UnixTime.system())
        return holdings.live
    }

    /// Returns the record of a token as a worker writes it; its signature is as long as one of RS256.
    private static func record(_ number: Int, _ now: UnixTime, ending end: Int64) -> RecordBody {
        let key = "2026-1\(number % 3)", end = end + Int64(number % 1000), version = now.microseconds
        var json = JSONWriter(capacity: 800)
        json.beginObject()
        json.member("app", "bench")
        json.member("vendor", "braze")
        json.name("subject")
        json.beginObject()
        json.member("user", "user-\(number)")
        json.endObject()
        json.member("token", "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.\(payload).\(signature)")
        json.member("algorithm", "RS256")
        json.member("key_id", key)
        json.member("issued_at", now.seconds)
        json.member("expires_at", end)
        json.member("version", version)
        json.member("event_id", "e-\(number)")
        json.endObject()
        return RecordBody(
            key: Array("bench/user-\(number)".utf8), value: json.bytes,
            headers: [
                RecordHeader("ce_type", "remint.token.replaced.v1"), RecordHeader("ce_source", "/remint/bench"),
                RecordHeader("remint-key-id", key), RecordHeader("remint-expires-at", String(end)),
                RecordHeader("remint-version", String(version)),
            ])
    }

    private static let payload = String(repeating: "a", count: 80)
    private static let signature = String(repeating: "b", count: 342)

    /// Measures the reading alone.
    private func throughBrokers(_ brokers: String) async throws -> (Int, Double) {
        var configuration = Configuration()
        let topic = keep ?? "remint-bench-ledger-\(UInt32.random(in: 0 ... .max))"
        configuration.topics.tokens = topic
        configuration.kafka.bootstrapServers = brokers
        let producer = try KafkaProducer(
            KafkaProperties(configuration, bootstrapServers: brokers).producer, logger: .quiet)
        return try await producer.whileOpen(closingWithin: .seconds(10)) { producer in
            let result: (Int, Double)
            do { result = try await read(topic, configuration, brokers, producer) } catch {
                if keep == nil { try? await producer.deleteTopics([topic], within: .seconds(10)) }
                throw error
            }
            if keep == nil { try? await producer.deleteTopics([topic], within: .seconds(10)) }
            return result
        }
    }

    private func read(
        _ topic: String, _ configuration: Configuration, _ brokers: String, _ producer: KafkaProducer
    ) async throws -> (Int, Double) {
        try await producer.createTopic(topic, partitions: 6, within: .seconds(30))
        try await fill(topic, producer)
        let start = ContinuousClock.now
        let ledger = try await LedgerReader(
            configuration, brokers: brokers, memory: try memory.bytes, logger: .quiet,
            display: ProgressLine()
        ).holdings(at: UnixTime.system())
        return (ledger.live, (.now - start) / .seconds(1))
    }

    private func fill(_ topic: String, _ producer: KafkaProducer) async throws {
        var progress = ProgressLine()
        defer { progress.clear() }
        let now = UnixTime.system()
        let end = now.seconds + 3600
        for first in stride(from: 0, to: subjects, by: 5000) {
            let records = (first..<min(first + 5000, subjects)).map { number in
                ProducerRecord(topic: topic, body: Self.record(number, now, ending: end))
            }
            if let error = await producer.deliver(records).compactMap({ $0 }).first { throw error }
            progress.show(first, of: subjects, "writing \(subjects.of("token"))")
        }
    }
}
