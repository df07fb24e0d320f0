import AdapterKit
import DotdigitalAdapter
import JOSE
import Testing
import WorkerConfiguration

@testable import Pipeline
@testable import Wiring
@testable import Worker

/// Events and the transactions they end in, made by the pipeline itself.
struct Events {
    let configuration: Configuration
    /// The next offset of each partition.
    private var offsets: [TopicPartition: Int64] = [:]

    init(_ configuration: Configuration) { self.configuration = configuration }

    /// A record of `lane` with this value, behind the last one.
    mutating func record(_ value: [UInt8], lane: Lane = .live, partition: Int32 = 0) -> InputRecord {
        let topic = configuration.topics(of: lane)[0]
        let offset = offsets[.init(topic: topic, partition: partition), default: 0]
        offsets[.init(topic: topic, partition: partition)] = offset + 1
        return InputRecord(
            origin: RecordPosition(topic: topic, partition: partition, offset: offset), timestamp: Self.now, key: nil,
            value: value, headers: [RecordHeader("remint-app", "push")], lane: lane, tier: lane == .retries ? 0 : nil)
    }

    /// An event that is answered with a token.
    mutating func challenge(_ number: Int, lane: Lane = .live, partition: Int32 = 0) -> InputRecord {
        let report = #"{"provider":"jsonWebToken","nonce":"n-\#(number)","userId":"user-\#(number)"}"#
        return record(Array(report.utf8), lane: lane, partition: partition)
    }

    /// One that is dead-lettered, with `bytes` of value.
    mutating func garbage(bytes: Int = 8, lane: Lane = .live, partition: Int32 = 0) -> InputRecord {
        record([UInt8](repeating: UInt8(ascii: "x"), count: bytes), lane: lane, partition: partition)
    }

    /// The unit of `records`, as the machine begins it.
    func unit(_ records: [InputRecord]) async throws -> CommitUnit {
        var machine = SessionStateMachine(
            SessionStateMachine.Settings(
                shares: LaneShares(batchEvents: 10_000, bulkShare: 0.5), linger: .milliseconds(1),
                retries: configuration.retryPolicy))
        for lane in Lane.allCases {
            machine.received(records.filter { $0.lane == lane }, on: lane, at: Self.now)
        }
        var processor = Self.processor(configuration)
        while true {
            switch machine.next(at: Self.now.advanced(byMicroseconds: 3_600_000_000)) {
            case .process(let batch):
                machine.processed(batch.number, await processor.process(batch.records), seconds: 0.001)
            case .commit(let unit):
                try #require(unit.eventCount == records.count)
                return unit
            case let step:
                Issue.record("the machine does not begin: \(step)")
                throw CancellationError()
            }
        }
    }

    static let now = UnixTime(seconds: 1_800_000_000)

    private static func processor(_ configuration: Configuration) -> BatchProcessor {
        let apps = configuration.apps.map {
            App(name: $0.name, adapter: $0.adapter, keyRing: $0.key, lifetime: $0.lifetime)
        }
        return BatchProcessor(apps: apps, signing: StampSigning(), maximumEventBytes: 64 << 20, now: { now })
    }
}

/// Signs with a stamp: these tests are about what becomes of tokens, not about their signatures.
private struct StampSigning: SigningPort {
    func activeKey(of ring: String) -> SigningKeyReference? {
        SigningKeyReference(ring: ring, version: "k1", keyID: "k1", algorithm: .hs256, retireAfter: nil)
    }

    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        requests.map { _ in .success([1, 2, 3]) }
    }
}
