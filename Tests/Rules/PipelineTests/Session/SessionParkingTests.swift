import Testing

@testable import Pipeline

/// Events that wait in their places for a vendor's answer, with every way in which somebody may come to stand behind them.
@Suite("The session state machine: waiting in place")
struct SessionParkingTests {
    private static let two: [SessionStory.Act] = [.take(.live, 0...1), .next("process 1: live/0 0 1")]

    static let stories = [
        SessionStory(
            "an event that waits keeps its offset from being committed, and its answer ends it",
            two + [
                .parked([1], for: 900), .next("commit 1: live/0=1"), .committed, .next("wait until 900"), .answers,
                .next("process 2 again: live/0 1"), .processed, .next("commit 2: live/0=2"),
            ]),
        SessionStory(
            "one that others are ready behind goes to its end first",
            two + [
                .parked([0], for: 900), .next("process 2 to the end: live/0 0"), .processed,
                .next("commit 1+2: live/0=2"),
            ]),
        SessionStory(
            "others behind it that come later do not wait for it either",
            two + [
                .parked([0, 1], for: 900), .next("wait until 900"), .take(.live, 2...2), .next("process 2: live/0 2"),
                .processed, .next("process 3 to the end: live/0 0 1"), .processed, .next("commit 2+3: live/0=3"),
            ]),
        SessionStory(
            "those of another partition are nobody's obstacle",
            [
                .take(.live, 0...0), .take(.live, 5...5, partition: 1), .next("process 1: live/0 0 live/1 5"),
                .parked([0], for: 900), .next("commit 1: live/1=6"), .committed, .next("wait until 900"),
            ]),
        SessionStory(
            "nor are those of another lane",
            [
                .take(.live, 0...0), .take(.bulk, 5...5), .next("process 1: live/0 0 bulk/0 5"), .parked([0], for: 900),
                .next("commit 1: bulk/0=6"), .committed, .next("wait until 900"),
            ]),
        SessionStory(
            "what waited long enough goes to its end",
            two + [
                .parked([0, 1], for: 900), .pass(899), .next("wait until 900"), .pass(1),
                .next("process 2 to the end: live/0 0 1"), .processed, .next("commit 2: live/0=2"),
            ]),
        SessionStory(
            "looking again does not restart the wait",
            two + [
                .parked([0, 1], for: 900), .pass(500), .answers, .next("process 2 again: live/0 0 1"),
                .parked([0, 1], for: 900), .next("wait until 900"), .pass(400),
                .next("process 3 to the end: live/0 0 1"),
            ]),
        SessionStory(
            "an answer is asked for once, not until it comes",
            two + [
                .parked([0, 1], for: 900), .answers, .next("process 2 again: live/0 0 1"), .parked([0, 1], for: 900),
                .next("wait until 900"), .next("wait until 900"),
            ]),
        SessionStory(
            "a round goes on in the next batch, and passes over the partition in which one goes on waiting",
            [
                .take(.live, 0...2), .take(.live, 7...7, partition: 1), .next("process 1: live/0 0 1 2 live/1 7"),
                .parked([0, 1, 2, 7], for: 900), .take(.live, 3...5), .next("process 2: live/0 3 4 5"),
                .parked([3, 4, 5], for: 900), .answers, .next("process 3 again: live/0 0 1 2 live/1 7"),
                .parked([1, 2], for: 1), .next("commit 3: live/0=1 live/1=8"), .committed,
                .next("wait until 900"),
            ]),
        SessionStory(
            "live events take their turn between those that are looked at again",
            [
                .take(.live, 0...3), .next("process 1: live/0 0 1 2 3"), .parked([0, 1, 2, 3], for: 900),
                .take(.live, 4...7), .next("process 2: live/0 4 5 6 7"), .parked([4, 5, 6, 7], for: 900), .answers,
                .take(.live, 8...8, partition: 1), .next("process 3 again: live/0 0 1 2 3"), .processed,
                .next("commit 3: live/0=4"), .next("process 4: live/1 8"), .processed,
                .next("process 5 again: live/0 4 5 6 7"), .processed, .next("add 4+5: live/0=8 live/1=9"), .added,
                .next("wait"), .committed, .next("wait"),
            ]),
        SessionStory(
            "nothing is added to a transaction while what waits, or is looked at again, may be before it",
            [
                .take(.live, 0...0, partition: 1), .next("process 1: live/1 0"), .processed,
                .next("commit 1: live/1=1"),
                .take(.live, 0...3), .next("process 2: live/0 0 1 2 3"), .parked([0], for: 900),
                .take(.live, 1...1, partition: 1), .next("process 3: live/1 1"), .processed, .next("wait until 900"),
                .answers, .next("process 4 again: live/0 0"), .next("wait"), .processed,
                .next("add 2+3+4: live/0=4 live/1=2"),
            ]),
        SessionStory(
            "an abort puts it back with those that stand around it",
            two + [
                .parked([1], for: 900), .next("commit 1: live/0=1"), .aborted, .next("roll back"),
                .next("process 2: live/0 0 1"), .processed, .next("commit 2: live/0=2"),
            ]),
        SessionStory(
            "an abort while it is looked at again puts it back like the others",
            two + [
                .parked([1], for: 900), .next("commit 1: live/0=1"), .answers, .next("process 2 again: live/0 1"),
                .aborted, .next("roll back"), .next("process 3: live/0 0 1"), .processed,
                .next("commit 3: live/0=2"),
            ]),
        SessionStory(
            "a blockage holds it up like everybody",
            two + [
                .parked([1], for: 900), .next("commit 1: live/0=1"), .blocked, .next("roll back"), .pass(1000),
                .answers, .next("check"), .next("wait"), .unblocked, .next("process 2: live/0 0 1"),
            ]),
        SessionStory(
            "a partition that is given up takes it along, and another worker consumes it again",
            two + [
                .parked([1], for: 900), .ask(.live, SessionStory.revoked()), .next("commit 1: live/0=1"), .committed,
                .next("answer live"), .answers, .pass(1000), .next("wait"),
            ]),
        SessionStory(
            "a partition that is given up with others ready behind it ends it first",
            two + [
                .parked([0], for: 900), .ask(.live, SessionStory.revoked()), .next("process 2 to the end: live/0 0"),
                .processed, .next("commit 1+2: live/0=2"), .committed, .next("answer live"),
            ]),
        SessionStory(
            "a partition that is lost takes it along",
            two + [
                .parked([0, 1], for: 900), .ask(.live, SessionStory.lost()), .next("answer live"), .pass(1000),
                .next("wait"),
            ]),
        SessionStory(
            "a worker that stops does not wait for it",
            two + [
                .parked([1], for: 900), .stop, .next("commit 1: live/0=1"), .next("wait"), .committed, .next("stop"),
            ]),
        SessionStory(
            "an event of a retry tier waits in place as well",
            [
                .takeRetry(3, due: 0), .next("process 1: retries/0 3"), .parked([3], for: 900),
                .next("wait until 900"), .answers, .next("process 2 again: retries/0 3"), .processed,
                .next("commit 2: retries/0=4"),
            ]),
        SessionStory(
            "when very many wait, the next do not",
            [
                .take(.live, 0...3), .next("process 1: live/0 0 1 2 3"), .parked([0, 1, 2, 3], for: 900),
                .take(.live, 4...7), .next("process 2: live/0 4 5 6 7"), .parked([4, 5, 6, 7], for: 900),
                .take(.live, 8...11), .next("process 3: live/0 8 9 10 11"), .parked([8, 9, 10, 11], for: 900),
                .take(.live, 12...15), .next("process 4: live/0 12 13 14 15"), .parked([12, 13, 14, 15], for: 900),
                .take(.live, 16...16), .next("process 5 to the end: live/0 16"),
            ]),
    ]

    @Test(arguments: stories) func `waiting events take the steps their story expects`(_ story: SessionStory) {
        var teller = SessionTeller(story)
        #expect(teller.tell(story.acts) == story.expected)
    }
}
