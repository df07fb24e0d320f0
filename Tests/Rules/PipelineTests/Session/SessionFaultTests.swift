import Pipeline
import Testing

@Suite("Errors in the program that the state machine finds")
struct SessionFaultTests {
    @Test func `the end of a batch that never was stops the process instead of the course`() async {
        await #expect(processExitsWith: .failure) {
            var machine = SessionStateMachine(
                .init(shares: LaneShares(batchEvents: 4, bulkShare: 0.1), linger: .zero, retries: .standard))
            machine.processed(1, [Settlement](), seconds: 0)
            // A release build has no assertions: the fault ends the session.
            precondition(machine.fault == nil)
        }
    }

    @Test(arguments: [(1, 1), (2, 1), (7, 3), (2000, 1000)])
    func `a batch has half of the events read ahead`(readAhead: Int, batch: Int) {
        #expect(LaneShares(readAhead: readAhead, bulkShare: 0.1) == LaneShares(batchEvents: batch, bulkShare: 0.1))
    }
}
