import AdapterKit
import BrazeAdapter
import Testing

@testable import Pipeline

/// Tests of the look-ups that are removed from a full queue.
@Suite("Look-ups: the queue of an account") struct LookupQueueTests {
    private let loud: App
    private let quiet: App

    init() throws {
        let adapter = try BrazeAdapter(settings: .init())
        loud = App(name: "loud", adapter: adapter, keyRing: "k", lifetime: 60)
        quiet = App(name: "quiet", adapter: adapter, keyRing: "k", lifetime: 60)
    }

    private func question(_ user: String, _ second: Int64) -> Question {
        Question(
            id: SubjectID(Subject(user: user), app: "a"), subject: Subject(user: user),
            askedAt: TestBench.now.advanced(bySeconds: second))
    }

    @Test func `the app that asks most gives way, its oldest question first`() {
        var queue = LookupQueue()
        queue.append(question("real", 0), of: quiet)
        for number in 0..<5 { queue.append(question("bogus-\(number)", Int64(number)), of: loud) }
        #expect(queue.shedOldest()?.subject.user == "bogus-0")
        #expect(queue.shedOldest()?.subject.user == "bogus-1")
        #expect(queue.count == 4)
    }

    @Test func `apps are asked for in turn, however many questions one has`() {
        var queue = LookupQueue()
        for number in 0..<1000 { queue.append(question("bogus-\(number)", 0), of: loud) }
        queue.append(question("real", 0), of: quiet)
        var apps: [String] = []
        for _ in 0..<2 {
            let offer = queue.take(
                50, at: TestBench.now.advanced(bySeconds: 10), alone: 0, several: 0, turn: TestBench.now)
            if case .questions(_, let app) = offer { apps.append(app.name) }
        }
        #expect(apps.sorted() == ["loud", "quiet"])
    }

    @Test func `nothing is shed from an empty queue`() {
        var queue = LookupQueue()
        #expect(queue.shedOldest() == nil)
        #expect(queue.count == 0)
    }

    /// An app that floods an account with users that its vendor fails for must not push out another app's.
    @Test func `questions that wait for another try count for their app, and make room after the others`() {
        var queue = LookupQueue()
        for number in 0..<4 { queue.retry(question("bogus-\(number)", 0), of: loud, at: TestBench.now) }
        for number in 0..<3 { queue.append(question("real-\(number)", 0), of: quiet) }
        #expect(queue.shedOldest()?.subject.user == "bogus-0")
        queue.append(question("bogus-4", 1), of: loud)
        #expect(queue.shedOldest()?.subject.user == "bogus-4")
        #expect(queue.count == 6)
    }

    @Test func `questions in requests count for their app, and no other app makes room for them`() {
        var queue = LookupQueue()
        queue.append(question("real", 0), of: quiet)
        queue.append(question("bogus", 1), of: loud)
        let prepared = ["loud": 5]
        #expect(queue.shedOldest(beside: prepared)?.subject.user == "bogus")
        #expect(queue.shedOldest(beside: prepared) == nil)
        #expect(queue.count == 1)
    }
}
