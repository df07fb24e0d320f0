import AsyncTestSupport
import Testing

@testable import Pipeline

@Suite("The session state machine, whatever happens")
struct SessionWalkTests {
    /// One of each combination of batch size, linger and share; two in a long run.
    static let seeds = Array(1...(Scale.isLong ? 42 : 21))

    @Test(.timeLimit(.minutes(5)), arguments: seeds)
    func `three thousand random steps give every event one end, and commit no offset past an open one`(_ seed: Int) {
        var walk = SessionWalk(seed: seed)
        var step = 0
        do throws(WalkFailure) {
            while step < 3000 {
                try walk.step()
                step += 1
            }
            try walk.drain()
        } catch { Issue.record("seed \(seed), step \(step): \(error)") }
        let records = walk.broker.logs.values.reduce(0) { $0 + $1.records.count }
        #expect(walk.broker.ends.count == records)
        #expect(walk.broker.ends.values.allSatisfy { $0 == 1 })
        #expect(records > 300)
    }

    @Test(.timeLimit(.minutes(5)))
    func `the walks meet everything that can happen`() throws {
        var met: [SessionWalk.Event: Int] = [:]
        for seed in 1...24 {
            var walk = SessionWalk(seed: seed)
            for _ in 0..<3000 { try walk.step() }
            met.merge(walk.met) { $0 + $1 }
        }
        for event in SessionWalk.Event.allCases { #expect(met[event, default: 0] >= 3, "\(event)") }
    }
}
