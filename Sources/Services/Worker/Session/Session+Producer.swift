import Kafka
import Pipeline
import Wiring

// MARK: The transactional producer

extension Session {
    /// Registers the transactional id, which ends a predecessor's open transaction.
    func register(_ producer: KafkaProducer) async -> SessionEnd? {
        while true {
            do throws(KafkaError) {
                try await producer.initTransactions(within: .seconds(30))
                return nil
            } catch {
                switch TransactionVerdict(error) {
                case .fenced: return .fenced(error)
                case .abort, .unusable: return .unusable(error)
                case .retry:
                    // With an expired certificate it would not finish.
                    if context.requests.takeRenewal() { return .renewed }
                    context.observer.registrationFailed(error)
                    guard await pause(.milliseconds(250)) else { return .stopped }
                    context.observer.brokersFound()
                }
            }
        }
    }

    /// Waits until the topics can be written that the session before could not write. A refused transaction can cost the
    /// producer, so no group is joined before: each session would take its partitions and give them back.
    func waitForClearance(of blockage: inout Blockage?, _ transactions: Transactions) async -> SessionEnd? {
        var backoff = Backoff()
        while let blocked = blockage {
            switch await transactions.isCleared(blocked) {
            case .cleared:
                blockage = nil
                context.observer.unblocked()
            case .blocked(let error):
                context.observer.stillBlocked(blocked.topic, error)
                if context.requests.takeRenewal() { return .renewed }
                guard await pause(backoff.pause()) else { return .stopped }
            case .unusable(let error): return .unusable(error)
            case .fenced(let error): return .fenced(error)
            }
        }
        return nil
    }
}
