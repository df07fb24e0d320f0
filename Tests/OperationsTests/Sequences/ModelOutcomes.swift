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

    mutating func advance() async throws { try await readToEnd() }

    mutating func readToEnd() async throws {
        await cluster.between()
        var whole = fresh
        for outcome in cluster.outcomes[start...] {
            switch outcome {
            case .token(let record): whole.token(record, at: now())
            case .letter(let user, let id, let code, let refused):
                whole.letter(key: user, eventID: id, code: code, refused: refused)
            case .retry(let id): whole.retry(eventID: id, reason: "key_unavailable")
            }
        }
        tally = whole
    }

    func close() async {}
}
