import AdapterKit
import Testing
import Wiring

@Suite("A gateway's clock that is set")
struct ClockStepsTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    @Test(arguments: [(0, false), (299, false), (-299, false), (302, true), (-302, true), (34_560_000, true)])
    func `a step of more than five minutes puts the clock in doubt`(_ step: Int64, _ isInDoubt: Bool) {
        var steps = ClockSteps(at: Self.now, elapsed: .zero)
        let found = [(60, 60), (61 + step, 61)].map { looks(&steps, at: $0, $1) }
        #expect(found == [false, isInDoubt])
    }

    @Test func `the doubt ends with the step, with another clock that agrees, and after an hour`() {
        var steps = ClockSteps(at: Self.now, elapsed: .zero)
        let undone = [(86_400, 0), (0, 0), (86_401, 1)].map { looks(&steps, at: $0, $1) }
        #expect(undone == [true, false, true])
        steps.agreed(Self.now.advanced(bySeconds: 86_401), elapsed: .seconds(1))
        let later = [(86_401, 1), (10, 10), (3609, 3609), (3610, 3610)].map { looks(&steps, at: $0, $1) }
        #expect(later == [false, true, true, false])
    }

    private func looks(_ steps: inout ClockSteps, at seconds: Int64, _ elapsed: Int64) -> Bool {
        steps.isSet(Self.now.advanced(bySeconds: seconds), elapsed: .seconds(elapsed))
    }
}
