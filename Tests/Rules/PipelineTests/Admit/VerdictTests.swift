import AdapterKit
import Pipeline
import Testing

@Suite("Events that get a token of their own")
struct VerdictTests {
    private static let once = Remedy.mintOnce
    private static let silent = LoopGuard(tokens: 2, countsEveryReport: true)

    static let coalesced: [AdmissionStory] = [
        AdmissionStory("the first", [.init(at: 0, ends: "mint")]),
        AdmissionStory(
            "several callbacks of one failure",
            [
                .init(at: 0, ends: "mint"), .init(at: 0.1, ends: "burst"), .init(at: 2, ends: "burst"),
                .init(at: 2.000001, ends: "mint"),
            ]),
        AdmissionStory(
            "callbacks of several devices",
            [
                .init(at: 0, device: "a", ends: "mint"), .init(at: 1, device: "b", ends: "burst"),
            ]),
        AdmissionStory(
            "a burst counts from when it was observed, however late it comes",
            [.init(at: 0, ends: "mint"), .init(at: 500, observed: 1.5, ends: "burst")]),
        AdmissionStory(
            "observed before the token, or in the same moment",
            [
                .init(at: 10, ends: "mint"), .init(at: 500, observed: 9, ends: "observed_earlier"),
                .init(at: 500, observed: 10, ends: "observed_earlier"), .init(at: 500, observed: 12.1, ends: "mint"),
            ]),
        AdmissionStory(
            "an older token, by its hash",
            [
                .init(at: 0, names: "old", ends: "mint"), .init(at: 30, names: "old", ends: "older_token"),
                .init(at: 40, ends: "mint"), .init(at: 70, names: "old", ends: "older_token"),
                .init(at: 70, names: "T1", ends: "older_token"),
            ]),
        AdmissionStory(
            "a token nobody knows is a failure of its own, but not in a burst",
            [
                .init(at: 0, names: "old", ends: "mint"), .init(at: 1, names: "older", ends: "burst"),
                .init(at: 30, names: "older", ends: "mint"),
            ]),
        AdmissionStory(
            "users apart",
            [.init(at: 0, ends: "mint"), .init(at: 0, user: "bob", ends: "mint"), .init(at: 1, ends: "burst")]),
        AdmissionStory(
            "spellings of one letter are two users",
            [.init(at: 0, user: "\u{E9}", ends: "mint"), .init(at: 0, user: "e\u{301}", ends: "mint")]),
        AdmissionStory(
            "no more than five in a minute, whatever the reports claim",
            AdmissionStory.Event.repeated(5, every: 3, .init(at: 0, ends: "mint")) + [
                AdmissionStory.Event(at: 15, ends: "recent_token"), .init(at: 72, ends: "recent_token"),
                .init(at: 72.1, ends: "mint"),
            ]),
        AdmissionStory(
            "nothing is remembered where admission is off", rules: .off,
            AdmissionStory.Event.repeated(20, every: 0, .init(at: 0, names: "T1", ends: "mint"))),
    ]

    @Test(arguments: coalesced)
    func `one failure costs one token`(_ story: AdmissionStory) { play(story) }

    static let missed: [AdmissionStory] = [
        AdmissionStory(
            "a token that the producer missed answers nothing, and the one that replaces it does",
            [
                .init(at: 0, ends: "mint"), .init(at: 1, unseen: 0, ends: "mint"),
                .init(at: 1.5, unseen: 0, ends: "burst"),
                .init(at: 100, observed: 0.5, unseen: 0, ends: "observed_earlier"),
            ]),
        AdmissionStory(
            "whatever the reason is that it would have been superseded for",
            [
                .init(at: 0, names: "old", ends: "mint"), .init(at: 100, names: "old", unseen: 50, ends: "mint"),
                .init(at: 200, observed: 50, unseen: 150, ends: "mint"),
                .init(at: 300, names: "T1", unseen: 250, ends: "mint"),
            ]),
        AdmissionStory(
            "it proves nothing about the token that was missed",
            [
                .init(at: 0, device: "a", ends: "mint"),
                .init(at: 1, device: "a", remedy: once, unseen: 0, ends: "mint"),
                .init(at: 30, names: "T2", unseen: 20, ends: "refused"),
            ]),
        AdmissionStory(
            "it gets no more tokens in a minute than anybody else",
            AdmissionStory.Event.repeated(5, every: 3, .init(at: 0, unseen: 100, ends: "mint")) + [
                AdmissionStory.Event(at: 15, unseen: 100, ends: "recent_token")
            ]),
    ]

    @Test(arguments: missed)
    func `a producer that may have missed a token is answered by another one`(_ story: AdmissionStory) { play(story) }

