import Pipeline
import Testing

@testable import Pipeline

@Suite("The session state machine: steps")
struct SessionStepTests {
    static let taken: [SessionStory.Act] = [.take(.live, 0...1), .next("process 1: live/0 0 1")]
    static let ready = taken + [.processed]
    static let inCommit = ready + [.next("commit 1: live/0=2")]
    static let both = inCommit + [.take(.live, 2...3), .next("process 2: live/0 2 3")]

    static let bulkCommitted: [SessionStory.Act] = [
        .take(.bulk, 0...0), .next("process 1: bulk/0 0"), .processed, .next("commit 1: bulk/0=1"), .committed,
    ]

    static let course: [SessionStory] = [
        SessionStory("nothing", [.next("wait"), .next("wait")]),
        SessionStory("one batch", inCommit + [.next("wait"), .committed, .next("wait")]),
        SessionStory(
            "the next is processed while the first is committed",
            both + [.next("wait"), .processed, .next("wait"), .committed, .next("commit 2: live/0=4")]),
        SessionStory(
            "what became ready meanwhile is committed together",
            both + [
                .processed, .take(.live, 4...4), .next("process 3: live/0 4"), .processed, .committed,
                .next("commit 2+3: live/0=5"),
            ]),
        SessionStory(
            "no more than six batches of events are kept ready",
            inCommit + [
                .take(.live, 2...9), .next("process 2: live/0 2 3 4 5"), .processed, .next("add 2: live/0=6"),
                .addedLate, .next("process 3: live/0 6 7 8 9"), .processed,
            ]
                + (0..<4).flatMap { (index: Int64) -> [SessionStory.Act] in
                    let first = 10 + 4 * index
                    let events = (first...first + 3).map(String.init).joined(separator: " ")
                    return [
                        .take(.live, first...first + 3), .next("process \(index + 4): live/0 \(events)"), .processed,
                    ]
                } + [
                    .take(.live, 26...29), .next("wait"), .committed,
                    .next("commit 2+3+4+5+6+7: live/0=26"), .next("process 8: live/0 26 27 28 29"),
                ]),
        SessionStory(
            "in a backlog, finished events become part of the transaction under way",
            inCommit + [
                .take(.live, 2...8), .next("process 2: live/0 2 3 4 5"), .processed, .next("add 2: live/0=6"), .added,
                .next("process 3: live/0 6 7 8"), .processed, .next("wait"), .committed, .next("commit 3: live/0=9"),
            ]),
        SessionStory(
            "what was added is committed or given back with the rest",
            inCommit + [
                .take(.live, 2...5), .next("process 2: live/0 2 3 4 5"), .processed, .next("add 2: live/0=6"), .added,
                .aborted, .next("roll back"), .next("process 3: live/0 0 1 2 3"),
            ]),
        SessionStory(
            "a transaction does not grow for ever",
            inCommit
                + (0..<11).flatMap { (index: Int64) -> [SessionStory.Act] in
                    let first = 2 + 4 * index
                    let events = (first...first + 3).map(String.init).joined(separator: " ")
                    return [
                        .take(.live, first...first + 3), .next("process \(index + 2): live/0 \(events)"), .processed,
                        .next("add \(index + 2): live/0=\(first + 4)"), .added,
                    ]
                } + [
                    .take(.live, 46...49), .next("process 13: live/0 46 47 48 49"), .processed, .next("wait"),
                    .committed,
                    .next("commit 13: live/0=50"),
                ]),
        SessionStory(
            "a live event's transaction does not grow by bulk alone",
            [
                .take(.live, 0...0), .next("process 1: live/0 0"), .processed, .next("commit 1: live/0=1"),
                .take(.bulk, 0...3), .next("process 2 in the background: bulk/0 0 1 2 3"), .processed, .next("wait"),
                .pass(1000), .next("add 2: live/0=1 bulk/0=4"),
            ]),
        SessionStory(
            "nothing is added while the group waits",
            inCommit + [
                .take(.live, 2...5), .next("process 2: live/0 2 3 4 5"), .ask(.live, SessionStory.revoked()),
                .processed,
                .next("wait"), .committed, .next("commit 2: live/0=6"), .committed, .next("answer live"),
            ]),
        SessionStory(
            "offsets of several lanes go together, each as far as it came",
            [
                .take(.live, 0...0), .take(.bulk, 7...7), .takeRetry(3, due: 0),
                .next("process 1: live/0 0 retries/0 3 bulk/0 7"), .processed,
                .next("commit 1: live/0=1 retries/0=4 bulk/0=8"),
            ]),
        SessionStory(
            "one bulk commit does not follow the other at once",
            bulkCommitted + [
                .take(.bulk, 1...1), .next("process 2: bulk/0 1"), .processed, .next("wait until 100"), .pass(99),
                .next("wait until 100"), .pass(1), .next("commit 2: bulk/0=2"),
            ]),
        SessionStory(
            "but a live event's takes along what is ready",
            bulkCommitted + [
                .take(.bulk, 1...1), .next("process 2: bulk/0 1"), .processed, .take(.live, 0...0),
                .next("process 3: live/0 0"), .processed, .next("commit 2+3: live/0=1 bulk/0=2"),
            ]),
        SessionStory(
            "after a transaction the broker has a moment", rest: .milliseconds(8),
            [
                .take(.live, 0...0), .next("process 1: live/0 0"), .processed, .next("commit 1: live/0=1"),
                .take(.live, 1...1), .next("process 2: live/0 1"), .processed, .pass(5), .committed,
                .next("wait until 13"), .pass(4), .take(.live, 2...2), .next("process 3: live/0 2"), .processed,
                .pass(4), .next("commit 2+3: live/0=3"),
            ]),
        SessionStory(
            "bulk alone leaves room while live events are about",
            [
                .take(.live, 0...0), .next("process 1: live/0 0"), .processed, .next("commit 1: live/0=1"), .committed,
                .pass(999), .take(.bulk, 0...0), .next("process 2 in the background: bulk/0 0"), .processed,
                .next("commit 2: bulk/0=1"), .committed, .pass(1), .take(.bulk, 1...1),
                .next("process 3: bulk/0 1"),
            ]),
        SessionStory(
            "beside a commit one batch in the background is enough, and a live event does not wait for it",
            [
                .take(.live, 0...0), .next("process 1: live/0 0"), .processed, .next("commit 1: live/0=1"),
                .take(.bulk, 0...9), .next("process 2 in the background: bulk/0 0 1 2 3"), .processed, .next("wait"),
                .take(.live, 1...1), .next("process 3: live/0 1 bulk/0 4 5 6"), .processed, .committed,
                .next("commit 2+3: live/0=2 bulk/0=7"), .next("process 4 in the background: bulk/0 7 8 9"),
            ]),
        SessionStory(
            "nor does a stop wait",
            bulkCommitted + [
                .take(.bulk, 1...1), .next("process 2: bulk/0 1"), .processed, .stop, .next("commit 2: bulk/0=2"),
            ]),
        SessionStory(
            "a retry waits for its moment",
            [.takeRetry(3, due: 50), .next("wait until 50"), .pass(49)] + [
                .next("wait until 50"), .pass(1), .next("process 1: retries/0 3"),
            ]),
        SessionStory(
            "quiet: what was taken is finished, and nothing new is asked for",
            both + [.processed, .committed, .next("commit 2: live/0=4"), .committed, .next("wait")]),
    ]

