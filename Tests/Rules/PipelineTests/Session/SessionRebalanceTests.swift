import Pipeline
import Testing

@Suite("The session state machine in a rebalance")
struct SessionRebalanceTests {
    private static let taken: [SessionStory.Act] = [.take(.live, 0...1), .next("process 1: live/0 0 1")]
    private static let ready = taken + [.processed]
    private static let inCommit = ready + [.next("commit 1: live/0=2")]
    private static let blocked = inCommit + [.blocked, .next("roll back"), .next("check"), .next("wait")]
    /// The next two are in work while the first two are committed.
    private static let both = inCommit + [.take(.live, 2...3), .next("process 2: live/0 2 3")]

    static let revoked: [SessionStory] = [
        SessionStory("idle", [.ask(.live, SessionStory.revoked()), .next("answer live"), .next("wait")]),
        SessionStory(
            "queued",
            [.take(.live, 0...1), .ask(.live, SessionStory.revoked()), .next("answer live"), .next("wait")]),
        SessionStory(
            "processing",
            taken + [
                .ask(.live, SessionStory.revoked()), .next("wait"), .processed, .next("commit 1: live/0=2"),
                .next("wait"),
                .committed, .next("answer live"), .next("wait"),
            ]),
        SessionStory(
            "ready",
            ready + [
                .ask(.live, SessionStory.revoked()), .next("commit 1: live/0=2"), .next("wait"), .committed,
                .next("answer live"), .next("wait"),
            ]),
        SessionStory(
            "committing",
            inCommit + [.ask(.live, SessionStory.revoked()), .next("wait"), .committed, .next("answer live")]),
        SessionStory(
            "committing, which is aborted",
            inCommit + [
                .ask(.live, SessionStory.revoked()), .aborted, .next("roll back"), .next("answer live"), .next("wait"),
            ]),
        SessionStory(
            "committing and processing",
            both + [
                .ask(.live, SessionStory.revoked()), .next("wait"), .committed, .next("wait"), .processed,
                .next("commit 2: live/0=4"), .next("wait"), .committed, .next("answer live"), .next("wait"),
            ]),
        SessionStory(
            "processing behind what is ready",
            both + [
                .processed, .take(.live, 4...4), .next("process 3: live/0 4"), .committed,
                .ask(.live, SessionStory.revoked()), .next("commit 2: live/0=4"), .committed, .next("wait"), .processed,
                .next("commit 3: live/0=5"), .committed, .next("answer live"),
            ]),
        SessionStory(
            "blocked", blocked + [.ask(.live, SessionStory.revoked()), .next("answer live"), .unblocked, .next("wait")]),
        SessionStory(
            "with open offsets: they are committed first",
            inCommit + [
                .committed, .openOffsets(true), .ask(.live, SessionStory.revoked()), .next("wait"), .openOffsets(false),
                .next("answer live"),
            ]),
        SessionStory(
            "blocked by the commit that was to go first", pause: .milliseconds(10),
            inCommit + [
                .ask(.live, SessionStory.revoked()), .blocked, .next("roll back"), .next("answer live"),
                .next("wait until 10"),
            ]),
        SessionStory(
            "one of two partitions",
            [
                .take(.live, 0...1), .take(.live, 5...6, partition: 1), .next("process 1: live/0 0 1 live/1 5 6"),
                .take(.live, 2...2), .take(.live, 7...7, partition: 1), .ask(.live, SessionStory.revoked([1])),
                .processed,
                .next("commit 1: live/0=2 live/1=7"), .committed, .next("answer live"), .next("process 2: live/0 2"),
                .processed, .next("commit 2: live/0=3"),
            ]),
        SessionStory(
            "another lane's: what is taken of this one stays",
            ready + [
                .take(.live, 2...2), .take(.bulk, 9...9), .ask(.bulk, SessionStory.revoked(of: "bulk")),
                .next("commit 1: live/0=2"), .committed, .next("answer bulk"), .next("process 2: live/0 2"),
            ]),
        SessionStory(
            "two lanes at once",
            ready + [
                .ask(.bulk, SessionStory.revoked(of: "bulk")), .ask(.live, SessionStory.revoked()),
                .next("commit 1: live/0=2"), .committed, .next("answer live"), .next("answer bulk"), .next("wait"),
            ]),
        SessionStory(
            "what comes in with the request is dropped as well",
            [
                .ask(.live, SessionStory.revoked()), .take(.live, 0...3), .next("answer live"), .next("wait"),
            ]),
        SessionStory(
            "and assigned again, from where the commit left it",
            ready + [
                .ask(.live, SessionStory.revoked()), .next("commit 1: live/0=2"), .committed, .next("answer live"),
                .ask(.live, .assigned([])), .next("answer live"), .take(.live, 2...2), .next("process 2: live/0 2"),
                .processed, .next("commit 2: live/0=3"),
            ]),
    ]

