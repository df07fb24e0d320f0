import Testing

@Suite("Admission, whatever happens")
struct AdmissionWalkTests {
    @Test(.timeLimit(.minutes(5)), arguments: 1...8)
    func `three thousand random steps leave every report answered, and no user with too many tokens`(
        _ seed: Int
    ) async throws {
        var walk = try AdmissionWalk(seed: seed)
        var step = 0
        do throws(WalkFailure) {
            while step < 3000 {
                try await walk.step()
                step += 1
            }
            try await walk.drain()
        } catch { Issue.record("seed \(seed), step \(step): \(error)") }
        #expect(walk.isComplete)
        for name in ["minted", "superseded", "deferred", "dead_lettered"] {
            #expect(walk.met[.ends(name), default: 0] > 20, "\(name)")
        }
        #expect(walk.met[.rolledBack, default: 0] > 20)
        #expect(walk.met[.suspended, default: 0] > 0)
    }
}
