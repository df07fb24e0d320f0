import Testing

@testable import Kafka
@testable import Worker

@Suite struct VerdictTests {
    @Test(arguments: [
        // Fencing first, whatever the marks.
        (KafkaError(.fenced, "", requiresAbort: true), TransactionVerdict.fenced),
        (KafkaError(.producerFenced, "", requiresAbort: true), .fenced),
        (KafkaError(.producerFenced, "", isRetriable: true), .fenced),
        (KafkaError(.fenced, "", isFatal: true), .fenced),
        // Then fatal ones.
        (KafkaError(.timedOut, "", isRetriable: true, isFatal: true, requiresAbort: true), .unusable),
        (KafkaError(.timedOut, "", isFatal: true, requiresAbort: true), .unusable),
        (KafkaError(.illegalGeneration, "", isRetriable: true, requiresAbort: true), .abort),
        (KafkaError(.illegalGeneration, "", requiresAbort: true), .abort),
        (KafkaError(.timedOut, "", isRetriable: true), .retry),
        // No mark is as final as a fatal one.
        (KafkaError(.invalidState, ""), .unusable),
        (KafkaError(.closed, ""), .unusable),
    ])
    func `the questions are asked in the right order`(error: KafkaError, verdict: TransactionVerdict) {
        #expect(TransactionVerdict(error) == verdict)
    }
}
