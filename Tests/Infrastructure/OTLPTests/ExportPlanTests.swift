import Testing

@testable import OTLP

@Suite("The export plan for a collector") struct ExportPlanTests {
    private static let spansAtOnce = ExportPlan.spansAtOnce

    @Test func `spans wait a second for others, or until they are many`() {
        let plan = ExportPlan()
        #expect(plan.next(at: .milliseconds(100), spans: 1) == .wait(until: .milliseconds(350)))
        #expect(plan.next(at: .milliseconds(100), spans: Self.spansAtOnce) == .send)
        #expect(plan.next(at: .seconds(1), spans: 1) == .send)
        #expect(plan.next(at: .seconds(1), spans: 0) == .wait(until: .milliseconds(1250)))
    }

    @Test func `pauses double up to a minute, and the same spans are sent until they are given up`() {
        var plan = ExportPlan()
        var now = Duration.seconds(1)
        var pauses: [Duration] = []
        for attempt in 1...ExportPlan.tries {
            #expect(
                plan.next(at: now, spans: 0) == (attempt == 1 ? .wait(until: now + .milliseconds(250)) : .send)
            )
            let fate = plan.answered(.busy(), at: now, chance: 0)
            #expect(fate == (attempt < ExportPlan.tries ? .kept : .lost(.undelivered)))
            guard case .wait(let opening) = plan.next(at: now, spans: Self.spansAtOnce) else {
                Issue.record("nothing is sent in a pause")
                return
            }
            pauses.append(opening - now)
            now = opening
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        #expect(plan.answered(.accepted, at: now, chance: 0) == .delivered)
        _ = plan.answered(.busy(), at: now, chance: 0)
        #expect(plan.next(at: now, spans: 0) == .wait(until: now + .seconds(1)), "pauses begin again")
    }

    @Test func `chance takes up to half of a pause`() {
        for (chance, expected) in [(0.0, 1000), (0.5, 750), (1, 500), (7, 500), (-1, 1000)] {
            var plan = ExportPlan()
            _ = plan.answered(.busy(), at: .zero, chance: chance)
            #expect(plan.next(at: .zero, spans: 0) == .wait(until: .milliseconds(expected)))
        }
    }

    @Test(arguments: [(Duration.milliseconds(10), 1), (.seconds(20), 20), (.seconds(100_000), 300)])
    func `a collector's wish is kept to, within reason`(_ wish: Duration, _ seconds: Int) {
        var plan = ExportPlan()
        _ = plan.answered(.busy(retryAfter: wish), at: .zero, chance: 0)
        #expect(plan.next(at: .zero, spans: 1000) == .wait(until: .seconds(seconds)))
    }

    @Test func `refused spans are lost at once, and the next ones wait as after any trouble`() {
        var plan = ExportPlan()
        #expect(plan.answered(.refused, at: .zero, chance: 0) == .lost(.refused))
        #expect(plan.next(at: .milliseconds(999), spans: 1000) == .wait(until: .seconds(1)))
        #expect(plan.next(at: .seconds(1), spans: 1000) == .send)
    }
}
