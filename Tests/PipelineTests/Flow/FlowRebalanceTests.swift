import Pipeline
import Testing

@Suite("The flow in a rebalance")
struct FlowRebalanceTests {
    private static let taken: [FlowStory.Act] = [.take(.live, 0...1), .next("process 1: live/0 0 1")]
    private static let ready = taken + [.processed]
    private static let inCommit = ready + [.next("commit 1: live/0=2")]
    private static let blocked = inCommit + [.blocked, .next("roll back"), .next("wait")]
    /// The next two are in work while the first two are committed.
    private static let both = inCommit + [.take(.live, 2...3), .next("process 2: live/0 2 3")]

    static let revoked: [FlowStory] = [
        FlowStory("idle", [.ask(.live, FlowStory.revoked()), .next("answer live"), .next("wait")]),
        FlowStory(
            "queued",
            [.take(.live, 0...1), .ask(.live, FlowStory.revoked()), .next("answer live"), .next("wait")]),
        FlowStory(
            "processing",
            taken + [
                .ask(.live, FlowStory.revoked()), .next("wait"), .processed, .next("commit 1: live/0=2"), .next("wait"),
                .committed, .next("answer live"), .next("wait"),
            ]),
        FlowStory(
            "ready",
            ready + [
                .ask(.live, FlowStory.revoked()), .next("commit 1: live/0=2"), .next("wait"), .committed,
                .next("answer live"), .next("wait"),
            ]),
        FlowStory(
            "committing",
            inCommit + [.ask(.live, FlowStory.revoked()), .next("wait"), .committed, .next("answer live")]),
        FlowStory(
            "committing, which is aborted",
            inCommit + [
                .ask(.live, FlowStory.revoked()), .aborted, .next("roll back"), .next("answer live"), .next("wait"),
            ]),
        FlowStory(
            "committing and processing",
            both + [
                .ask(.live, FlowStory.revoked()), .next("wait"), .committed, .next("wait"), .processed,
                .next("commit 2: live/0=4"), .next("wait"), .committed, .next("answer live"), .next("wait"),
            ]),
        FlowStory(
            "processing behind what is ready",
            both + [
                .processed, .take(.live, 4...4), .next("process 3: live/0 4"), .committed,
                .ask(.live, FlowStory.revoked()), .next("commit 2: live/0=4"), .committed, .next("wait"), .processed,
                .next("commit 3: live/0=5"), .committed, .next("answer live"),
            ]),
        FlowStory(
            "blocked", blocked + [.ask(.live, FlowStory.revoked()), .next("answer live"), .unblocked, .next("wait")]),
        FlowStory(
            "blocked by the commit that was to go first",
            inCommit + [
                .ask(.live, FlowStory.revoked()), .blocked, .next("roll back"), .next("answer live"), .next("wait"),
            ]),
        FlowStory(
            "one of two partitions",
            [
                .take(.live, 0...1), .take(.live, 5...6, partition: 1), .next("process 1: live/0 0 1 live/1 5 6"),
                .take(.live, 2...2), .take(.live, 7...7, partition: 1), .ask(.live, FlowStory.revoked([1])), .processed,
                .next("commit 1: live/0=2 live/1=7"), .committed, .next("answer live"), .next("process 2: live/0 2"),
                .processed, .next("commit 2: live/0=3"),
            ]),
        FlowStory(
            "another lane's: what is taken of this one stays",
            ready + [
                .take(.live, 2...2), .take(.bulk, 9...9), .ask(.bulk, FlowStory.revoked(of: "bulk")),
                .next("commit 1: live/0=2"), .committed, .next("answer bulk"), .next("process 2: live/0 2"),
            ]),
        FlowStory(
            "two lanes at once",
            ready + [
                .ask(.bulk, FlowStory.revoked(of: "bulk")), .ask(.live, FlowStory.revoked()),
                .next("commit 1: live/0=2"), .committed, .next("answer live"), .next("answer bulk"), .next("wait"),
            ]),
        FlowStory(
            "what comes in with the request is dropped as well",
            [
                .ask(.live, FlowStory.revoked()), .take(.live, 0...3), .next("answer live"), .next("wait"),
            ]),
        FlowStory(
            "and assigned again, from where the commit left it",
            ready + [
                .ask(.live, FlowStory.revoked()), .next("commit 1: live/0=2"), .committed, .next("answer live"),
                .ask(.live, .assigned), .next("answer live"), .take(.live, 2...2), .next("process 2: live/0 2"),
                .processed, .next("commit 2: live/0=3"),
            ]),
    ]

