import Testing

@testable import Kafka
@testable import Worker

@Suite struct ReachabilityTests {
    private let lost = KafkaError(.allBrokersDown, "2/2 brokers are down")

    @Test func `a lost connection is reported until an answer comes`() {
        let status = WorkerStatus()
        status.set(.worker, nil)
        let reachability = Reachability(SessionObserver(status))
        reachability.noted(KafkaError(.transport, "one of them"))
        #expect(status.isReady)
        reachability.noted(lost)
        #expect(status.problems[.brokers]?.contains("no broker can be reached") == true)
        reachability.succeeded()
        #expect(status.isReady)
    }

    @Test func `a lost connection is checked by one query at a time, and not at once again`() {
        let status = WorkerStatus()
        let reachability = Reachability(SessionObserver(status))
        #expect(!reachability.isQuestionDue, "nothing is lost")
        reachability.noted(lost)
        #expect(reachability.isQuestionDue)
        #expect(!reachability.isQuestionDue, "one is under way")
        reachability.asked(isAnswered: false)
        #expect(status.problems[.brokers] != nil)
        #expect(!reachability.isQuestionDue, "it was asked just now")
        reachability.asked(isAnswered: true)
        #expect(status.problems[.brokers] == nil)
        #expect(!reachability.isQuestionDue)
    }

    @Test func `a problem of the brokers reported by another part is kept`() {
        let status = WorkerStatus()
        let reachability = Reachability(SessionObserver(status))
        status.set(.brokers, "the coordinator does not answer")
        reachability.succeeded()
        #expect(status.problems[.brokers] == "the coordinator does not answer")
    }
}
