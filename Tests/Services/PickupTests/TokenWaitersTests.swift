import AdapterKit
import AsyncTestSupport
import Testing

@testable import Pickup

/// Waiting callers: each hears of its own token, and of no other.
@Suite(.timeLimit(.minutes(5))) struct TokenWaitersTests {
    private static let far = ContinuousClock.now + .seconds(3600)

    private func token(_ version: Int64) -> HeldToken {
        HeldToken(text: [], version: version, expiresAt: .max)
    }

    private static func arrival(
        _ waiters: TokenWaiters, _ key: [UInt8], after: Int64 = 0, known: Int64? = nil, event: AwaitedEvent? = nil,
        until: ContinuousClock.Instant = far, unless check: () -> Arrival? = { nil }
    ) async -> Arrival {
        await withCheckedContinuation { continuation in
            waiters.wait(for: key, after: after, known: known, event: event, until: until, unless: check) {
                continuation.resume(returning: $0)
            }
        }
    }

    private func wait(
        _ waiters: TokenWaiters, _ key: [UInt8], after: Int64 = 0, event: AwaitedEvent? = nil,
        until: ContinuousClock.Instant = far
    ) -> Task<Arrival, Never> {
        Task { await Self.arrival(waiters, key, after: after, event: event, until: until) }
    }

    private func settled(_ waiters: TokenWaiters, _ count: Int) async throws {
        try await eventually("\(count) waiting callers") { waiters.count == count }
    }

    @Test func `a newer token of the subject ends the wait, another's and an older one do not`() async throws {
        let waiters = TokenWaiters()
        let waiting = wait(waiters, [1], after: 5)
        try await settled(waiters, 1)
        waiters.came(token(9), for: [2])
        waiters.came(token(5), for: [1])
        #expect(waiters.count == 1)
        waiters.came(token(6), for: [1])
        guard case .token(let found) = await waiting.value else { Issue.record("no token"); return }
        #expect(found.version == 6)
        #expect(waiters.count == 0)
    }

    @Test func `a dead letter of the event ends the wait`() async throws {
        let waiters = TokenWaiters()
        let waiting = wait(waiters, [1], event: SampleLetter.awaited("e-1"))
        let other = wait(waiters, [1], event: SampleLetter.awaited("e-2"))
        try await settled(waiters, 2)
        waiters.died(SampleLetter(id: "e-1").entry, key: SampleLetter.key)
        guard case .deadLetter(.userGone) = await waiting.value else { Issue.record("not answered"); return }
        #expect(waiters.count == 1)
        waiters.expire(at: Self.far)
        guard case .nothing = await other.value else { Issue.record("not over"); return }
    }

    @Test func `every call that waits for an event hears that it was not sent, and no other call does`() async throws {
        let waiters = TokenWaiters()
        let sharing = (0..<3).map { _ in wait(waiters, [1], event: SampleLetter.awaited("e-1")) }
        let other = wait(waiters, [1], event: SampleLetter.awaited("e-2"))
        try await settled(waiters, 4)
        waiters.unsent("e-1", .silent)
        for task in sharing {
            guard case .unsent(let problem) = await task.value else { Issue.record("not answered"); return }
            #expect(problem.detail == Problem.silent.detail)
        }
        #expect(waiters.count == 1)
        waiters.expire(at: Self.far)
        guard case .nothing = await other.value else { Issue.record("not over"); return }
    }

    /// Whoever may write events of its own cannot end another caller's wait, not even with the same id.
    @Test(arguments: [
        SampleLetter(id: "e-2"), SampleLetter(app: "shop-b"), SampleLetter(recordKey: Array("shop-a/ben".utf8)),
        SampleLetter(recordKey: nil), SampleLetter(topic: "b.failures"), SampleLetter(code: "no_such_code"),
        SampleLetter(failedAt: "2099-01-01T00:00:00Z"),
    ])
    func `a dead letter of a stranger's event ends nobody's wait`(_ letter: SampleLetter) async throws {
        let waiters = TokenWaiters()
        let waiting = wait(waiters, [1], event: SampleLetter.awaited("e-1"))
        try await settled(waiters, 1)
        waiters.died(letter.entry, key: letter.recordKey)
        #expect(waiters.count == 1)
        waiters.died(SampleLetter().entry, key: SampleLetter.key)
        guard case .deadLetter(.userGone) = await waiting.value else { Issue.record("not answered"); return }
    }

    @Test func `a token that arrives while a call begins to wait is not missed`() async {
        let waiters = TokenWaiters()
        let arrival = await Self.arrival(waiters, [1], unless: { .token(token(3)) })
        guard case .token = arrival else { Issue.record("missed"); return }
        #expect(waiters.count == 0)
    }

    @Test func `a gateway that stops answers all waiting calls, some at a time, and accepts no more`() async throws {
        let waiters = TokenWaiters()
        let all = (0..<10).map { wait(waiters, [UInt8($0)]) }
        try await settled(waiters, 10)
        #expect(waiters.drain(atMost: 6))
        #expect(waiters.count == 4)
        #expect(!waiters.drain(atMost: 6))
        for task in all { guard case .draining = await task.value else { Issue.record("not let go"); return } }
        guard case .draining = await wait(waiters, [1]).value else { Issue.record("taken in"); return }
    }
}