    static let refused: [AdmissionStory] = [
        AdmissionStory(
            "the current token, by its hash",
            [
                .init(at: 0, ends: "mint"), .init(at: 30, names: "T1", ends: "refused"),
                .init(at: 3000, names: "T1", ends: "refused"),
            ]),
        AdmissionStory(
            "at once", [.init(at: 0, ends: "mint"), .init(at: 0.5, names: "T1", ends: "refused")]),
        AdmissionStory(
            "from a device whose clock is slow",
            [.init(at: 0, ends: "mint"), .init(at: 30, names: "T1", observed: -300, ends: "refused")]),
        AdmissionStory(
            "after as many tokens as the vendor is granted", loopGuard: LoopGuard(tokens: 2),
            [
                .init(at: 0, ends: "mint"), .init(at: 30, names: "T1", ends: "mint"),
                .init(at: 40, names: "T1", ends: "older_token"), .init(at: 60, names: "T2", ends: "refused"),
            ]),
        AdmissionStory(
            "a failure between two refusals begins a new row", loopGuard: LoopGuard(tokens: 2),
            [
                .init(at: 0, ends: "mint"), .init(at: 100, names: "T1", ends: "mint"), .init(at: 200, ends: "mint"),
                .init(at: 300, names: "T3", ends: "mint"), .init(at: 340, names: "T4", ends: "refused"),
            ]),
        AdmissionStory(
            "without a hash, where another token would not help: from the same device",
            [
                .init(at: 0, device: "a", remedy: once, ends: "mint"),
                .init(at: 60, device: "a", remedy: once, ends: "refused"),
            ]),
        AdmissionStory(
            "not from devices without a name, which may be two",
            [.init(at: 0, remedy: once, ends: "mint"), .init(at: 30, remedy: once, ends: "mint")]),
        AdmissionStory(
            "not from another device",
            [
                .init(at: 0, device: "a", remedy: once, ends: "mint"),
                .init(at: 30, device: "b", remedy: once, ends: "mint"),
                .init(at: 35, device: "b", remedy: once, ends: "refused"),
            ]),
        AdmissionStory(
            "not when more than the window lies between",
            [.init(at: 0, remedy: once, ends: "mint"), .init(at: 60.1, remedy: once, ends: "mint")]),
        AdmissionStory(
            "not where a failure proves no such thing",
            [.init(at: 0, ends: "mint"), .init(at: 30, ends: "mint")]),
        AdmissionStory(
            "an SDK without reasons: the third report", loopGuard: silent,
            [
                .init(at: 0, device: "a", ends: "mint"), .init(at: 1, device: "a", ends: "burst"),
                .init(at: 10, device: "a", ends: "mint"), .init(at: 20, device: "a", ends: "refused"),
            ]),
        AdmissionStory(
            "an SDK without reasons: not another device's", loopGuard: silent,
            [
                .init(at: 0, device: "a", ends: "mint"), .init(at: 10, device: "a", ends: "mint"),
                .init(at: 20, device: "b", ends: "mint"), .init(at: 30, device: "b", ends: "mint"),
                .init(at: 40, device: "b", ends: "refused"),
            ]),
        AdmissionStory(
            "an SDK without reasons: not a minute later", loopGuard: silent,
            [
                .init(at: 0, device: "d", ends: "mint"), .init(at: 10, device: "d", ends: "mint"),
                .init(at: 71, device: "d", ends: "mint"), .init(at: 81, device: "d", ends: "mint"),
                .init(at: 91, device: "d", ends: "refused"),
            ]),
        AdmissionStory(
            "however many tokens a vendor is granted, five in a minute are a loop", loopGuard: LoopGuard(tokens: 300),
            [
                .init(at: 0, ends: "mint"), .init(at: 1, names: "T1", ends: "mint"),
                .init(at: 2, names: "T2", ends: "mint"), .init(at: 3, names: "T3", ends: "mint"),
                .init(at: 4, names: "T4", ends: "mint"), .init(at: 5, names: "T5", ends: "refused"),
            ]),
    ]

    @Test(arguments: refused)
    func `a report that refuses our unexpired token is the loop's sign`(_ story: AdmissionStory) { play(story) }

    static let ending: [AdmissionStory] = [
        AdmissionStory(
            "a minute before the end",
            [
                .init(at: 0, ends: "mint"), .init(at: 3539, names: "T1", ends: "refused"),
                .init(at: 3540, names: "T1", ends: "mint"),
            ]),
        AdmissionStory(
            "a quarter before the end of a short life", lifetime: 60,
            [
                .init(at: 0, ends: "mint"), .init(at: 44.8, names: "T1", ends: "refused"),
                .init(at: 45, names: "T1", ends: "mint"),
            ]),
        AdmissionStory("after the end", [.init(at: 0, ends: "mint"), .init(at: 4000, names: "T1", ends: "mint")]),
        AdmissionStory(
            "observed before the token that has expired since",
            [.init(at: 0, ends: "mint"), .init(at: 4000, observed: -5, ends: "mint")]),
    ]

    @Test(arguments: ending)
    func `a token that is about to end is replaced`(_ story: AdmissionStory) { play(story) }

    // MARK: Keys, challenges and batch jobs

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
