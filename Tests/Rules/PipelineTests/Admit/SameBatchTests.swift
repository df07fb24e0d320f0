import AdapterKit
import Pipeline
import Testing

@testable import Pipeline

/// Records of one batch, and how each ends.
struct BatchStory: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let records: [InputRecord]
    let ends: [Outcome]

    init(_ name: String, _ records: [InputRecord], ends: [Outcome]) {
        testDescription = name
        self.records = records
        self.ends = ends
    }
}

@Suite("Events of one user in one batch")
struct SameBatchTests {
    private static func braze(_ user: String, token: String = "e30", _ offset: Int64 = 0) -> InputRecord {
        .raw(SampleReport.braze(user: user, token: token), app: "shop-ios", offset: offset)
    }

    private static let web = InputRecord.raw(SampleReport.bloomreach(), app: "web")
    private static let answered = Outcome.superseded(.sameBatch)

    static let stories: [BatchStory] = [
        BatchStory(
            "three reports of one failure", [braze("ann", 1), braze("ann", 2), braze("ann", 3)],
            ends: [.minted, answered, answered]),
        BatchStory(
            "whatever token they name", [braze("ann", token: "a", 1), braze("ann", token: "b", 2)],
            ends: [.minted, answered]),
        BatchStory(
            "two users in turns", [braze("ann", 1), braze("bob", 2), braze("ann", 3), braze("bob", 4)],
            ends: [.minted, .minted, answered, answered]),
        BatchStory(
            "two apps of one user",
            [web, .sample(#"{"app":"shop-ios","reissue":{"user":"ann@example.com"}}"#), web],
            ends: [.minted, .minted, answered]),
        BatchStory(
            "a reissue beside a report",
            [braze("ann"), .sample(#"{"app":"shop-ios","reissue":{"user":"ann"}}"#)],
            ends: [.minted, answered]),
        BatchStory(
            "a challenge each time",
            [
                .raw(SampleReport.challenge(nonce: "a"), app: "push"),
                .raw(SampleReport.challenge(nonce: "b"), app: "push"),
                .raw(SampleReport.challenge(nonce: "a"), app: "push"),
            ], ends: [.minted, .minted, .minted]),
        BatchStory(
            "more challenges than a user has in a minute",
            (0..<7).map { .raw(SampleReport.challenge(nonce: "n-\($0)"), app: "push", offset: Int64($0)) },
            ends: Array(repeating: .minted, count: 5)
                + Array(repeating: .deadLettered(.rejectedByVendor), count: 2)),
        BatchStory(
            "a record that is no event in between", [braze("ann", 1), .raw("{", app: "shop-ios"), braze("ann", 2)],
            ends: [.minted, .deadLettered(.malformedEvent), answered]),
    ]

    @Test(arguments: stories)
    func `the first event of a user in a batch gets the token, which answers the others`(_ story: BatchStory)
        async throws
    {
        let bench = try TestBench()
        var processor = bench.processor(CountingSigning())
        let settlements = await processor.process(story.records)
        #expect(settlements.map(\.outcome) == story.ends)
        #expect(settlements.allSatisfy { ($0.output == nil) == ($0.outcome == Self.answered) })
    }

    @Test func `each event gets its own token with admission off`() async throws {
        var processor = try TestBench().processor(CountingSigning(), admission: .off)
        let settlements = await processor.process([Self.braze("ann", 1), Self.braze("ann", 2)])
        #expect(settlements.map(\.outcome) == [.minted, .minted])
    }

    @Test func `events of one user all wait with their own attempts if no token is made`() async throws {
        let signing = CountingSigning()
        signing.isFailing = true
        var processor = try TestBench().processor(signing)
        let settlements = await processor.process([Self.braze("ann", 1), Self.braze("ann", 2)])
        #expect(settlements.map(\.outcome) == Array(repeating: .deferred(tier: 0, .failed(.mintFailed)), count: 2))
        #expect(settlements.map { $0.output?.values("remint-origin-offset") } == [["1"], ["2"]])
        signing.isFailing = false
        #expect(await processor.process([Self.braze("ann", 3)], batch: 1).map(\.outcome) == [.minted])
    }

    @Test func `each event waits for itself if the key makes no token for the first`() async throws {
        let bench = try TestBench()
        bench.signing.activate(bench.brazeKey, in: "shop-braze", retireAfter: bench.clock.now.advanced(bySeconds: 5))
        var processor = bench.processor()
        let settlements = await processor.process([Self.braze("ann", 1), Self.braze("ann", 2)])
        #expect(settlements.map(\.outcome) == Array(repeating: .deferred(tier: 0, .failed(.keyUnavailable)), count: 2))
    }
}

@Suite("The subjects of a batch")
struct BatchSubjectsTests {
    private static let now = TestBench.now

    @Test func `a subject is found among others, however their ids lie`() {
        var random = SeededGenerator(seed: 21)
        for count in [0, 1, 2, 7, 64, 400] {
            var subjects = BatchSubjects(count)
            var known: [SubjectID: (leader: Int?, count: Int)] = [:]
            for place in 0..<count {
                // Few places and few ids, so that many meet.
                let id = SubjectID(high: .random(in: 0...7, using: &random), low: .random(in: 0...30, using: &random))
                let isShared = Bool.random(using: &random)
                subjects.append(id, reportedAt: nil, isShared: isShared)
                known[id] = (isShared ? place : nil, (known[id]?.count ?? 0) + 1)
                for id in known.keys {
                    #expect(subjects.leader(of: id) == known[id]?.leader)
                    #expect(subjects.count(of: id) == known[id]?.count)
                }
            }
            #expect(subjects.leader(of: SubjectID(high: 3, low: 99)) == nil)
            #expect(subjects.count(of: SubjectID(high: 3, low: 99)) == 0)
        }
    }

    @Test func `a draft at the signer stays as old as it was`() {
        let (early, late) = (Self.now.advanced(bySeconds: -60), Self.now)
        var subjects = BatchSubjects(3)
        subjects.append(SubjectID(high: 1, low: 1), reportedAt: late, isShared: true)
        #expect(subjects.isFirst(early, of: 0) && !subjects.isFirst(late, of: 0))
        let first = subjects.takeReports()
        #expect(first.first == 0 && first.reports == [late])
        #expect(!subjects.isFirst(early, of: 0))
        subjects.append(SubjectID(high: 2, low: 1), reportedAt: nil, isShared: true)
        #expect(subjects.isFirst(late, of: 1))
        subjects.join(1, reportedAt: early)
        let second = subjects.takeReports()
        #expect(second.first == 1 && second.reports == [early])
        #expect(subjects.reportedAt(0) == late && subjects.reportedAt(1) == early)
    }
}
