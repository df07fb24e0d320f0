import AdapterKit
import Kafka
import Keyring
import Pipeline

@testable import Operations

struct ModelLane: BulkLane {
    let cluster: ModelCluster

    func deliver(_ records: [ProducerRecord]) async throws { try await cluster.deliver(records) }

    func events(named ids: Set<String>, since time: UnixTime) async throws -> [String: [UInt8]] {
        try await cluster.events(named: ids)
    }

    var lag: Int? { get async { await cluster.lag } }

    func close(within limit: Duration) async {}
}
