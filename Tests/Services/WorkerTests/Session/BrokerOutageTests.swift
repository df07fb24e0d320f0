import AsyncTestSupport
import Logging
import Pipeline
import Synchronization
import Testing

@testable import Kafka
@testable import Worker

@Suite("An outage of all brokers") struct BrokerOutageTests {
    @Test func `an outage has a line after five seconds, and one at its end`() {
        var outage = BrokerOutage()
        outage.failed("Connection refused")
        outage.lost(at: .seconds(10))
        outage.lost(at: .seconds(12))
        #expect(outage.check(at: .seconds(14)) == nil)
        #expect(outage.check(at: .seconds(15)) == .lost(for: .seconds(5), "Connection refused"))
        for second in 16..<120 {
            outage.lost(at: .seconds(second))
            #expect(outage.check(at: .seconds(second)) == nil, "once is enough")
        }
        #expect(outage.ended(at: .seconds(120)) == .back(after: .seconds(110)))
        #expect(outage.ended(at: .seconds(121)) == nil && outage.check(at: .seconds(200)) == nil)
    }

    @Test func `a loss that is over within five seconds has no line`() {
        var outage = BrokerOutage()
        outage.lost(at: .zero)
        #expect(outage.ended(at: .seconds(4)) == nil)
        #expect(outage.check(at: .seconds(60)) == nil)
        #expect(!outage.isOngoing)
    }

    @Test func `an outage of 110 seconds is two lines, whatever the clients report`() {
        let (status, log) = (WorkerStatus(), RecordingLog())
        status.set(.worker, nil)
        let begin = ContinuousClock.now
        let now = Mutex(begin)
        let reachability = Reachability(SessionObserver(status, logger: log.logger(.info))) { now.withLock { $0 } }
        let observer = SessionObserver(status, logger: log.logger(.info))
        for second in 0..<110 {
            now.withLock { $0 = begin + .seconds(second) }
            for error in [KafkaError(.transport, "Connection refused"), KafkaError(.allBrokersDown, "2/2 are down")] {
                reachability.noted(error)
                observer.consumerFailed(error, .live)
            }
            reachability.check()
        }
        #expect(status.problems[.brokers] == "no broker can be reached: Connection refused (_TRANSPORT)")
        now.withLock { $0 = begin + .seconds(110) }
        reachability.succeeded()
        #expect(status.isReady)
        #expect(log.lines.map(\.event) == ["brokers.unreachable", "brokers.reachable"])
        #expect(log.lines.map(\.metadata["remint.outage"]) == ["5s", "1m50s"])
        #expect(log.lines[0].metadata["kafka.error"] == "Connection refused (_TRANSPORT)")
    }

    @Test func `an error other than a lost connection is a warning of its consumer`() {
        let log = RecordingLog()
        let observer = SessionObserver(WorkerStatus(), logger: log.logger())
        observer.consumerFailed(KafkaError(.saslAuthenticationFailed, "refused"), .live)
        observer.consumerFailed(KafkaError(.unknownHost, "no such host"), .live)
        #expect(log.lines.map(\.level) == [.warning, .debug])
    }

    @Test func `a call without an answer is explained by the last failure of a connection`() {
        let cause = KafkaError(.authentication, "SASL handshake failed")
        let silence = KafkaError(.timedOut, "asking for the topic t: Local: Timed out")
        #expect(
            silence.explained(by: cause).message == "asking for the topic t: Local: Timed out: SASL handshake failed")
        #expect(silence.explained(by: nil) == silence && silence.explained(by: silence) == silence)
        let refusal = KafkaError(.topicAuthorizationFailed, "no")
        #expect(refusal.explained(by: cause) == refusal, "the broker answered")
    }
}

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
