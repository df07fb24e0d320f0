import AdapterKit
import Pipeline
import Testing

@Suite("Keys, challenges and batch jobs at admission")
struct OccasionTests {
    private static let once = Remedy.mintOnce

    static let keys: [AdmissionStory] = [
        AdmissionStory(
            "the old key's token is refused",
            [
                .init(at: 0, ends: "mint"), .init(at: 30, names: "T1", ends: "refused"),
                .init(at: 40, names: "T1", key: "v2", ends: "mint"),
                .init(at: 50, names: "T1", key: "v2", ends: "older_token"),
                .init(at: 50, names: "T2", key: "v2", ends: "refused"),
            ]),
        AdmissionStory(
            "in the midst of a burst", [.init(at: 0, ends: "mint"), .init(at: 1, key: "v2", ends: "mint")]),
        AdmissionStory(
            "observed before the old key's token",
            [.init(at: 0, ends: "mint"), .init(at: 10, observed: -1, key: "v2", ends: "mint")]),
        AdmissionStory(
            "a row of refusals begins again", loopGuard: LoopGuard(tokens: 2),
            [
                .init(at: 0, ends: "mint"), .init(at: 10, names: "T1", ends: "mint"),
                .init(at: 20, names: "T2", key: "v2", ends: "mint"),
                .init(at: 30, names: "T3", key: "v2", ends: "mint"),
                .init(at: 40, names: "T4", key: "v2", ends: "refused"),
            ]),
    ]

    @Test(arguments: keys)
    func `another key makes another token`(_ story: AdmissionStory) { play(story) }

    static let challenges: [AdmissionStory] = [
        AdmissionStory(
            "each nonce has its answer, up to five in a minute",
            AdmissionStory.Event.repeated(5, every: 0.1, .init(at: 0, challenge: "n", ends: "mint")) + [
                AdmissionStory.Event(at: 1, challenge: "n5", ends: "refused"),
                .init(at: 61, challenge: "n6", ends: "mint"),
            ]),
        AdmissionStory(
            "a nonce that comes again is answered again",
            [.init(at: 0, challenge: "n", ends: "mint"), .init(at: 1, challenge: "n", ends: "mint")]),
        AdmissionStory(
            "observed before the last answer",
            [.init(at: 0, challenge: "n1", ends: "mint"), .init(at: 9, observed: -5, challenge: "n2", ends: "mint")]),
        AdmissionStory(
            "an answer that the vendor refuses",
            [
                .init(at: 0, device: "a", challenge: "n1", ends: "mint"),
                .init(at: 5, device: "a", remedy: once, challenge: "n2", ends: "refused"),
                .init(at: 6, device: "b", remedy: once, challenge: "n3", ends: "mint"),
            ]),
        AdmissionStory(
            "other users' answers do not count",
            [
                .init(at: 0, challenge: "n", ends: "mint"), .init(at: 0, user: "bob", challenge: "n", ends: "mint"),
                .init(at: 0, user: "cid", challenge: "n", ends: "mint"),
            ]),
    ]

    @Test(arguments: challenges)
    func `a challenge is never coalesced, and never answered without end`(_ story: AdmissionStory) { play(story) }

    static let reissues: [AdmissionStory] = [
        AdmissionStory(
            "after a token, no refusal", loopGuard: LoopGuard(tokens: 1, countsEveryReport: true),
            [.init(at: 0, ends: "mint"), .init(at: 10, isReissue: true, ends: "mint")]),
        AdmissionStory(
            "a moment after a token, answered",
            [.init(at: 0, ends: "mint"), .init(at: 1, isReissue: true, ends: "burst")]),
        AdmissionStory(
            "asked for before the last token, answered",
            [.init(at: 0, ends: "mint"), .init(at: 90, observed: -9, isReissue: true, ends: "observed_earlier")]),
        AdmissionStory(
            "no oftener than anything else",
            AdmissionStory.Event.repeated(5, every: 3, .init(at: 0, isReissue: true, ends: "mint")) + [
                AdmissionStory.Event(at: 15, isReissue: true, ends: "recent_token"),
                AdmissionStory.Event(at: 73, isReissue: true, ends: "mint"),
            ]),
        AdmissionStory(
            "a report after it begins a row",
            [
                .init(at: 0, isReissue: true, ends: "mint"), .init(at: 10, names: "T1", ends: "refused"),
            ]),
    ]

    @Test(arguments: reissues)
    func `a reissue is never a refusal`(_ story: AdmissionStory) { play(story) }

    private func play(_ story: AdmissionStory) {
        var teller = AdmissionTeller(story.rules, story.loopGuard, lifetime: story.lifetime)
        #expect(story.events.map { teller.tell($0) } == story.events.map(\.ends))
    }
}
