import Testing

@testable import Pipeline

@Suite("The flow's steps")
struct SessionStepTests {
    private static let taken: [SessionStory.Act] = [.take(.live, 0...1), .next("process 1: live/0 0 1")]
    private static let ready = taken + [.processed]
    private static let inCommit = ready + [.next("commit 1: live/0=2")]
    private static let both = inCommit + [.take(.live, 2...3), .next("process 2: live/0 2 3")]

    private static let bulkCommitted: [SessionStory.Act] = [
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
            "no more than three batches of events are kept ready",
            inCommit + [
                .take(.live, 2...9), .next("process 2: live/0 2 3 4 5"), .processed, .next("add 2: live/0=6"),
                .addedLate, .next("process 3: live/0 6 7 8 9"), .processed, .take(.live, 10...13),
                .next("process 4: live/0 10 11 12 13"), .processed, .take(.live, 14...17), .next("wait"), .committed,
                .next("commit 2+3+4: live/0=14"), .next("process 5: live/0 14 15 16 17"),
            ]),
        SessionStory(
            "in a backlog, what came to its end becomes part of the transaction under way",
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
                + (0..<6).flatMap { (index: Int64) -> [SessionStory.Act] in
                    let first = 2 + 4 * index
                    let events = (first...first + 3).map(String.init).joined(separator: " ")
                    return [
                        .take(.live, first...first + 3), .next("process \(index + 2): live/0 \(events)"), .processed,
                        .next("add \(index + 2): live/0=\(first + 4)"), .added,
                    ]
                } + [
                    .take(.live, 26...29), .next("process 8: live/0 26 27 28 29"), .processed, .next("wait"),
                    .committed,
                    .next("commit 8: live/0=30"),
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
            "quiet: what was taken comes to its end, and nothing new is asked for",
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
            "what an abort puts back waits, and stands in its order",
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

    static let aborts: [SessionStory] = [
        SessionStory(
            "alone",
            inCommit + [.aborted, .next("roll back"), .next("process 2: live/0 0 1"), .processed]
                + [.next("commit 2: live/0=2")]),
        SessionStory(
            "while the next is processed",
            both + [.aborted, .next("roll back"), .next("process 3: live/0 0 1 2 3"), .processed]
                + [.next("commit 3: live/0=4")]),
        SessionStory(
            "while the next is ready",
            both + [.processed, .aborted, .next("roll back"), .next("process 3: live/0 0 1 2 3")]),
        SessionStory(
            "before what was not begun",
            inCommit + [.take(.live, 2...2), .aborted, .next("roll back"), .next("process 2: live/0 0 1 2")]),
        SessionStory(
            "of several lanes and partitions",
            [
                .take(.live, 0...0), .take(.live, 8...8, partition: 1), .takeRetry(3, due: 0), .take(.bulk, 7...7),
                .next("process 1: live/0 0 live/1 8 retries/0 3 bulk/0 7"), .processed,
                .next("commit 1: live/0=1 live/1=9 retries/0=4 bulk/0=8"), .takeRetry(4, due: 0), .aborted,
                .next("roll back"), .next("process 2: live/0 0 live/1 8 retries/0 3 bulk/0 7"),
            ]),
        SessionStory(
            "the late end of what was given up is nobody's",
            both + [
                .aborted, .processedLate(2), .next("roll back"), .processedLate(2), .next("process 3: live/0 0 1 2 3"),
                .processedLate(2), .next("wait"), .processed, .next("commit 3: live/0=4"),
            ]),
        SessionStory(
            "blocked: nothing is begun until the topics can be written",
            inCommit + [
                .take(.live, 2...2), .blocked, .next("roll back"), .next("check"), .next("wait"), .next("wait"),
                .unblocked,
                .next("process 2: live/0 0 1 2"),
            ]),
        SessionStory(
            "again and again",
            inCommit + [
                .aborted, .next("roll back"), .next("process 2: live/0 0 1"), .processed, .next("commit 2: live/0=2"),
                .aborted, .next("roll back"), .next("process 3: live/0 0 1"), .processed, .next("commit 3: live/0=2"),
                .committed, .next("wait"),
            ]),
        SessionStory("answers that nobody waits for change nothing", taken + [.committed, .aborted, .next("wait")]),
        SessionStory(
            "each abort in a row is followed by a longer pause, up to the longest; a commit begins anew",
            pause: .milliseconds(10),
            inCommit + [
                .aborted, .next("roll back"), .next("wait until 10"), .pass(10), .next("process 2: live/0 0 1"),
                .processed, .next("commit 2: live/0=2"), .aborted, .next("roll back"), .next("wait until 30"),
                .pass(20),
                .next("process 3: live/0 0 1"), .processed, .next("commit 3: live/0=2"), .aborted, .next("roll back"),
                .next("wait until 70"), .pass(40), .next("process 4: live/0 0 1"), .processed,
                .next("commit 4: live/0=2"), .aborted, .next("roll back"), .next("wait until 110"), .pass(40),
                .next("process 5: live/0 0 1"), .processed, .next("commit 5: live/0=2"), .committed,
                .take(.live, 2...2), .next("process 6: live/0 2"), .processed, .next("commit 6: live/0=3"), .aborted,
                .next("roll back"), .next("wait until 120"),
            ]),
        SessionStory(
            "a clock that is set back in a pause ends it", pause: .milliseconds(10),
            inCommit + [.aborted, .next("roll back"), .pass(-5), .next("process 2: live/0 0 1")]),
        SessionStory(
            "partitions are given up in a pause", pause: .milliseconds(10),
            inCommit + [.aborted, .ask(.live, SessionStory.revoked()), .next("roll back"), .next("answer live")]),
        SessionStory(
            "a topic is looked at after a pause, and after a longer one again", pause: .milliseconds(10),
            inCommit + [
                .blocked, .next("roll back"), .next("wait until 10"), .pass(10), .next("check"), .next("wait"),
                .stillBlocked, .next("wait until 30"), .pass(19), .next("wait until 30"), .pass(1), .next("check"),
                .unblocked, .next("process 2: live/0 0 1"),
            ]),
        SessionStory(
            "nobody looks at a topic for a worker that stops", pause: .milliseconds(10),
            inCommit + [.blocked, .next("roll back"), .pass(10), .stop, .next("stop")]),
    ]

    @Test(arguments: aborts)
    func `an aborted transaction's events are taken again, in their order`(_ story: SessionStory) { play(story) }

    static let stops: [SessionStory] = [
        SessionStory("idle", [.stop, .next("stop"), .next("stop")]),
        SessionStory("queued: nothing new is begun", [.take(.live, 0...1), .stop, .next("stop")]),
        SessionStory(
            "processing",
            taken + [.stop, .next("wait"), .processed, .next("commit 1: live/0=2"), .next("wait"), .committed]
                + [.next("stop")]),
        SessionStory("ready", ready + [.stop, .next("commit 1: live/0=2"), .committed, .next("stop")]),
        SessionStory("committing", inCommit + [.stop, .next("wait"), .committed, .next("stop")]),
        SessionStory(
            "committing and processing",
            both + [
                .stop, .next("wait"), .committed, .next("wait"), .processed, .next("commit 2: live/0=4"), .committed,
                .next("stop"),
            ]),
        SessionStory(
            "an abort then: others answer the events",
            inCommit + [.stop, .aborted, .next("roll back")] + [
                .next("stop")
            ]),
        SessionStory("blocked", inCommit + [.blocked, .next("roll back"), .stop, .next("stop")]),
        SessionStory(
            "with open offsets: they are committed first",
            inCommit + [.committed, .openOffsets(true), .stop, .next("wait"), .openOffsets(false), .next("stop")]),
        SessionStory(
            "in a pause after an abort", pause: .milliseconds(10),
            inCommit + [.stop, .aborted, .next("roll back"), .next("stop")]),
        SessionStory(
            "with a rebalance to answer",
            ready + [
                .stop, .ask(.live, SessionStory.revoked()), .next("commit 1: live/0=2"), .committed,
                .next("answer live"),
                .next("stop"),
            ]),
    ]

    @Test(arguments: stops)
    func `the session stops once the work begun is committed`(_ story: SessionStory) { play(story) }

    static let lingering: [SessionStory] = [
        SessionStory(
            "a single event waits for others", linger: .milliseconds(20),
            [
                .take(.live, 0...0), .next("wait until 20"), .pass(19), .take(.live, 1...1), .next("wait until 20"),
                .pass(1), .next("process 1: live/0 0 1"),
            ]),
        SessionStory(
            "a full batch does not", linger: .seconds(9),
            [.take(.live, 0...3)] + [
                .next("process 1: live/0 0 1 2 3")
            ]),
        SessionStory(
            "several lanes fill it together", linger: .seconds(9),
            [
                .take(.live, 0...1), .take(.bulk, 0...1), .next("process 1: live/0 0 1 bulk/0 0 1"),
            ]),
        SessionStory(
            "the lane that came first says until when", linger: .milliseconds(20),
            [
                .take(.bulk, 0...0), .pass(15), .take(.live, 0...0), .next("wait until 20"),
            ]),
        SessionStory(
            "nothing waits while a commit is under way", linger: .milliseconds(20),
            [
                .take(.live, 0...0), .pass(20), .next("process 1: live/0 0"), .processed, .next("commit 1: live/0=1"),
                .take(.live, 1...1), .next("process 2: live/0 1"),
            ]),
        SessionStory(
            "nothing waits with a retry", linger: .milliseconds(20),
            [
                .take(.live, 0...0), .takeRetry(5, due: 0), .next("process 1: live/0 0 retries/0 5"),
            ]),
        SessionStory(
            "nor past a retry's moment", linger: .milliseconds(20),
            [
                .take(.live, 0...0), .takeRetry(5, due: 12), .next("wait until 12"),
            ]),
        SessionStory(
            "what was put back has waited", linger: .milliseconds(20),
            [
                .take(.live, 0...0), .pass(20), .next("process 1: live/0 0"), .processed, .next("commit 1: live/0=1"),
                .aborted, .next("roll back"), .next("process 2: live/0 0"),
            ]),
        SessionStory(
            "a clock that is set back holds nothing up", linger: .milliseconds(20),
            [
                .take(.live, 0...0), .pass(-1), .next("process 1: live/0 0"),
            ]),
        SessionStory(
            "what is ready is committed meanwhile", linger: .milliseconds(20),
            [
                .take(.live, 0...0), .pass(20), .next("process 1: live/0 0"), .take(.live, 1...1), .processed,
                .next("commit 1: live/0=1"), .pass(20), .committed, .take(.live, 2...2), .next("process 2: live/0 1 2"),
            ]),
        SessionStory(
            "no longer than a commit takes", linger: .milliseconds(20),
            [
                .take(.live, 0...0), .pass(20), .next("process 1: live/0 0"), .processed, .next("commit 1: live/0=1"),
                .pass(6), .committed, .pass(74), .take(.live, 1...1), .next("wait until 106"), .pass(6),
                .next("process 2: live/0 1"), .processed, .next("commit 2: live/0=2"), .pass(2), .committed, .pass(2),
                .take(.live, 2...2), .next("wait until 114"),
            ]),
        SessionStory(
            "a slow commit lets nothing wait longer than it is to", linger: .milliseconds(20),
            [
                .take(.live, 0...0), .pass(20), .next("process 1: live/0 0"), .processed, .next("commit 1: live/0=1"),
                .pass(480), .committed, .take(.live, 1...1), .next("wait until 520"),
            ]),
    ]

    @Test(arguments: lingering)
    func `the session lingers for more events as its story expects`(_ story: SessionStory) { play(story) }

    private func play(_ story: SessionStory) {
        var teller = SessionTeller(story)
        #expect(teller.tell(story.acts) == story.expected)
    }
}
