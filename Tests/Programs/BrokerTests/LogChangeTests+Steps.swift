import AdapterKit
import AsyncTestSupport
import Foundation
import Kafka
import Pipeline
import Preflight
import ProgramTestSupport
import ServiceLifecycle
import Testing
import Vendors
import Worker
import WorkerConfiguration

extension BrokerTests.LogChangeTests {
    // MARK: Steps

    /// Has a worker answer `count` events, and stops it.
    func answer(_ shop: Shop, _ name: String, _ count: Int) async throws {
        let worker = try shop.startProgram()
        try await produce(shop, name, count)
        try await waitForTokens(shop, count)
        try await stop(worker)
    }

    /// Runs a command of an operator.
    func command(_ shop: Shop, _ arguments: String...) async throws {
        let file = shop.folder.appending(path: "remint.yaml").path
        let program = try await Program.run(Repository.remint, arguments + ["--config", file])
        try #require(program.status == 0, "\(program.errorText)")
    }

    func stop(_ worker: Program) async throws {
        worker.terminate()
        await worker.waitForEnd()
        #expect(worker.status == 0, "\(worker.lastLines)")
    }

    func produce(_ shop: Shop, _ name: String, _ count: Int) async throws {
        try await deliver(
            (0..<count).map {
                EventMix.report(
                    "infobip-mobile", #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"\#(name)-\#($0)"}"#,
                    id: "\(name)-\($0)", topic: shop.topics.live)
            })
    }

    func deliver(_ records: [ProducerRecord]) async throws {
        let producer = try Cluster.makeProducer()
        let errors = await producer.deliver(records)
        await producer.close(within: .seconds(5))
        try #require(errors.allSatisfy { $0 == nil }, "\(errors.compactMap { $0 })")
    }

    func waitForTokens(_ shop: Shop, _ count: Int) async throws {
        try await TopicReader.wait(for: count, on: shop.partitions(of: [shop.topics.tokens]))
    }

    /// The events that tokens answer, one that has several as often.
    func answered(_ shop: Shop) async throws -> [String] {
        try await TopicReader.records(of: shop.partitions(of: [shop.topics.tokens])).compactMap(\.eventID)
    }

    func waitForEvents(_ shop: Shop, _ ids: Set<String>) async throws {
        let reader = try Cluster.makeReader(of: shop.partitions(of: [shop.topics.tokens]))
        var open = ids
        while !open.isEmpty {
            try Task.checkCancellation()
            for event in await reader.events(limit: 5000, within: .seconds(1)) {
                if case .record(let record) = event, let id = record.eventID { open.remove(id) }
            }
        }
        await reader.close(within: .seconds(2))
    }

    /// Deletes `topic` and creates it again.
    ///
    /// - Parameter gap: the seconds between the two.
    func recreate(_ topic: String, after gap: Double) async throws {
        let producer = try Cluster.makeProducer()
        try await producer.deleteTopics([topic], within: .seconds(30))
        try await pass(.seconds(gap))
        try await eventually("another topic \(topic)") {
            // The controller may still be about to forget it.
            do throws(KafkaError) {
                try await producer.createTopic(topic, partitions: 6, within: .seconds(30))
                return true
            } catch { return false }
        }
        await producer.close(within: .seconds(1))
    }

    func service(_ shop: Shop, behind: Int64) throws -> WorkerService {
        let source = ConfigurationSource(
            environment: { _ in nil }, file: { try? String(contentsOfFile: $0, encoding: .utf8) })
        let file = shop.folder.appending(path: "remint.yaml").path
        return try WorkerService(
            Preflight(file: file, registry: .remint, source: source), logger: quiet, signingLanes: 2,
            now: { UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1e6) - behind * 1_000_000) })
    }
}
