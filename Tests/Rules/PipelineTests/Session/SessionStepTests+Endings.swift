import Testing

@testable import Pipeline

extension SessionStepTests {
    static let ends: [SessionStory] = [
        SessionStory(
            "a mark behind the last event, committed after a second without events",
            [.begin(.live, 0), .take(.live, 0...1), .next("process 1: live/0 0 1"), .processed]
                + [.next("commit 1: live/0=2"), .committed, .reach(.live, 3), .next("wait"), .pass(999), .next("wait")]
                + [.pass(1), .next("commit : live/0=3"), .committed, .pass(5000), .reach(.live, 3), .next("wait")]),
        SessionStory(
            "a mark that is reached before the last event is committed, committed with it",
            [.begin(.live, 0), .take(.live, 0...1), .reach(.live, 3), .next("process 1: live/0 0 1"), .processed]
                + [.next("commit 1: live/0=3"), .committed, .pass(5000), .next("wait")]),
        SessionStory(
            "a mark that a worker finds at its start",
            [.begin(.bulk, 7), .reach(.bulk, 8), .next("wait"), .pass(1000), .next("commit : bulk/0=8"), .committed]
                + [.pass(5000), .next("wait")]),
        SessionStory(
            "the end of a partition without marks: nothing is committed",
            [.begin(.live, 7), .reach(.live, 7), .next("wait"), .pass(5000), .next("wait")]),
        SessionStory(
            "events that begin before the second is over: their commit has it too",
            [.begin(.live, 0), .begin(.bulk, 7), .reach(.bulk, 8), .next("wait"), .pass(900), .take(.live, 0...0)]
                + [.next("process 1: live/0 0"), .processed, .next("commit 1: live/0=1 bulk/0=8"), .committed]
                + [.pass(5000), .next("wait")]),
        SessionStory(
            "aborted: committed later",
            [.begin(.bulk, 7), .reach(.bulk, 8), .next("wait"), .pass(1000), .next("commit : bulk/0=8"), .aborted]
                + [.next("roll back"), .next("commit : bulk/0=8")]),
        SessionStory(
            "a worker that stops, and leaves it to the next one",
            [.begin(.bulk, 7), .reach(.bulk, 8), .next("wait"), .pass(1000), .stop, .next("stop")]),
    ]

    @Test(arguments: ends)
    func `the offset behind the last mark is committed once there is nothing else to do`(_ story: SessionStory) {
        play(story)
    }

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
            "each abort in a row is followed by a longer pause, up to the longest; after a commit, pauses begin again",
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
            "the lane that came first decides until when", linger: .milliseconds(20),
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
}
