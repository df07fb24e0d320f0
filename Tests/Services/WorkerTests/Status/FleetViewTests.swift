import AdapterKit
import Synchronization
import Testing

@testable import Kafka
@testable import Operations
@testable import Worker

@Suite("The view of the fleet", .timeLimit(.minutes(1)))
struct FleetViewTests {
    /// Brokers that count their readers, and a clock that tests move.
    private final class Brokers: Sendable {
        struct State {
            var reads = 0
            var opened = 0
            var closed = 0
            var number = 0
            var problem: KafkaError?
            var now = ContinuousClock.now
            var isKnown = true
        }
        let state = Mutex(State())

        func view() -> FleetView {
            FleetView(
                open: {
                    guard self.state.withLock({ $0.isKnown }) else { return nil }
                    self.state.withLock { $0.opened += 1 }
                    return FleetView.Source(
                        read: { () async throws(KafkaError) -> FleetStatus in try self.read() },
                        close: { self.state.withLock { $0.closed += 1 } })
                }, number: { self.state.withLock { $0.number } }, clock: { self.state.withLock { $0.now } })
        }

        private func read() throws(KafkaError) -> FleetStatus {
            let problem = state.withLock { state in
                state.reads += 1
                return state.problem
            }
            if let problem { throw problem }
            return PageStory.idle.fleet
        }

        var reads: Int { state.withLock { $0.reads } }
    }

    private func running(_ view: FleetView, _ body: () async throws -> Void) async rethrows {
        let task = Task { await view.run() }
        do { try await body() } catch {
            task.cancel()
            throw error
        }
        task.cancel()
        await task.value
    }

    @Test func `the brokers are asked once for all viewers of ten seconds`() async {
        let (brokers, known) = (Brokers(), FleetView.Answer.known(PageStory.idle.fleet.json()))
        let view = brokers.view()
        await running(view) {
            let answers = await withTaskGroup { group in
                for _ in 0..<20 { group.addTask { await view.answer() } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0 == known })
            #expect(brokers.reads == 1)
            brokers.state.withLock { $0.now += .seconds(9) }
            #expect(await view.answer() == known)
            #expect(brokers.reads == 1)
            brokers.state.withLock { $0.now += .seconds(1) }
            #expect(await view.answer() == known)
            #expect(brokers.reads == 2)
            #expect(brokers.state.withLock { $0.opened } == 1, "with the same clients")
        }
        #expect(brokers.state.withLock { $0.closed } == 1)
        #expect(await view.answer() == .unknown("the worker stops"))
    }

    @Test func `an error of the brokers is the answer, and they are asked again after ten seconds`() async {
        let brokers = Brokers()
        let problem = KafkaError(.transport, "no broker answers")
        brokers.state.withLock { $0.problem = problem }
        let view = brokers.view()
        await running(view) {
            #expect(await view.answer() == .unknown("\(problem)"))
            brokers.state.withLock { $0.problem = nil }
            #expect(await view.answer() == .unknown("\(problem)"))
            brokers.state.withLock { $0.now += FleetView.freshness }
            #expect(await view.answer() == .known(PageStory.idle.fleet.json()))
        }
    }

    @Test func `nobody asks before the brokers' address is known`() async {
        let brokers = Brokers()
        brokers.state.withLock { $0.isKnown = false }
        let view = brokers.view()
        await running(view) {
            #expect(await view.answer() == .unknown("the worker has not reached its brokers yet"))
            #expect(brokers.reads == 0)
        }
    }

    @Test func `clients are closed after a minute without viewers and replaced after a reload`() async {
        let brokers = Brokers()
        let view = brokers.view()
        await running(view) {
            _ = await view.answer()
            brokers.state.withLock { $0.now += .seconds(59) }
            await view.closeIfIdle()
            #expect(brokers.state.withLock { $0.closed } == 0)
            brokers.state.withLock { $0.now += .seconds(1) }
            await view.closeIfIdle()
            #expect(brokers.state.withLock { $0.closed } == 1)
            _ = await view.answer()
            brokers.state.withLock { state in
                state.number = 1
                state.now += FleetView.freshness
            }
            _ = await view.answer()
            #expect(brokers.state.withLock { ($0.opened, $0.closed) } == (3, 2))
        }
    }
}