    @Test(arguments: revoked)
    func `a batch in work is committed before partitions are given up`(_ story: SessionStory) { play(story) }

    static let lost: [SessionStory] = [
        SessionStory("idle", [.ask(.live, SessionStory.lost()), .next("answer live"), .next("wait")]),
        SessionStory(
            "processing",
            taken + [
                .ask(.live, SessionStory.lost()), .next("wait"), .processed, .next("roll back"), .next("answer live"),
                .next("wait"),
            ]),
        SessionStory(
            "ready",
            ready + [.ask(.live, SessionStory.lost()), .next("roll back"), .next("answer live"), .next("wait")]),
        SessionStory(
            "committing",
            inCommit + [.ask(.live, SessionStory.lost()), .next("wait"), .committed, .next("answer live")]),
        SessionStory(
            "committing, which is aborted",
            inCommit + [
                .ask(.live, SessionStory.lost()), .aborted, .next("roll back"), .next("answer live"), .next("wait"),
            ]),
        SessionStory(
            "processing behind what is ready",
            both + [
                .processed, .take(.live, 4...4), .next("process 3: live/0 4"), .committed,
                .ask(.live, SessionStory.lost()), .next("wait"), .processed, .next("roll back"), .next("answer live"),
                .next("wait"),
            ]),
        SessionStory(
            "blocked", blocked + [.ask(.live, SessionStory.lost()), .next("answer live"), .unblocked, .next("wait")]),
        SessionStory(
            "while another lane's are given up",
            [
                .take(.live, 0...0), .take(.bulk, 5...5), .next("process 1: live/0 0 bulk/0 5"), .processed,
                .ask(.live, SessionStory.revoked()), .ask(.bulk, SessionStory.lost(of: "bulk")), .next("roll back"),
                .next("answer live"), .next("answer bulk"), .next("wait"),
            ]),
        SessionStory(
            "what else was ready is taken again, in its order",
            [
                .take(.live, 0...1), .take(.live, 5...6, partition: 1), .next("process 1: live/0 0 1 live/1 5 6"),
                .processed, .take(.live, 2...2), .ask(.live, SessionStory.lost([1])), .next("roll back"),
                .next("answer live"), .next("process 2: live/0 0 1 2"), .processed, .next("commit 2: live/0=3"),
            ]),
    ]

    @Test(arguments: lost)
    func `no offset of lost partitions is committed`(_ story: SessionStory) { play(story) }

    static let assigned: [SessionStory] = [
        SessionStory("idle", [.ask(.live, .assigned([])), .next("answer live"), .next("wait")]),
        SessionStory(
            "processing",
            taken + [.ask(.bulk, .assigned([])), .next("wait"), .processed, .next("answer bulk")]
                + [.next("commit 1: live/0=2")]),
        SessionStory(
            "committing",
            inCommit + [
                .ask(.bulk, .assigned([])), .take(.live, 2...2), .next("wait"), .committed, .next("answer bulk"),
            ]
                + [.next("process 2: live/0 2")]),
        SessionStory(
            "ready", ready + [.ask(.bulk, .assigned([])), .next("answer bulk"), .next("commit 1: live/0=2")]),
        SessionStory("blocked", blocked + [.ask(.bulk, .assigned([])), .next("answer bulk"), .next("wait")]),
        SessionStory(
            "prepared later",
            [.assign(.live), .next("wait"), .next("wait"), .prepared(.live), .next("answer live"), .next("wait")]),
        SessionStory(
            "of another lane, while live events go on",
            [
                .assign(.bulk), .take(.live, 0...1), .next("process 1: live/0 0 1"), .processed,
                .next("commit 1: live/0=2"),
            ]
                + [
                    .take(.live, 2...2), .next("process 2: live/0 2"), .processed, .committed,
                    .next("commit 2: live/0=3"),
                ]
                + [.committed, .prepared(.bulk), .next("answer bulk"), .next("wait")]),
        SessionStory(
            "behind a commit",
            inCommit + [.assign(.bulk), .prepared(.bulk), .next("wait"), .committed, .next("answer bulk")]),
        SessionStory(
            "of two lanes, prepared in the other order",
            [.assign(.live), .assign(.bulk), .next("wait"), .prepared(.bulk), .next("answer bulk"), .next("wait")]
                + [.prepared(.live), .next("answer live")]),
        SessionStory(
            "while another lane's partitions are revoked",
            inCommit + [.assign(.bulk), .ask(.live, SessionStory.revoked()), .committed, .next("answer live")]
                + [.next("wait"), .prepared(.bulk), .next("answer bulk")]),
        SessionStory("of a worker that stops", [.assign(.live), .stop, .next("stop")]),
    ]

    @Test(arguments: assigned)
    func `new partitions are taken over between two pieces of work`(_ story: SessionStory) { play(story) }

    private func play(_ story: SessionStory) {
        var teller = SessionTeller(story)
        #expect(teller.tell(story.acts) == story.expected)
    }
}
