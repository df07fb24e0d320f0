import Kafka
import Pipeline

/// A transactional producer, and the way in which its transactions end.
struct Transactions: Sendable {
    /// The timeout of one call that ends a transaction: longer than a coordinator leaves a transaction open by default.
    /// The worker repeats the call, but can close a producer that was given up between two calls.
    static let callLimit = Duration.seconds(20)
    /// Between two tries of the same call.
    private static let pause = Duration.milliseconds(50)

    /// The most failures of a transaction in a row because of the transaction before it.
    static let aftermaths = 5

    let producer: KafkaProducer
    var callLimit = Self.callLimit

    /// Returns the reason why the library requires an abort of the open transaction. The library reports it when
    /// another transaction is begun, which changes nothing. The records' own errors only report that they were dropped.
    func reason() async -> KafkaError? {
        do throws(KafkaError) { try await producer.beginTransaction() } catch {
            return error.code == .invalidState ? nil : error
        }
        return nil
    }

    /// - Returns: The reason why the transaction could not be aborted; nil if it was.
    func abort() async -> KafkaError? {
        await repeating { () throws(KafkaError) in try await producer.abortTransaction(within: callLimit) }
    }

    /// Repeats `call` while its error allows the same call again, for a limited time: a library that got stuck, as after a
    /// topic was deleted and created again, answers so for ever, and new clients do not.
    func repeating(_ call: () async throws(KafkaError) -> Void) async -> KafkaError? {
        let end = ContinuousClock.now + callLimit * 2
        while true {
            do throws(KafkaError) {
                try await call()
                return nil
            } catch {
                guard TransactionVerdict(error) == .retry, .now < end, !Task.isCancelled else { return error }
                // The library answers at once while its coordinator is away, and has no event for its return.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Writes the refused records, and aborts: whatever the result is, no reader sees them.
    func isCleared(_ blockage: Blockage) async -> BlockageCheck {
        // The library remembers for a while what it heard of a topic; asking makes it forget.
        for record in blockage.records { _ = try? await producer.metadata(of: record.topic, within: .seconds(5)) }
        var last: KafkaError?
        for _ in 0...Self.aftermaths {
            do throws(KafkaError) { try await producer.beginTransaction() } catch { return BlockageCheck(ended: error) }
            let errors = await producer.deliver(blockage.records).compactMap { $0 }
            var error = errors.first { !Deliveries.consequences.contains($0.code) } ?? errors.first
            if let dropped = error, Deliveries.consequences.contains(dropped.code) { error = await reason() ?? dropped }
            if let error, error.isFatal || error.isFenced { return BlockageCheck(ended: error) }
            if let end = await abort() { return BlockageCheck(ended: error.map(end.following) ?? end) }
            guard let error else { return .cleared }
            guard error.code == .outOfOrderSequence else { return .blocked(error) }
            last = error
        }
        return last.map(BlockageCheck.blocked) ?? .cleared
    }
}
