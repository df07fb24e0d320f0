import NIOEmbedded
import Synchronization
import Testing

@testable import Pickup

/// The report of the threads that read and answer calls to the service manager.
@Suite struct EventLoopPulseTests {
    @Test func `an event loop that runs nothing for a minute counts as stuck, until it runs again`() {
        let healthy = EmbeddedEventLoop()
        let stuck = EmbeddedEventLoop()
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let pulse = EventLoopPulse([healthy, stuck], now: { start + passed.withLock { $0 } })
        #expect(pulse.isAlive(), "nobody was asked before")
        healthy.run()
        passed.withLock { $0 = .seconds(59) }
        #expect(pulse.isAlive())
        healthy.run()
        passed.withLock { $0 = .seconds(60) }
        #expect(!pulse.isAlive())
        stuck.run()
        #expect(pulse.isAlive())
    }

    @Test func `event loops that answer are asked each time`() {
        let loop = EmbeddedEventLoop()
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let pulse = EventLoopPulse([loop], now: { start + passed.withLock { $0 } })
        for _ in 0..<10 {
            #expect(pulse.isAlive())
            loop.run()
            passed.withLock { $0 += .seconds(45) }
        }
        #expect(pulse.isAlive())
        passed.withLock { $0 += .seconds(90) }
        #expect(!pulse.isAlive())
    }
}
