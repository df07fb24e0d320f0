import Pipeline
import Signing
import Testing

@Suite struct BackoffTests {
    @Test func `pauses grow to ten seconds, and begin again`() {
        var backoff = Backoff()
        #expect((0..<8).map { _ in backoff.pause() } == [0.25, 0.5, 1, 2, 4, 8, 10, 10].map { .seconds($0) })
        backoff.reset()
        #expect(backoff.pause() == .milliseconds(250))
    }

    @Test func `a wanted wait lasts its time`() async {
        var backoff = Backoff()
        let start = ContinuousClock.now
        #expect(await backoff.wait { true })
        #expect(.now - start >= .milliseconds(250))
    }

    @Test func `a wait ends when it is no longer wanted, or its task is canceled`() async {
        var backoff = Backoff()
        for _ in 0..<6 { _ = backoff.pause() }
        #expect(await !backoff.wait { false })
        let waiting = Task { [backoff] in
            var backoff = backoff
            return await backoff.wait { true }
        }
        waiting.cancel()
        #expect(await !waiting.value)
    }
}
