import Testing

@testable import Worker

@Suite(.timeLimit(.minutes(5))) struct BackgroundWorkTests {
    @Test func `work that hangs is left behind when the time is up, and work that ends is waited for`() async {
        let background = BackgroundWork()
        #expect(await background.finish(within: .zero))
        let (gate, opening) = AsyncStream<Void>.makeStream()
        // As a call of librdkafka does, it does not look whether it was called off.
        background.addTask { await Task { for await _ in gate {} }.value }
        #expect(!(await background.finish(within: .milliseconds(20))))
        background.cancel()
        #expect(!(await background.finish(within: .milliseconds(20))))
        opening.finish()
        #expect(await background.finish(within: .seconds(240)))
        await background.finish()
    }

    /// Many at once: some of them run on another thread before their handles are here.
    @Test func `canceled work learns of it, also work that begins later`() async {
        let background = BackgroundWork()
        let (told, telling) = AsyncStream<Bool>.makeStream()
        background.cancel()
        for _ in 0..<1000 { background.addTask { telling.yield(Task.isCancelled) } }
        await background.finish()
        telling.finish()
        #expect(await told.reduce(into: []) { $0.append($1) } == Array(repeating: true, count: 1000))
    }
}

@Suite struct ClosingTimeTests {
    @Test func `clients that nothing called for close within their share of the shutdown's deadline`() {
        let closing = ClosingTime(.seconds(24))
        #expect(closing.rest == .seconds(24))
        #expect(closing.ofGroups == .seconds(12) && closing.ofProducer == .seconds(6))
    }

    @Test func `clients that make room for new ones close within what is left of the renewal's deadline`() {
        var closing = ClosingTime(.seconds(24))
        closing.until = .now + .seconds(240)
        #expect(closing.ofGroups == .seconds(12) && closing.ofProducer == .seconds(6))
        closing.until = .now - .seconds(1)
        #expect(closing.rest == .zero)
        #expect(closing.ofGroups == .seconds(1) && closing.ofProducer == .seconds(1))
        closing.until = nil
        closing.isOver = true
        #expect(closing.rest == .zero)
        #expect(closing.ofGroups == .seconds(1) && closing.ofProducer == .zero)
    }
}

@Suite struct HandoffTests {
    @Test func `a message is handed over once`() {
        let handoff = Handoff<Int>()
        #expect(handoff.take() == nil)
        handoff.put(1)
        #expect(handoff.take() == 1)
        #expect(handoff.take() == nil)
    }
}