    static let rests: [SessionStory] = [
        SessionStory(
            "what was taken of it is not begun, and goes on later",
            [
                .take(.bulk, 0...1), .rest([.bulk]), .next("wait"), .take(.live, 0...0), .next("process 1: live/0 0"),
                .processed, .next("commit 1: live/0=1"), .committed, .next("wait"), .rest([]),
                .next("process 2 in the background: bulk/0 0 1"),
            ]),
        SessionStory("what is in work ends", taken + [.rest([.live]), .processed, .next("commit 1: live/0=2")]),
        SessionStory(
            "what an abort puts back waits, and keeps its order",
            inCommit + [
                .rest([.live]), .aborted, .next("roll back"), .next("wait"), .rest([]),
                .next("process 2: live/0 0 1"),
            ]),
        SessionStory(
            "a retry whose moment has come keeps nobody awake",
            [
                .takeRetry(3, due: 50), .rest([.retries]), .next("wait"), .pass(60), .next("wait"), .rest([]),
                .next("process 1: retries/0 3"),
            ]),
        SessionStory(
            "its partitions are given up all the same",
            [
                .take(.live, 0...1), .rest([.live]), .ask(.live, SessionStory.revoked()), .next("answer live"),
                .rest([]), .next("wait"),
            ]),
        SessionStory(
            "an event that waits in its place has its turn beside one of a lane that rests",
            [
                .take(.bulk, 0...0), .next("process 1: bulk/0 0"), .parked([0], for: 1000), .answers,
                .next("process 2 again: bulk/0 0"), .parked([0], for: 1000), .take(.live, 0...0), .rest([.live]),
                .answers,
                .next("process 3 again: bulk/0 0"),
            ]),
        SessionStory(
            "nor does a stop wait for it",
            [.take(.live, 0...1), .rest([.live]), .stop, .next("stop")]),
    ]

