import AsyncTestSupport
import Foundation
import Kafka
import Testing

@testable import Worker

@Suite("The lag of assigned partitions", .timeLimit(.minutes(5))) struct AssignedLagTests {
    private let partition = TopicPartition(topic: "t", partition: 0)
    private let other = TopicPartition(topic: "t", partition: 1)

    private func records(
        _ lag: AssignedLag, ends: [TopicPartition: Int64] = [:], positions: [TopicPartition: Int64] = [:]
    ) -> Int64? { lag.records(of: [partition], ends: ends, positions: positions)[partition] }

    @Test func `a partition has its lag from its assignment on`() {
        var lag = AssignedLag()
        #expect(records(lag) == 0)
        lag.begin(partition, at: 40, end: 50)
        #expect(records(lag) == 10)
        #expect(records(lag, ends: [partition: 53]) == 13)
        #expect(records(lag, ends: [partition: 53], positions: [partition: 53]) == 0)
        #expect(records(lag, positions: [partition: 45]) == 5)
        lag.begin(partition, at: 7, end: 7)
        #expect(records(lag) == 0)
        lag.drop([partition])
        #expect(records(lag, ends: [partition: 9]) == 0)
    }

    @Test func `a partition that is not assigned has no lag`() {
        var lag = AssignedLag()
        for partition in [partition, other] { lag.begin(partition, at: 0, end: 5) }
        #expect(lag.records(of: [other], ends: [partition: 9], positions: [:]) == [other: 5])
    }

    @Test func `an end before the start counts no record`() {
        var lag = AssignedLag()
        lag.begin(partition, at: 9, end: 5)
        #expect(records(lag) == 0)
        #expect(records(lag, ends: [partition: 3]) == 0)
    }

    @Test func `a worker without events shows every assigned partition, with 0`() async throws {
        try await RunningWorker.with { worker in
            try await eventually("the partitions of each lane") {
                let lanes = try await worker.admin.ask("/status").json["lanes"] as? [[String: Any]] ?? []
                let counts = lanes.map { $0["partitions"] as? Int ?? 0 }
                return counts.count == 3 && counts.allSatisfy { $0 >= 2 }
            }
            let text = try await worker.admin.ask("/metrics").body
            for lane in ["live", "retries", "bulk"] {
                let lines = text.split(separator: "\n").filter {
                    $0.hasPrefix("remint_consumer_lag_records{lane=\"\(lane)\"")
                }
                #expect(lines.count >= 2 && lines.allSatisfy { $0.hasSuffix(" 0") }, "\(lines)")
            }
            #expect(text.contains("\nremint_lost_records_total{topic=\"remint.invalidations\",partition=\"0\"} 0\n"))
        }
    }
}