    @Test(arguments: revoked)
    func `what is in work is committed before partitions are given up`(_ story: FlowStory) { play(story) }

    static let lost: [FlowStory] = [
        FlowStory("idle", [.ask(.live, FlowStory.lost()), .next("answer live"), .next("wait")]),
        FlowStory(
            "processing",
            taken + [
                .ask(.live, FlowStory.lost()), .next("wait"), .processed, .next("roll back"), .next("answer live"),
                .next("wait"),
            ]),
        FlowStory(
            "ready", ready + [.ask(.live, FlowStory.lost()), .next("roll back"), .next("answer live"), .next("wait")]),
        FlowStory(
            "committing", inCommit + [.ask(.live, FlowStory.lost()), .next("wait"), .committed, .next("answer live")]),
        FlowStory(
            "committing, which is aborted",
            inCommit + [
                .ask(.live, FlowStory.lost()), .aborted, .next("roll back"), .next("answer live"), .next("wait"),
            ]),
        FlowStory(
            "processing behind what is ready",
            both + [
                .processed, .take(.live, 4...4), .next("process 3: live/0 4"), .committed,
                .ask(.live, FlowStory.lost()), .next("wait"), .processed, .next("roll back"), .next("answer live"),
                .next("wait"),
            ]),
        FlowStory(
            "blocked", blocked + [.ask(.live, FlowStory.lost()), .next("answer live"), .unblocked, .next("wait")]),
        FlowStory(
            "while another lane's are given up",
            [
                .take(.live, 0...0), .take(.bulk, 5...5), .next("process 1: live/0 0 bulk/0 5"), .processed,
                .ask(.live, FlowStory.revoked()), .ask(.bulk, FlowStory.lost(of: "bulk")), .next("roll back"),
                .next("answer live"), .next("answer bulk"), .next("wait"),
            ]),
        FlowStory(
            "what else was ready is taken again, in its order",
            [
                .take(.live, 0...1), .take(.live, 5...6, partition: 1), .next("process 1: live/0 0 1 live/1 5 6"),
                .processed, .take(.live, 2...2), .ask(.live, FlowStory.lost([1])), .next("roll back"),
                .next("answer live"), .next("process 2: live/0 0 1 2"), .processed, .next("commit 2: live/0=3"),
            ]),
    ]

    @Test(arguments: lost)
    func `nothing of lost partitions is committed`(_ story: FlowStory) { play(story) }

    static let assigned: [FlowStory] = [
        FlowStory("idle", [.ask(.live, .assigned), .next("answer live"), .next("wait")]),
        FlowStory(
            "processing",
            taken + [.ask(.bulk, .assigned), .next("wait"), .processed, .next("answer bulk")]
                + [.next("commit 1: live/0=2")]),
        FlowStory(
            "committing",
            inCommit + [.ask(.bulk, .assigned), .take(.live, 2...2), .next("wait"), .committed, .next("answer bulk")]
                + [.next("process 2: live/0 2")]),
        FlowStory(
            "ready", ready + [.ask(.bulk, .assigned), .next("answer bulk"), .next("commit 1: live/0=2")]),
        FlowStory("blocked", blocked + [.ask(.bulk, .assigned), .next("answer bulk"), .next("wait")]),
    ]

    @Test(arguments: assigned)
    func `new partitions are taken over between two pieces of work`(_ story: FlowStory) { play(story) }

    private func play(_ story: FlowStory) {
        var teller = FlowTeller(story)
        #expect(teller.tell(story.acts) == story.expected)
    }
}