    @Test(arguments: rests)
    func `a paused lane takes the steps of its story`(_ story: SessionStory) { play(story) }

    @Test(arguments: course)
    func `the session takes the steps of its course`(_ story: SessionStory) { play(story) }

    func play(_ story: SessionStory) {
        var teller = SessionTeller(story)
        #expect(teller.tell(story.acts) == story.expected)
    }
}

@Suite("Inputs that are finished at the wrong time")
struct LateFinishTests {
    private static let partition = TopicPartition(topic: "t", partition: 0)

    private func origin(_ offset: Int64) -> RecordPosition { RecordPosition(topic: "t", partition: 0, offset: offset) }

    @Test func `an input that is finished before it is taken stays open`() {
        var progress = PartitionProgress()
        progress.taken(origin(5))
        progress.finished(origin(6))
        progress.taken(origin(6))
        progress.finished(origin(5))
        #expect(progress.committable == [Self.partition: 6])
        #expect(progress.hasOpenInputs)
    }

    @Test func `a finish that falls into a hole of the offsets changes nothing`() {
        var progress = PartitionProgress()
        for offset: Int64 in [5, 9] { progress.taken(origin(offset)) }
        for offset: Int64 in [4, 6, 8, 10, .min, .max] { progress.finished(origin(offset)) }
        #expect(progress.committable.isEmpty)
        progress.finished(origin(5))
        #expect(progress.committable == [Self.partition: 6])
    }
}

@Suite("Errors in the program that the state machine finds")
struct SessionFaultTests {
    @Test func `the end of a batch that never was stops the process instead of the course`() async {
        await #expect(processExitsWith: .failure) {
            var machine = SessionStateMachine(
                .init(shares: LaneShares(batchEvents: 4, bulkShare: 0.1), linger: .zero, retries: .standard))
            machine.processed(1, [Settlement](), seconds: 0)
            // A release build has no assertions: the fault ends the session.
            precondition(machine.fault == nil)
        }
    }

    @Test(arguments: [(1, 1), (2, 1), (7, 3), (2000, 1000)])
    func `a batch has half of the events read ahead`(readAhead: Int, batch: Int) {
        #expect(LaneShares(readAhead: readAhead, bulkShare: 0.1) == LaneShares(batchEvents: batch, bulkShare: 0.1))
    }
}
