import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(5))) struct WakeupTests {
    @Test func `a wakeup keeps a signal for the next wait, and only one`() async {
        let wakeup = Wakeup()
        wakeup.signal()
        wakeup.signal()
        await wakeup.wait(atMost: .seconds(50))
        let elapsed = await ContinuousClock().measure { await wakeup.wait(atMost: .milliseconds(100)) }
        #expect(elapsed >= .milliseconds(95))
    }

    @Test func `a wakeup is not woken by the time limits of earlier waits`() async {
        let wakeup = Wakeup()
        for _ in 0..<100 {
            wakeup.signal()
            await wakeup.wait(atMost: .milliseconds(50))
        }
        let elapsed = await ContinuousClock().measure { await wakeup.wait(atMost: .milliseconds(400)) }
        #expect(elapsed >= .milliseconds(390))
    }

    @Test func `every one of several waiters returns`() async {
        let wakeup = Wakeup()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { await wakeup.wait(atMost: .milliseconds(100)) } }
        }
    }

    @Test(arguments: [Duration.zero, .milliseconds(-1), .seconds(Int64.max), .seconds(Int64.min)])
    func `a wait accepts any limit`(limit: Duration) async {
        let wakeup = Wakeup()
        wakeup.signal()
        await wakeup.wait(atMost: limit)
        #expect(limit.kafkaMilliseconds >= 0)
    }

    @Test func `a wakeup loses no signal`() async {
        let wakeup = Wakeup()
        let rounds = 10_000
        // Two tasks wake each other in turn; one lost signal and the test's time limit ends it.
        let answer = Wakeup()
        async let echo: Void = {
            for _ in 0..<rounds {
                await wakeup.wait(atMost: .seconds(3600))
                answer.signal()
            }
        }()
        for _ in 0..<rounds {
            wakeup.signal()
            await answer.wait(atMost: .seconds(3600))
        }
        await echo
    }
}
