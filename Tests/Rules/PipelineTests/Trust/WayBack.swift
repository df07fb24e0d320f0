import AdapterKit
package import Kafka
import Operations
import Pipeline
import Testing
import WorkerConfiguration
import WorkerTestSupport

/// Every hop header as a producer would write it that wants to be taken for a worker.
enum ForgedHops {
    /// A word that no honest header holds.
    static let mark = "forged"

    /// The same headers with an origin each that would be of use.
    static let all = ["remint.invalidations.bulk", "apart.failures", "remint.retries.10s"].map { topic in
        [
            (HopHeaders.code, "key_unavailable"), (HopHeaders.stage, "mint"), (HopHeaders.detail, mark),
            (HopHeaders.topic, topic), (HopHeaders.partition, "0"), (HopHeaders.offset, "4711"),
            (HopHeaders.timestamp, "1"), (HopHeaders.attempts, "7"), (HopHeaders.failedAt, "1999-01-01T00:00:00Z"),
            (HopHeaders.redrives, "1"), (HopHeaders.size, "5"), (HopHeaders.notBefore, "99999999999999"),
            (HopHeaders.history, mark), (HopHeaders.firstFailedAt, "1"), (HopHeaders.parkedLetter, "0/0/\(mark)"),
            (HopHeaders.parkedAt, "1999-01-01T00:00:00Z"), (HopHeaders.parkedBy, mark),
            (HopHeaders.parkedReason, mark), (HopHeaders.parkedEnd, "redriven"), (HopHeaders.refusedKeyID, mark),
            (HopHeaders.refusedKeyRing, mark), (HopHeaders.refusedSubject, mark),
        ].map { RecordHeader($0, $1) }
    }
}

/// The ways of a dead letter back to an input.
enum WayBack: String, CaseIterable, Sendable {
    case redriven, parkedAndRedriven, parkedUnparkedAndRedriven

    /// Returns the record that is written for `letter` if the operator names `code`, or throws the reason.
    func send(_ letter: OutputRecord, named code: ErrorCode?) throws -> Result<ProducerRecord, RedriveRefused> {
        let configuration = try readConfiguration(
            """
            kafka: { bootstrap_servers: 127.0.0.1:9092, group: shop }
            keys: { a: { path: a } }
            apps: { apart: { adapter: braze, key: a, lifetime: 12h, topics: [apart.failures] } }
            """)
        var filter = DeadLetterFilter()
        filter.code = code
        func step(_ work: LetterWork, _ record: InputRecord) throws -> LetterOrder.Step {
            try #require(record.origin.topic == LetterOrder(work, filter, configuration, now: TrustBench.now).source)
            return LetterOrder(work, filter, configuration, now: TrustBench.now).step(record, LetterStates())
        }
        func written(_ step: LetterOrder.Step, _ offset: Int64) throws -> InputRecord {
            guard case .write(let letter) = step else { throw Unwritten(step: step) }
            return letter.record.arrived(at: offset, lane: .retries)
        }
        let dead = InputRecord(
            origin: RecordPosition(topic: configuration.topics.deadLetters, partition: 0, offset: 5), timestamp: nil,
            body: letter.body, lane: .retries)
        let inputs = Set(configuration.eventTopics)
        do {
            switch self {
            case .redriven: return .success(try Self.redrive(dead, inputs: inputs, named: code))
            case .parkedAndRedriven:
                let parked = try written(step(.park(Self.parking), dead), 6)
                switch try step(.redrive(maximumRedrives: 3), parked) {
                case .write(let letter): return .success(letter.record)
                case .refused(let reason): return .failure(RedriveRefused(reason))
                case .other: throw Unwritten(step: .other)
                }
            case .parkedUnparkedAndRedriven:
                let parked = try written(step(.park(Self.parking), dead), 6)
                return .success(
                    try Self.redrive(try written(step(.unpark, parked), 7), inputs: inputs, named: code))
            }
        } catch let error as RedriveRefused { return .failure(error) }
    }

    /// Returns the record that a redrive writes for `letter` with the inputs `inputs`.
    ///
    /// - Throws: `RedriveRefused`.
    static func redrive(_ letter: OutputRecord, inputs: Set<String>, named code: ErrorCode?) throws -> ProducerRecord {
        let dead = InputRecord(
            origin: RecordPosition(topic: "remint.dead-letters", partition: 0, offset: 5), timestamp: nil,
            body: letter.body, lane: .retries)
        return try redrive(dead, inputs: inputs, named: code)
    }

    private static func redrive(
        _ letter: InputRecord, inputs: Set<String>, named code: ErrorCode?
    ) throws -> ProducerRecord {
        let entry = DeadLetterEntry(letter, decoder: EventDecoder(maximumBytes: 1 << 20), at: TrustBench.now)
        return try Redrive(letter, entry, inputs: inputs, named: code, maximumRedrives: 3).output
    }

    private static let parking = Parking(at: TrustBench.now, by: "ann", reason: "the vendor answers")

    private struct Unwritten: Error { let step: LetterOrder.Step }
}

extension ProducerRecord: Equatable {
    /// Whether both records have the same topic, key, value and headers.
    package static func == (one: ProducerRecord, other: ProducerRecord) -> Bool {
        one.topic == other.topic && one.body == other.body
    }

    /// This record as a worker consumes it.
    func arrived(at offset: Int64, lane: Lane? = nil) -> InputRecord {
        InputRecord(
            origin: RecordPosition(topic: topic, partition: 0, offset: offset), timestamp: TrustBench.now, body: body,
            lane: lane ?? (topic == "remint.invalidations.bulk" ? .bulk : .live))
    }
}

extension InputRecord {
    /// This record with `more` headers behind its own.
    func adding(_ more: [RecordHeader]) -> InputRecord {
        InputRecord(
            origin: origin, timestamp: timestamp, key: key, value: value, headers: headers + more, lane: lane,
            tier: tier)
    }
}

extension TrustBench {
    /// The end of `record` where no key may sign: what would be minted for waits in a retry tier and dies then.
    func death(of record: InputRecord, apps: [App]? = nil) async throws -> Settlement {
        var processor = processor(of: apps ?? self.apps, KeylessSigning(rings: signing), maxAttempts: 2)
        let first = try #require(await processor.process([record]).first)
        guard case .deferred = first.outcome else { return first }
        let waiting = try #require(first.output).fromTier(at: Self.now)
        return try #require(await processor.process([waiting]).first)
    }

    /// A processor of these apps.
    func processor(of apps: [App], _ signing: any SigningPort, maxAttempts: Int = 8) -> BatchProcessor {
        BatchProcessor(
            apps: apps, signing: signing, maximumEventBytes: 1 << 20,
            retries: RetryPolicy(
                tiers: RetryPolicy.standard.tiers, maxAttempts: maxAttempts, deadline: .seconds(86_400)),
            random: SeededGenerator(seed: 1), now: { Self.now })
    }
}

/// A signing port whose rings have no active version.
private struct KeylessSigning: SigningPort {
    let rings: RingSigning

    func activeKey(of ring: String) -> SigningKeyReference? { nil }
    func verificationKeys(of ring: String) -> [RingKey] { rings.verificationKeys(of: ring) }
    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        requests.map { _ in .failure(Rejection(.mintFailed, "no key")) }
    }
}
