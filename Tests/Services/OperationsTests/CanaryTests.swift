import AdapterKit
import Operations
import Pipeline
import Testing

/// A canary is judged by its own events' outcomes.
@Suite struct CanaryTests {
    private static func tally(_ count: Int, firstRow: Int = 0) -> CanaryTally {
        CanaryTally(
            of: "new", ring: "ring", job: "c-1.1", firstRow: firstRow,
            subjects: (0..<count).map { Array("shop/u\($0)".utf8) })
    }

    private static func key(_ user: Int) -> [UInt8] { Array("shop/u\(user)".utf8) }

    private static let now = UnixTime(seconds: 1000)

    private static func token(
        _ user: Int, _ id: String, _ keyID: String = "new", ring: String? = "ring", isReported: Bool = false
    ) -> RecordBody {
        let value = """
            {"app":"shop","vendor":"v","subject":{"user":"u\(user)"},"token":"e.e.e","algorithm":"RS256",\
            "key_id":"\(keyID)","issued_at":1,"expires_at":2000,"version":1,"event_id":"\(id)"}
            """
        let headers =
            [
                RecordHeader("ce_type", "remint.token.replaced.v1"), RecordHeader("ce_id", id),
                RecordHeader("ce_source", "/remint/shop"), RecordHeader("remint-key-id", keyID),
                RecordHeader("remint-expires-at", "2000"), RecordHeader("remint-version", "1"),
            ] + (ring.map { [RecordHeader("remint-key-ring", $0)] } ?? [])
            + (isReported ? [RecordHeader("remint-reported-at", "1000")] : [])
        return RecordBody(key: key(user), value: Array(value.utf8), headers: headers)
    }

    private static func refused(_ user: Int, _ keyID: String? = "new", ring: String = "ring") throws -> RefusedToken {
        let body = RecordBody(
            key: nil, value: nil,
            headers: (keyID.map { [RecordHeader("remint-refused-key-id", $0)] } ?? []) + [
                RecordHeader("remint-refused-key-ring", ring), RecordHeader("remint-refused-subject", Self.key(user)),
            ])
        return try #require(RefusedToken(body))
    }

    @Test func `a canary is answered by tokens of its own events`() {
        var tally = Self.tally(3)
        #expect(!tally.isAnswered && tally.reasons(lag: 0) == "3 without an outcome")
        #expect(tally.reasons(lag: 5) == "3 not consumed by any worker")
        tally.token(Self.token(0, "c-1.1-1"), at: Self.now)
        tally.token(Self.token(1, "c-1.1-2", ring: nil), at: Self.now)
        #expect(tally.answered == 2 && !tally.isAnswered)
        tally.token(Self.token(2, "c-1.1-3", "old"), at: Self.now)
        tally.token(Self.token(2, "c-1.1-3", ring: "another"), at: Self.now)
        tally.token(Self.token(2, "c-0.1-3"), at: Self.now)
        #expect(tally.answered == 2 && tally.superseded == 1)
        #expect(tally.isAnswered, "2 of 3 are its own, and the other user holds a token of the new version too")
        tally.token(Self.token(2, "c-1.1-3"), at: Self.now)
        #expect(tally.answered == 3 && tally.superseded == 0 && tally.reasons(lag: nil) == "")
    }

    @Test func `tokens that other events caused alone answer no canary`() {
        var tally = Self.tally(2)
        for user in 0..<2 { tally.token(Self.token(user, "device-\(user)"), at: Self.now) }
        #expect(!tally.isAnswered && tally.superseded == 2)
        #expect(tally.reasons(lag: 0) == "2 superseded by another event of the user")
    }

