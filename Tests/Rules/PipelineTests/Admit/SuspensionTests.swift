import AdapterKit
import Testing

@testable import Pipeline

@Suite("Suspensions")
struct SuspensionTests {
    private static let rules = AdmissionRules(
        subjects: 100, usersToSuspend: 3, minimumAge: .seconds(1), worker: "worker-7")
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
            "tokens from before the window", rules: rules,
            tokens + [refusal(1, at: 10), refusal(2, at: 11), refusal(3, at: 602), refusal(4, at: 603)]),
        AdmissionStory(
            "tokens that are too young", rules: AdmissionRules(subjects: 100, usersToSuspend: 3),
            tokens + [
                refusal(1, at: 10), refusal(2, at: 11), refusal(3, at: 12), refusal(4, at: 13),
                refusal(4, at: 69), refusal(4, at: 71, ends: "suspends"),
            ]),
        AdmissionStory(
            "fewer users than the floor, and every one of them refuses: the others are answered", rules: rules,
            tokens.prefix(2) + [
                refusal(1, at: 10), refusal(2, at: 11, ends: "suspends"), refusal(1, at: 12, ends: "suspended"),
                .init(at: 13, user: "eve", ends: "mint"), .init(at: 14, user: "fay", ends: "mint"),
                refusal(2, at: 15, ends: "suspended"), refusal(2, at: 20, ends: "mint"),
            ]),
        AdmissionStory(
            "fewer users than the floor, and one of them is content", rules: rules,
            tokens.prefix(2) + [refusal(1, at: 10), refusal(1, at: 11), refusal(1, at: 12)]),
        AdmissionStory(
            "a user who refused is no probe before two waits without another user", rules: rules,
            tokens + [
                refusal(1, at: 10), refusal(2, at: 11), refusal(3, at: 12, ends: "suspends"),
                refusal(1, at: 73, ends: "suspended"), refusal(1, at: 131.9, ends: "suspended"),
                refusal(1, at: 132.1, ends: "mint"),
            ]),
        AdmissionStory(
            "a user who refused and is the probe makes no other user wait longer", rules: rules,
            tokens + [
                refusal(1, at: 10), refusal(2, at: 11), refusal(3, at: 12, ends: "suspends"),
                refusal(1, at: 133, ends: "mint"),
                .init(at: 140, user: "ann", names: "T5", ends: "suspended"),
                .init(at: 141, user: "eve", ends: "mint"), .init(at: 202, user: "fay", ends: "mint"),
            ]),
        AdmissionStory(
            "what a newer token answers is answered all the same", rules: rules,
            tokens + [
                refusal(1, at: 10), refusal(2, at: 11), refusal(3, at: 12, ends: "suspends"),
                .init(at: 13, user: "ann", observed: -1, ends: "observed_earlier"),
            ]),
        AdmissionStory(
            "another key is probed at once, and resumed where it is not refused", rules: rules,
            tokens + [
                refusal(1, at: 10), refusal(2, at: 11), refusal(3, at: 12, ends: "suspends"),
                .init(at: 13, user: "ann", key: "v2", ends: "mint"),
                .init(at: 14, user: "eve", key: "v2", ends: "mint"),
                .init(at: 14, user: "fay", key: "v2", ends: "mint"),
                .init(at: 14, user: "gus", key: "v2", ends: "suspended"),
                .init(at: 72.9, user: "gus", key: "v2", ends: "suspended"),
                .init(at: 73.1, user: "gus", key: "v2", ends: "mint"),
            ]),
        AdmissionStory(
            "one device speaks for one user", rules: rules,
            users.map { .init(at: 0, user: $0, device: "d", remedy: .mintOnce, ends: "mint") }
                + users.map { .init(at: 10, user: $0, device: "d", remedy: .mintOnce, ends: "refused") }),
        AdmissionStory(
            "a token that this worker does not remember is refused and counts for nothing", rules: rules,
            users.prefix(2).map {
                .init(
                    at: 0, user: $0, names: "of another worker", remedy: .mintOnce, isOfActiveKey: true, ends: "refused"
                )
            } + [
                .init(
                    at: 2, user: "cid", names: "of another worker", remedy: .mintOnce, isOfActiveKey: true,
                    ends: "refused")
            ]),
        AdmissionStory(
            "refusals of another key do not count for this one", rules: rules,
            tokens + [
                refusal(1, at: 10), refusal(2, at: 11), .init(at: 12, user: "cid", key: "v2", ends: "mint"),
                .init(at: 12, user: "dan", key: "v2", ends: "mint"),
                .init(at: 12, user: "eve", key: "v2", ends: "mint"),
                .init(at: 20, user: "cid", names: "T5", key: "v2", ends: "refused"),
                .init(at: 21, user: "dan", names: "T6", key: "v2", ends: "refused"),
                .init(at: 22, user: "eve", names: "T7", key: "v2", ends: "suspends"),
            ]),
    ]

    @Test(arguments: stories)
    func `an app is suspended where several users refuse their tokens`(_ story: AdmissionStory) {
        var teller = AdmissionTeller(story.rules)
        #expect(story.events.map { teller.tell($0) } == story.events.map(\.ends))
    }

    @Test func `a suspension has its start, its cause and its number of users`() throws {
        var teller = AdmissionTeller(Self.rules)
        for event in Self.tokens + (1...3).map({ Self.refusal($0, at: 9 + Double($0)) }) { _ = teller.tell(event) }
        let suspension = try #require(teller.admission.suspensions.all.first)
        #expect(teller.admission.suspensions.all.count == 1)
        #expect(suspension.app == "shop" && suspension.cause == .suspended)
        #expect(suspension.since == UnixTime(seconds: AdmissionTeller.time(12).seconds))
        #expect(suspension.users == 3 && suspension.keyVersion == "v1" && suspension.by == "worker-7")
        #expect(suspension.why == "3 of 4 users refuse tokens of key version v1, by worker worker-7 of its partitions")
        let ended = ["shop", "shop", "another"].map {
            teller.admission.suspensions.resume($0, at: AdmissionTeller.time(13))
        }
        #expect(ended == [suspension, nil, nil])
        #expect(teller.admission.suspensions.all.isEmpty)
    }

    @Test func `refusals from before the end of a suspension do not count`() {
        var teller = AdmissionTeller(Self.rules)
        for event in Self.tokens + (1...3).map({ Self.refusal($0, at: 9 + Double($0)) }) { _ = teller.tell(event) }
        _ = teller.admission.suspensions.resume("shop", at: AdmissionTeller.time(13))
        // The tokens from before are no proof any more, so that each user gets another one.
        for number in 1...3 { #expect(teller.tell(Self.refusal(number, at: 20, ends: "")) == "mint") }
        #expect(teller.tell(.init(at: 30, user: "ann", names: "T5", ends: "")) == "refused")
        #expect(teller.tell(.init(at: 31, user: "bob", names: "T6", ends: "")) == "refused")
        #expect(teller.tell(.init(at: 32, user: "cid", names: "T7", ends: "")) == "suspends")
    }

    @Test func `tokens that were not published count for nobody`() {
        var suspensions = Suspensions(Self.rules)
        let ids = (1...2).map { SubjectID(high: UInt64($0), low: 0) }
        for (batch, id) in ids.enumerated() {
            suspensions.minted(
                for: id, of: "a", keyVersion: "v1", isProbe: false, before: nil, at: AdmissionTeller.time(0),
                inBatch: batch)
        }
        suspensions.confirm(throughBatch: 0)
        suspensions.rollBack()
        let counts = suspensions.counts(at: AdmissionTeller.time(10))
        #expect(counts["a"]?.minted == 1)
    }

    /// A thousand users get tokens, and the first `refusing` of them refuse theirs, once each second.
    private static func verdicts(refusing: Int, of users: Int) -> [String: Int] {
        var teller = AdmissionTeller(AdmissionRules(subjects: 2000))
        var ends: [String: Int] = [:]
        for number in 1...users { _ = teller.tell(.init(at: 0, user: "u-\(number)", ends: "")) }
        for number in 1...users {
            let names = number <= refusing ? "T\(number)" : nil
            let event = AdmissionStory.Event(at: 100 + Double(number) / 10, user: "u-\(number)", names: names, ends: "")
            ends[teller.tell(event), default: 0] += 1
        }
        return ends
    }

    @Test func `four hundred of a thousand users who refuse suspend nobody`() {
        #expect(Self.verdicts(refusing: 400, of: 1000) == ["refused": 400, "mint": 600])
    }

    @Test func `half of a thousand users who refuse suspend the app`() {
        let ends = Self.verdicts(refusing: 600, of: 1000)
        // The decision comes once a second, of ten refusals.
        #expect((499...510).contains(ends["refused", default: 0]) && ends["suspends"] == 1, "\(ends)")
        #expect(ends["mint"] == nil)
    }

    @Test func `ten users with three nameless devices each cost thirty tokens and suspend nobody`() {
        var teller = AdmissionTeller(AdmissionRules(subjects: 2000))
        var minted = 0
        for report in 0..<12 {
            for user in 0..<10 {
                let event = AdmissionStory.Event(at: Double(report) * 4, user: "u-\(user)", remedy: .mintOnce, ends: "")
                if teller.tell(event) == "mint" { minted += 1 }
            }
        }
        #expect((10...50).contains(minted))
        #expect(teller.admission.suspensions.all.isEmpty)
    }
}
