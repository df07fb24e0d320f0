import Pipeline
import Testing

@testable import Worker

@Suite(.timeLimit(.minutes(10))) struct OffsetCommitsTests {
    /// Takes requests, and answers each when it is told to.
    private struct Coordinator: Sendable {
        let requests: AsyncStream<OffsetCommits.Offsets>
        private let answers: AsyncStream<Void>
        private let asked: AsyncStream<OffsetCommits.Offsets>.Continuation
        private let answering: AsyncStream<Void>.Continuation

        init() {
            (requests, asked) = AsyncStream.makeStream()
            (answers, answering) = AsyncStream.makeStream()
        }

        func take(_ offsets: OffsetCommits.Offsets) async {
            asked.yield(offsets)
            for await _ in answers { return }
        }

        func answer() { answering.yield() }
    }

    private static let first = TopicPartition(topic: "live", partition: 0)
    private static let second = TopicPartition(topic: "live", partition: 1)

    private func offsets(_ live: [TopicPartition: Int64]) -> OffsetCommits.Offsets {
        OffsetCommits.Offsets { $0 == .live ? live : [:] }
    }

    @Test func `what is added while a request is under way goes with the next, the later of each partition`() async {
        let coordinator = Coordinator()
        let commits = OffsetCommits { offsets, _ in await coordinator.take(offsets) }
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

    @Test func `nothing is asked where nothing is open`() async {
        let commits = OffsetCommits { _, _ in Issue.record("a request without offsets") }
        await commits.commit()
        #expect(await !commits.areOpen)
    }

    @Test func `it does not run far ahead of a coordinator that is silent`() async {
        let coordinator = Coordinator()
        let commits = OffsetCommits { offsets, _ in await coordinator.take(offsets) }
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
}
