import AdapterKit
import Testing

@testable import Pipeline

@Suite("Suspensions")
struct SuspensionTests {
    private static let rules = AdmissionRules(subjects: 100, usersToSuspend: 3)
    private static let users = ["ann", "bob", "cid", "dan"]

    /// A token for each user, `T1` to `T4`.
    private static let tokens: [AdmissionStory.Event] = users.map { .init(at: 0, user: $0, ends: "mint") }

    /// User `number`, counted from one, refuses its token.
    private static func refusal(
        _ number: Int, at seconds: Double, key: String = "v1", ends: String = "refused"
    ) -> AdmissionStory.Event {
        .init(at: seconds, user: users[number - 1], names: "T\(number)", key: key, ends: ends)
    }

    static let stories: [AdmissionStory] = [
        AdmissionStory(
            "three users", rules: rules,
            tokens + [
                refusal(1, at: 10), refusal(2, at: 11), refusal(3, at: 12, ends: "suspends"),
                refusal(4, at: 13, ends: "suspended"), .init(at: 14, user: "eve", ends: "suspended"),
            ]),
        AdmissionStory(
            "one user three times", rules: rules,
            tokens + [refusal(1, at: 10), refusal(1, at: 11), refusal(1, at: 12), refusal(2, at: 13)]),
        AdmissionStory(
            "with more than the window between", rules: rules,
            tokens + [
                refusal(1, at: 10), refusal(2, at: 11), refusal(3, at: 610.9, ends: "refused"),
                refusal(4, at: 611.1, ends: "refused"), refusal(1, at: 612, ends: "suspends"),
            ]),
        AdmissionStory(
            "what a newer token answers is answered all the same", rules: rules,
            tokens + [
                refusal(1, at: 10), refusal(2, at: 11), refusal(3, at: 12, ends: "suspends"),
                .init(at: 13, user: "ann", observed: -1, ends: "observed_earlier"),
            ]),
        AdmissionStory(
            "another key", rules: rules,
            tokens + [
                refusal(1, at: 10), refusal(2, at: 11), refusal(3, at: 12, ends: "suspends"),
                .init(at: 13, user: "ann", key: "v2", ends: "mint"),
                .init(at: 14, user: "eve", key: "v2", ends: "mint"),
                .init(at: 15, user: "eve", key: "v1", ends: "suspended"),
            ]),
        AdmissionStory(
            "refusals of another key do not count for this one", rules: rules,
            tokens + [
                refusal(1, at: 10), refusal(2, at: 11), .init(at: 12, user: "cid", key: "v2", ends: "mint"),
                .init(at: 20, user: "cid", names: "T5", key: "v2", ends: "refused"),
                .init(at: 21, user: "dan", key: "v2", ends: "mint"),
                .init(at: 22, user: "dan", names: "T6", key: "v2", ends: "refused"),
                .init(at: 23, user: "eve", key: "v2", ends: "mint"),
                .init(at: 24, user: "eve", names: "T7", key: "v2", ends: "suspends"),
            ]),
    ]

    @Test(arguments: stories)
    func `an app is suspended where several users refuse their tokens`(_ story: AdmissionStory) {
        var teller = AdmissionTeller(story.rules)
        #expect(story.events.map { teller.tell($0) } == story.events.map(\.ends))
    }

    @Test func `it says since when and for how many, once`() throws {
        var teller = AdmissionTeller(Self.rules)
        for event in Self.tokens + (1...3).map({ Self.refusal($0, at: 10) }) { _ = teller.tell(event) }
        let suspension = try #require(teller.admission.suspensions.all.first)
        #expect(teller.admission.suspensions.all.count == 1)
        #expect(suspension == Suspension(app: "shop", since: AdmissionTeller.time(10), users: 3, keyVersion: "v1"))
        #expect(teller.admission.resume("shop") == suspension)
        #expect(teller.admission.resume("shop") == nil)
        #expect(teller.admission.resume("another") == nil)
        #expect(teller.admission.suspensions.all.isEmpty)
    }

    @Test func `after it was ended, what was refused before does not count`() {
        var teller = AdmissionTeller(Self.rules)
        for event in Self.tokens + (1...3).map({ Self.refusal($0, at: 10) }) { _ = teller.tell(event) }
        _ = teller.admission.resume("shop")
        // The tokens from before are no proof any more, so that each user gets another one.
        for number in 1...3 { #expect(teller.tell(Self.refusal(number, at: 20, ends: "")) == "mint") }
        #expect(teller.tell(.init(at: 30, user: "ann", names: "T5", ends: "")) == "refused")
        #expect(teller.tell(.init(at: 31, user: "bob", names: "T6", ends: "")) == "refused")
        #expect(teller.tell(.init(at: 32, user: "cid", names: "T7", ends: "")) == "suspends")
    }

    @Test func `apps are suspended apart`() {
        var suspensions = Suspensions(Self.rules)
        let ids = (1...3).map { SubjectID(high: UInt64($0), low: 0) }
        for id in ids { _ = suspensions.refused(id, of: "a", keyVersion: "v1", at: TestBench.now) }
        #expect(suspensions.suspension(of: "a", keyVersion: "v1") != nil)
        #expect(suspensions.suspension(of: "a", keyVersion: "v2") == nil)
        #expect(suspensions.suspension(of: "b", keyVersion: "v1") == nil)
        #expect(suspensions.refused(ids[0], of: "b", keyVersion: "v1", at: TestBench.now) == nil)
    }
}
