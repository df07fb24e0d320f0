import Pipeline
import Synchronization
import Testing

@testable import Worker

@Suite(.timeLimit(.minutes(5))) struct OffsetCommitsTests {
    /// Takes requests, and answers each when a test asks it to.
    private struct Coordinator: Sendable {
        let requests: AsyncStream<OffsetCommits.Offsets>
        private let answers: AsyncStream<Bool>
        private let asked: AsyncStream<OffsetCommits.Offsets>.Continuation
        private let answering: AsyncStream<Bool>.Continuation

        init() {
            (requests, asked) = AsyncStream.makeStream()
            (answers, answering) = AsyncStream.makeStream()
        }

        /// - Returns: the offsets that are refused.
        func take(_ offsets: OffsetCommits.Offsets) async -> OffsetCommits.Offsets {
            asked.yield(offsets)
            for await isRefusal in answers { return isRefusal ? offsets : OffsetCommits.Offsets { _ in [:] } }
            return offsets
        }

        func answer() { answering.yield(false) }

        func refuse() { answering.yield(true) }
    }

    private static let short = Backoff(from: .milliseconds(1), atMost: .milliseconds(1))
    private static let first = TopicPartition(topic: "live", partition: 0)
    private static let second = TopicPartition(topic: "live", partition: 1)

    private func offsets(_ live: [TopicPartition: Int64]) -> OffsetCommits.Offsets {
        OffsetCommits.Offsets { $0 == .live ? live : [:] }
    }

    @Test func `offsets added during a request go with the next one, the latest of each partition`() async {
        let coordinator = Coordinator()
        let commits = OffsetCommits(backoff: Self.short, isGivingUp: { false }) { offsets, _ in
            await coordinator.take(offsets)
        }
        var requests = coordinator.requests.makeAsyncIterator()
        #expect(await !commits.areOpen)
        await commits.add(offsets([Self.first: 1]))
        #expect(await commits.areOpen)
        async let one: Void = commits.commit()
        #expect(await requests.next()?[.live] == [Self.first: 1])
        #expect(await commits.areOpen)
        await commits.add(offsets([Self.first: 2, Self.second: 7]))
        await commits.add(offsets([Self.first: 3]))
        async let two: Void = commits.commit()
        async let three: Void = commits.commit()
        coordinator.answer()
        #expect(await requests.next()?[.live] == [Self.first: 3, Self.second: 7])
        coordinator.answer()
        _ = await (one, two, three)
        #expect(await !commits.areOpen)
    }

    @Test func `no request is made if no offset is open`() async {
        let commits = OffsetCommits(isGivingUp: { false }) { offsets, _ in
            Issue.record("a request without offsets")
            return offsets
        }
        await commits.commit()
        #expect(await !commits.areOpen)
    }

    @Test func `the committer does not run far ahead of a silent coordinator`() async {
        let coordinator = Coordinator()
        let commits = OffsetCommits(backoff: Self.short, isGivingUp: { false }) { offsets, _ in
            await coordinator.take(offsets)
        }
        var requests = coordinator.requests.makeAsyncIterator()
        await commits.add(offsets([Self.first: 0]))
        async let one: Void = commits.commit()
        #expect(await requests.next()?[.live] == [Self.first: 0])
        let (added, adding) = AsyncStream<Int64>.makeStream()
        async let rest: Void = {
            for offset in Int64(1)...17 {
                await commits.add(offsets([Self.first: offset]))
                adding.yield(offset)
            }
            adding.finish()
        }()
        var progress = added.makeAsyncIterator()
        var last: Int64 = 0
        while last < 16 { last = await progress.next() ?? 17 }
        // The seventeenth waits for an answer, and takes part in the request after that.
        coordinator.answer()
        #expect(await requests.next()?[.live] == [Self.first: 16])
        coordinator.answer()
        #expect(await progress.next() == 17)
        _ = await (one, rest)
        async let end: Void = commits.commit()
        #expect(await requests.next()?[.live] == [Self.first: 17])
        coordinator.answer()
        await end
        #expect(await !commits.areOpen)
    }

    @Test func `offsets that the broker refuses are sent again, with the ones added meanwhile`() async {
        let coordinator = Coordinator()
        let commits = OffsetCommits(backoff: Self.short, isGivingUp: { false }) { offsets, _ in
            await coordinator.take(offsets)
        }
        var requests = coordinator.requests.makeAsyncIterator()
        await commits.add(offsets([Self.first: 5, Self.second: 1]))
        async let end: Void = commits.commit()
        #expect(await requests.next()?[.live] == [Self.first: 5, Self.second: 1])
        await commits.add(offsets([Self.first: 6]))
        coordinator.refuse()
        #expect(await requests.next()?[.live] == [Self.first: 6, Self.second: 1])
        #expect(await commits.areOpen)
        coordinator.refuse()
        #expect(await requests.next()?[.live] == [Self.first: 6, Self.second: 1])
        coordinator.answer()
        await end
        #expect(await !commits.areOpen)
    }

    @Test
    func `partitions are not kept for offsets the broker goes on refusing, and those stay remembered`()
        async
    {
        let coordinator = Coordinator()
        let isGivingUp = Atomic(false)
        await withTaskGroup { group in
            let commits = OffsetCommits(backoff: Self.short, isGivingUp: { isGivingUp.load(ordering: .relaxed) }) {
                offsets, _ in await coordinator.take(offsets)
            }
            var requests = coordinator.requests.makeAsyncIterator()
            await commits.add(offsets([Self.first: 5]))
            group.addTask { await commits.commit() }
            #expect(await requests.next()?[.live] == [Self.first: 5])
            isGivingUp.store(true, ordering: .relaxed)
            coordinator.refuse()
            #expect(await requests.next()?[.live] == [Self.first: 5], "one more try")
            #expect(await commits.areOpen)
            coordinator.refuse()
            await group.waitForAll()
            #expect(await !commits.areOpen)
            isGivingUp.store(false, ordering: .relaxed)
            group.addTask { await commits.commitLeft() }
            #expect(await requests.next()?[.live] == [Self.first: 5])
            coordinator.answer()
            await group.waitForAll()
            #expect(await !commits.areOpen)
            await commits.commitLeft()
        }
    }

    @Test func `a commit that is called off stops asking, whatever is open`() async {
        let commits = OffsetCommits(isGivingUp: { false }) { offsets, _ in offsets }
        let task = Task {
            for offset in Int64(1)...40 { await commits.add(offsets([Self.first: offset])) }
            await commits.commit()
        }
        task.cancel()
        await task.value
        #expect(await commits.areOpen)
    }
}
