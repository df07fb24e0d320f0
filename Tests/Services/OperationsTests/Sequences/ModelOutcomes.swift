import AdapterKit
import Kafka
import Keyring
import Pipeline

@testable import Operations

struct ModelOutcomes: CanaryOutcomes {
    let cluster: ModelCluster
    let start: Int
    let fresh: CanaryTally
    let now: @Sendable () -> UnixTime
    var tally: CanaryTally
    var late: Int?
    var lost: [String] { cluster.lost }

    mutating func listen(behind marks: TopicMarks) { late = marks.ends["outcomes"]?.first.map { Int($0) } }

    mutating func advance() async throws { try await readToEnd() }

    mutating func readToEnd() async throws {
        await cluster.between()
        var whole = fresh
        for (place, outcome) in cluster.outcomes.enumerated().dropFirst(start) {
            let isLate = late.map { place >= $0 } ?? false
            switch outcome {
            case .removed: break
            case .report(let report): if isLate { whole.report(report) }
            case .token(let record): whole.token(record, at: now(), isLate: isLate)
            case .letter(let user, let id, let code, let refused):
                whole.letter(key: user, eventID: id, code: code, refused: refused)
            case .retry(let id): whole.retry(eventID: id, reason: "key_unavailable")
            }
        }
        tally = whole
    }

    func close() async {}
}