    @Test func `the reasons that keep a canary unanswered are counted`() {
        var tally = Self.tally(6, firstRow: 10)
        tally.retry(eventID: "c-1.1-11", reason: "app_suspended")
        tally.retry(eventID: "c-1.1-12", reason: "app_suspended")
        tally.retry(eventID: "c-1.1-13", reason: "key_unavailable")
        tally.letter(key: nil, eventID: "c-1.1-13", code: .retriesExhausted, refused: nil)
        tally.letter(key: nil, eventID: "c-1.1-14", code: .userGone, refused: nil)
        tally.token(Self.token(4, "c-1.1-15"), at: Self.now)
        tally.retry(eventID: "c-1.1-15", reason: "late")
        for stranger in ["c-1.1-1", "c-1.1-17", "c-1.1-", "c-1.10-12", "x"] {
            tally.letter(key: nil, eventID: stranger, code: .mintFailed, refused: nil)
        }
        #expect(
            tally.reasons(lag: 0)
                == "2 deferred (app_suspended), 1 dead-lettered (retries_exhausted), 1 dead-lettered (user_gone), 1 without an outcome"
        )
    }

    @Test func `a rejection counts for the new version and the canary's users alone, each once`() throws {
        var tally = Self.tally(3)
        for refused in [
            try Self.refused(0), try Self.refused(0), try Self.refused(1, "old"), try Self.refused(1, ring: "other"),
            try Self.refused(7),
        ] {
            tally.letter(key: nil, eventID: "device", code: .rejectedByVendor, refused: refused)
        }
        tally.letter(key: Self.key(2), eventID: "device", code: .userGone, refused: try Self.refused(2))
        #expect(tally.rejections == 1)
        // A letter of an older worker names no token; its key is the subject's where the device's edge sets one.
        tally.letter(key: Self.key(2), eventID: "device", code: .rejectedByVendor, refused: nil)
        #expect(tally.rejections == 2)
    }

    @Test func `a refusal that no token repairs counts unless its letter names another key or blames none`() throws {
        var tally = Self.tally(6)
        for refused in [
            try Self.refused(0), try Self.refused(1, nil), try Self.refused(2, "old"),
            try Self.refused(3, nil, ring: "other"), try Self.refused(9, nil),
        ] {
            tally.letter(key: nil, eventID: "device", code: .notFixableByToken, refused: refused)
        }
        tally.letter(key: Self.key(4), eventID: "device", code: .notFixableByToken, refused: nil)
        #expect(tally.rejections == 2, "the new key's, and the one whose key is not shown")
        tally.letter(key: nil, eventID: "device", code: .rejectedByVendor, refused: try Self.refused(5, nil))
        #expect(tally.rejections == 3)
    }

    // MARK: Requests

    @Test func `a further token counts as a refusal while the first one lives, and each user once`() throws {
        var tally = Self.tally(6)
        tally.token(Self.token(0, "c-1.1-1"), at: Self.now)
        // The campaign's own token behind one of live traffic is no request, nor is a token that is there twice.
        tally.token(Self.token(1, "device-1"), at: Self.now)
        tally.token(Self.token(1, "device-1"), at: Self.now)
        tally.token(Self.token(1, "c-1.1-2"), at: Self.now)
        #expect(tally.whole.askedAgain == 0 && tally.answered == 2)
        for _ in 0..<2 { tally.token(Self.token(0, "device-0", isReported: true), at: Self.now) }
        tally.token(Self.token(2, "device-2", isReported: true), at: Self.now)
        tally.token(Self.token(2, "device-3", isReported: true), at: Self.now)
        tally.letter(key: nil, eventID: "d", code: .rejectedByVendor, refused: try Self.refused(0))
        #expect(tally.whole.askedAgain == 2 && tally.whole.rejections == 1 && tally.whole.refused == 2)
        #expect(tally.exceeding(.count(1)).count == 1 && tally.exceeding(.count(2)).isEmpty)
    }

    @Test func `a further token that answers no report is no refusal`() {
        var tally = Self.tally(3)
        for user in 0..<3 { tally.token(Self.token(user, "c-1.1-\(user + 1)"), at: Self.now) }
        // A gateway's renewal, a batch job, and both together behind the marks.
        tally.token(Self.token(0, "renewal"), at: Self.now)
        tally.token(Self.token(1, "job-1"), at: Self.now)
        for id in ["renewal-2", "job-2"] { tally.token(Self.token(2, id), at: Self.now, isLate: true) }
        #expect(tally.isAnswered && tally.whole.refused == 0)
    }

    @Test func `a token behind the marks that answers a report counts although the first one is gone`() {
        var tally = CanaryTally(
            of: "new", ring: "ring", job: "c-1.1", firstRow: 0, subjects: (0..<4).map(Self.key), wasAnswered: true)
        tally.token(Self.token(0, "device-0", isReported: true), at: Self.now, isLate: true)
        tally.token(Self.token(1, "device-1", isReported: true), at: Self.now)
        for user in 2..<4 { tally.token(Self.token(user, "renewal"), at: Self.now, isLate: true) }
        #expect(tally.isAnswered && tally.answered == 0 && tally.whole.askedAgain == 1)
    }

    @Test
    func `a token of another version behind one of the new version is no answer, and a refusal if it answers a report`()
    {
        var tally = Self.tally(4)
        tally.token(Self.token(0, "first", "old"), at: Self.now)
        for user in 0..<4 { tally.token(Self.token(user, "c-1.1-\(user + 1)"), at: Self.now) }
        #expect(tally.isAnswered)
        tally.token(Self.token(1, "device-1", "old", isReported: true), at: Self.now)
        tally.token(Self.token(2, "renewal", "old"), at: Self.now)
        tally.token(Self.token(3, "foreign", "old", ring: "another"), at: Self.now)
        #expect(tally.whole.askedAgain == 1 && tally.whole.regressed == 2 && !tally.isAnswered)
        #expect(tally.answered == 2 && tally.reasons(lag: 0) == "2 given a token of another version again")
        for user in 1...2 { tally.token(Self.token(user, "next"), at: Self.now) }
        #expect(tally.isAnswered && tally.whole.askedAgain == 1)
        var watched = CanaryTally(
            of: "new", ring: "ring", job: "c-1.1", firstRow: 0, subjects: [Self.key(0)], wasAnswered: true)
        watched.token(Self.token(0, "device-0", "old", isReported: true), at: Self.now, isLate: true)
        #expect(watched.whole.askedAgain == 1 && watched.whole.regressed == 1)
    }

    // MARK: Reports

    /// A report's time, the token it names and its event, and whether it counts.
    private static let reports: [(time: Int64?, named: String?, id: String, counts: Bool)] = [
        (-600, nil, "r", true), (0, nil, "r", true), (1999, nil, "r", true), (nil, nil, "r", true),
        (2000, nil, "r", false), (5, "e.e.e", "r", true), (5, "another", "r", false), (5, nil, "device", false),
    ]

    @Test(arguments: reports) func `a report behind the marks refuses the user's token, whatever the clocks show`(
        _ report: (time: Int64?, named: String?, id: String, counts: Bool)
    ) {
        var tally = Self.tally(3)
        for user in [0, 7] {
            tally.report(
                DeviceReport(
                    subjectKey: Self.key(user), eventID: report.id,
                    producedAt: report.time.map { UnixTime(seconds: $0) },
                    failedToken: report.named.map { TokenHash(of: $0.utf8).prefix }))
        }
        #expect(tally.whole.refused == 0, "the user has no token yet")
        tally.token(Self.token(0, "device"), at: Self.now)
        tally.token(Self.token(0, "c-1.1-1"), at: Self.now)
        #expect(tally.whole.askedAgain == (report.counts ? 1 : 0) && tally.whole.unheard == tally.whole.refused)
    }

    @Test func `a waiting event behind the marks counts although the minting worker's clock is ahead`() {
        var tally = Self.tally(2)
        for user in 0..<2 { tally.token(Self.token(user, "c-1.1-\(user + 1)"), at: Self.now) }
        tally.request(of: Self.key(0), eventID: "device", at: UnixTime(seconds: 0), isLate: true)
        tally.request(of: Self.key(1), eventID: "device", at: UnixTime(seconds: 2000), isLate: true)
        #expect(tally.whole.askedAgain == 1 && tally.whole.unheard == 0)
    }

    @Test func `an event that waits for a further token counts as a refusal from the first one's issue to its end`() {
        var tally = Self.tally(5)
        for user in 0..<4 { tally.token(Self.token(user, "c-1.1-\(user + 1)"), at: Self.now) }
        tally.request(of: Self.key(0), eventID: "device", at: UnixTime(seconds: 0))
        tally.request(of: Self.key(1), eventID: "device", at: UnixTime(seconds: 1))
        tally.request(of: Self.key(2), eventID: "device", at: UnixTime(seconds: 2000))
        tally.request(of: Self.key(3), eventID: "c-1.1-4", at: UnixTime(seconds: 5))
        tally.request(of: Self.key(4), eventID: "device", at: UnixTime(seconds: 5))
        #expect(tally.whole.askedAgain == 1, "before the issue, behind the end, its own event, and no token yet")
    }

    @Test func `users who are gone are missing nowhere unless they are most of the canary`() {
        var tally = Self.tally(4)
        for user in 0..<2 { tally.letter(key: nil, eventID: "c-1.1-\(user + 1)", code: .userGone, refused: nil) }
        for user in 2..<4 { tally.token(Self.token(user, "c-1.1-\(user + 1)"), at: Self.now) }
        #expect(tally.isAnswered && tally.whole.gone == 2)
        tally = Self.tally(3)
        for user in 0..<2 { tally.letter(key: nil, eventID: "c-1.1-\(user + 1)", code: .userGone, refused: nil) }
        tally.token(Self.token(2, "c-1.1-3"), at: Self.now)
        #expect(!tally.isAnswered && tally.reasons(lag: 0) == "2 dead-lettered (user_gone)")
    }

    // MARK: Every app

    /// Rejected of 100 users of the app a, of 20 of b, whether 1 in 100 is exceeded, and by which app; nil for both together.
    private static let apps: [(first: Int, second: Int, exceeding: [String?])] = [
        (0, 0, []), (3, 0, []), (4, 0, ["a"]), (0, 2, ["b"]), (20, 20, ["a", "b"]), (0, 20, ["b"]),
        (3, 1, [nil]), (2, 1, []),
    ]

    @Test(arguments: apps) func `each app of a canary is judged by itself`(
        _ first: Int, _ second: Int, _ exceeding: [String?]
    ) throws {
        let keys = (0..<100).map { Array("a/u\($0)".utf8) } + (0..<20).map { Array("b/u\($0)".utf8) }
        var tally = CanaryTally(
            of: "new", ring: "ring", job: "c-1.1", firstRow: 0, subjects: keys, rings: ["a": "ring", "b": "ring"])
        for key in keys.prefix(first) + keys.dropFirst(100).prefix(second) {
            tally.letter(key: key, eventID: "device", code: .rejectedByVendor, refused: nil)
        }
        #expect(tally.exceeding(.standard).map(\.app) == exceeding)
        #expect(tally.parts.map(\.app) == ["a", "b"] && tally.parts.map(\.size) == [100, 20])
        #expect(tally.parts.map(\.rejections) == [first, second])
        let isMany = first + second > 4
        #expect(tally.exceeding(.count(4)).map(\.app) == (isMany ? [nil] : []), "a number counts all users")
    }

    @Test func `a refusal of a part of every app is judged over all of them`() {
        let keys = (0..<10).flatMap { app in (0..<20).map { Array("a\(app)/u\($0)".utf8) } }
        let rings = Dictionary(uniqueKeysWithValues: (0..<10).map { ("a\($0)", "ring") })
        var tally = CanaryTally(of: "new", ring: "ring", job: "c-1.1", firstRow: 0, subjects: keys, rings: rings)
        for app in 0..<10 {
            let key = Array("a\(app)/u0".utf8)
            tally.letter(key: key, eventID: "device", code: .rejectedByVendor, refused: nil)
        }
        #expect(tally.exceeding(.standard).map(\.app) == [nil] && tally.exceeding(.standard).first?.rejections == 10)
    }

    @Test func `users of an app with another ring are answered by that ring's versions alone`() throws {
        var tally = CanaryTally(
            of: "new", ring: "old-ring", job: "c-1.1", firstRow: 0, subjects: [Self.key(0), Self.key(1)],
            rings: ["shop": "ring"])
        tally.token(Self.token(0, "c-1.1-1", "new", ring: "old-ring"), at: Self.now)
        tally.token(Self.token(1, "c-1.1-2", "x", ring: nil), at: Self.now)
        #expect(tally.answered + tally.superseded == 0)
        tally.token(Self.token(0, "c-1.1-1", "v-7"), at: Self.now)
        tally.token(Self.token(1, "device", "v-7"), at: Self.now)
        #expect(tally.isAnswered && tally.answered == 1 && tally.superseded == 1)
        tally.letter(key: nil, eventID: "d", code: .rejectedByVendor, refused: try Self.refused(0, ring: "old-ring"))
        #expect(tally.rejections == 0)
        tally.letter(key: nil, eventID: "d", code: .rejectedByVendor, refused: try Self.refused(0, "v-7"))
        #expect(tally.rejections == 1)
    }
}
