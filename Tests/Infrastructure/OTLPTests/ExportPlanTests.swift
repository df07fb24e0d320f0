import Testing

@testable import OTLP

@Suite("The export plan for a collector") struct ExportPlanTests {
    private static let spansAtOnce = ExportPlan.spansAtOnce

    private func plan(interval: Duration = .seconds(60)) -> ExportPlan { ExportPlan(interval: interval, at: .zero) }

    @Test func `spans wait a second for others, or until they are many`() {
        let plan = plan()
        #expect(plan.next(at: .milliseconds(100), spans: 1) == .wait(until: .milliseconds(350)))
        #expect(plan.next(at: .milliseconds(100), spans: Self.spansAtOnce) == .send(.traces))
        #expect(plan.next(at: .seconds(1), spans: 1) == .send(.traces))
        #expect(plan.next(at: .seconds(1), spans: 0) == .wait(until: .milliseconds(1250)))
    }

    @Test func `metrics are sent each interval, however many spans there are, and missed ones are not made up for`() {
        var plan = plan()
        #expect(plan.next(at: .milliseconds(59_900), spans: 0) == .wait(until: .seconds(60)))
        #expect(plan.next(at: .milliseconds(59_900), spans: 5000) == .send(.traces))
        #expect(plan.next(at: .seconds(60), spans: 5000) == .send(.metrics))
        #expect(plan.answered(.accepted, to: .metrics, at: .seconds(61), chance: 0) == .delivered)
        #expect(plan.next(at: .seconds(119), spans: 0) != .send(.metrics))
        #expect(plan.next(at: .seconds(120), spans: 0) == .send(.metrics))
        _ = plan.answered(.accepted, to: .metrics, at: .seconds(500), chance: 0)
        #expect(plan.next(at: .seconds(500), spans: 0) == .send(.metrics))
        _ = plan.answered(.accepted, to: .metrics, at: .seconds(500), chance: 0)
        #expect(plan.next(at: .seconds(500), spans: 0) != .send(.metrics))
    }

    @Test func `pauses double up to a minute, and the same spans are sent until they are given up`() {
        var plan = plan(interval: .seconds(3600))
        var now = Duration.seconds(1)
        var pauses: [Duration] = []
        for attempt in 1...ExportPlan.tries {
            #expect(
                plan.next(at: now, spans: 0) == (attempt == 1 ? .wait(until: now + .milliseconds(250)) : .send(.traces))
            )
            let fate = plan.answered(.busy(), to: .traces, at: now, chance: 0)
            #expect(fate == (attempt < ExportPlan.tries ? .kept : .lost(.undelivered)))
            guard case .wait(let opening) = plan.next(at: now, spans: Self.spansAtOnce) else {
                Issue.record("nothing is sent in a pause")
                return
            }
            pauses.append(opening - now)
            now = opening
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        #expect(plan.answered(.accepted, to: .traces, at: now, chance: 0) == .delivered)
        _ = plan.answered(.busy(), to: .traces, at: now, chance: 0)
        #expect(plan.next(at: now, spans: 0) == .wait(until: now + .seconds(1)), "pauses begin again")
    }

    @Test func `chance takes up to half of a pause`() {
        for (chance, expected) in [(0.0, 1000), (0.5, 750), (1, 500), (7, 500), (-1, 1000)] {
            var plan = plan()
            _ = plan.answered(.busy(), to: .traces, at: .zero, chance: chance)
            #expect(plan.next(at: .zero, spans: 0) == .wait(until: .milliseconds(expected)))
        }
    }

    @Test(arguments: [(Duration.milliseconds(10), 1), (.seconds(20), 20), (.seconds(100_000), 300)])
    func `a collector's wish is kept to, within reason`(_ wish: Duration, _ seconds: Int) {
        var plan = plan(interval: .seconds(3600))
        _ = plan.answered(.busy(retryAfter: wish), to: .traces, at: .zero, chance: 0)
        #expect(plan.next(at: .zero, spans: 1000) == .wait(until: .seconds(seconds)))
    }

    @Test func `refused spans are lost at once, and the next ones wait as after any trouble`() {
        var plan = plan()
        #expect(plan.answered(.refused, to: .traces, at: .zero, chance: 0) == .lost(.refused))
        #expect(plan.next(at: .milliseconds(999), spans: 1000) == .wait(until: .seconds(1)))
        #expect(plan.next(at: .seconds(1), spans: 1000) == .send(.traces))
    }

    @Test func `metrics that could not be sent are read again after the pause`() {
        var plan = plan()
        #expect(plan.answered(.busy(), to: .metrics, at: .seconds(60), chance: 0) == .kept)
        #expect(plan.next(at: .seconds(60), spans: 0) == .wait(until: .milliseconds(60_250)))
        #expect(plan.next(at: .milliseconds(60_750), spans: 0) == .wait(until: .seconds(61)))
        #expect(plan.next(at: .seconds(61), spans: 0) == .send(.metrics))
        #expect(plan.answered(.refused, to: .metrics, at: .seconds(61), chance: 0) == .lost(.refused))
        #expect(plan.next(at: .seconds(90), spans: 0) != .send(.metrics))
    }

    @Test func `trouble of one signal holds up no other`() {
        var plan = plan()
        for (answer, signal) in [
            (.refused, .metrics), (.accepted, .traces), (.refused, .metrics), (.accepted, .traces), (.busy(), .traces),
            (.busy(), .traces), (.accepted, .metrics), (.accepted, .traces),
        ] as [(ExportPlan.Answer, ExportPlan.Signal)] {
            _ = plan.answered(answer, to: signal, at: .zero, chance: 0)
            if answer == .refused { #expect(plan.next(at: .zero, spans: 5000) == .send(.traces)) }
        }
    }
}
