import AdapterKit
import Pipeline
import Testing

/// The events that devices can send, and producers that may write only their own topic. None of them gets a token for
/// anybody but its sender.
@Suite("Attacks")
struct AttackTableTests {
    // MARK: Every vendor in every form

    /// The edge vouches for somebody else than the report names.
    private static let mismatched = TrustBench.vendors.flatMap { vendor in
        Attack.inEveryForm(
            "\(vendor.app): vouched for me, reported as the victim", vendor.app, vendor.report("victim"),
            vouched: vendor.vouched("me"), .refused(.identityMismatch))
    }

    /// An app that believes the edge alone.
    private static let unvouched = TrustBench.vendors.flatMap { vendor in
        Attack.inEveryForm(
            "\(vendor.app): nobody vouches for the victim", "\(vendor.app)-v", vendor.report("victim"),
            .refused(.identityMissing))
    }

    /// The cases in which the SDK names no user: the vouched user is the user.
    private static let supplied = TrustBench.vendors.flatMap { vendor in
        Attack.inEveryForm(
            "\(vendor.app): the edge supplies the user", "\(vendor.app)-v", vendor.report(nil),
            vouched: vendor.vouched("me"), .minted("\(vendor.app)-v/\(vendor.key("me"))"))
    }

    // MARK: Requests inside reports

    private static let smuggled = TrustBench.vendors.flatMap { vendor -> [Attack] in
        let smuggled = String(vendor.report("me").dropLast()) + #","reissue":{"user":"victim"}}"#
        return EventShape.allCases.map { shape in
            Attack(
                "\(vendor.app): a report with a member reissue is a report, \(shape.rawValue)",
                .minted("\(vendor.app)/\(vendor.key("me"))")
            ) { _ in
                [shape.record(vendor.app, smuggled)]
            }
        }
    }

    private static let reissues: [Attack] = [
        .one(
            "a report that is a request", #"{"app":"braze","report":{"reissue":{"user":"victim"}}}"#,
            .refused(.malformedReport)),
        .one(
            "a report and a request in one envelope",
            #"{"app":"braze","report":{"errorCode":22,"userId":"me"},"reissue":{"user":"victim"}}"#,
            .refused(.malformedEvent)),
        .one(
            "a raw report that looks like an envelope", #"{"app":"braze","reissue":{"user":"victim"}}"#,
            [RecordHeader("remint-app", "braze")], .refused(.malformedReport)),
        .one(
            "a request for two users", #"{"app":"braze","reissue":{"user":"me","ids":{"registered":"victim"}}}"#,
            .refused(.malformedEvent)),
        .one(
            "a request beside which somebody else is vouched for",
            #"{"app":"braze","reissue":{"user":"victim"},"vouched":{"user":"me"}}"#, .refused(.identityMismatch)),
    ]

    // MARK: Who the report names

    private static let names: [Attack] =
        [
            ("userId empty, user_id the victim", "braze", #"{"errorCode":22,"userId":"","user_id":"victim"}"#),
            ("userId null, user_id the victim", "braze", #"{"errorCode":22,"userId":null,"user_id":"victim"}"#),
            ("two aliases that differ", "braze", #"{"errorCode":22,"userId":"me","user_id":"victim"}"#),
            (
                "a nested error that names another user", "braze",
                #"{"errorCode":22,"userId":"me","error":{"code":22,"userId":"victim"}}"#
            ),
            (
                "text within text that names another user", "braze",
                #"{"userId":"me","sdkAuthenticationError":"{\"code\":22,\"userId\":\"victim\"}"}"#
            ),
            ("externalId against external_id", "onesignal", #"{"externalId":"me","external_id":"victim"}"#),
            (
                "customerIds against customer_ids", "bloomreach",
                #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"me"},"customer_ids":{"registered":"victim"}}"#
            ),
            ("userId against sub", "dotdigital", #"{"nonce":"n","userId":"me","sub":"victim"}"#),
            (
                "externalUserId against external_user_id", "infobip",
                #"{"mm_code":"JWT_TOKEN_EXPIRED","externalUserId":"me","external_user_id":"victim"}"#
            ),
            ("the member twice through an escape", "braze", #"{"errorCode":22,"userId":"me","user\u0049d":"victim"}"#),
            ("a number for a user", "braze", #"{"errorCode":22,"userId":1001}"#),
            ("a boolean for a user", "braze", #"{"errorCode":22,"userId":true}"#),
            ("an object for a user", "braze", #"{"errorCode":22,"userId":{"id":"victim"}}"#),
            ("an array for a user", "braze", #"{"errorCode":22,"userId":["victim"]}"#),
            ("a number with an exponent for a user", "braze", #"{"errorCode":22,"userId":1e3}"#),
            ("an id of 100 kB", "braze", #"{"errorCode":22,"userId":"\#(String(repeating: "v", count: 100_000))"}"#),
            (
                "a nonce of 100 kB", "dotdigital",
                #"{"userId":"me","nonce":"\#(String(repeating: "n", count: 100_000))"}"#
            ),
            (
                "another vendor's report", "onesignal",
                #"{"errorCode":22,"userId":"victim","signature":"a.b.c"}"#
            ),
        ].flatMap { name, app, report in
            // An event that is refused for its JSON is malformed as a whole.
            Attack.inEveryForm(
                name, app, report,
                .refused(name.contains("through an escape") ? .malformedEvent : .malformedReport))
        }

    private static let anonymous: [Attack] = [
        .one("null for a user", #"{"app":"braze","report":{"errorCode":22,"userId":null}}"#, .skipped),
        .one(
            "only a cookie",
            #"{"app":"bloomreach","report":{"errorCode":"TOKEN_EXPIRED","customerIds":{"cookie":"victim"}}}"#,
            .skipped),
    ]

    // MARK: Ids that look alike

    private static let lookalikes: [Attack] = [
        ("composed against decomposed", "u-\u{E9}", "u-e\u{301}"), ("with a NUL", "victim", #"victim\u0000"#),
        ("in other letters' case", "victim", "Victim"), ("with a space", "victim", "victim "),
    ].map { name, vouched, reported in
        .one(
            "ids that look alike: \(name)",
            #"{"app":"braze","report":{"errorCode":22,"userId":"\#(reported)"},"vouched":{"user":"\#(vouched)"}}"#,
            .refused(.identityMismatch))
    }

    /// Slashes in an id must not make another subject's subject key.
    private static let keys: [Attack] = [
        ("a slash", "me/../victim", "braze/me%2F..%2Fvictim"),
        ("an encoded slash", "me%2Fvictim", "braze/me%252Fvictim"),
        ("an equals sign", "registered=victim", "braze/registered%3Dvictim"),
    ].map { name, user, key in
        .one(
            "an id with \(name) has a key of its own",
            #"{"app":"braze","report":{"errorCode":22,"userId":"\#(user)"}}"#,
            .minted(key))
    }

    // MARK: Ids that no user has

    /// Whoever names the user: a device, the edge or an operator.
    private static let hostileIDs: [Attack] = [
        "me\\u0000victim", "me\\nvictim", "\\u007F", "me\\u0085", "  ", String(repeating: "v", count: 1025),
    ].flatMap { id -> [Attack] in
        let name = id.prefix(12)
        return [
            .one(
                "a report names \(name)", #"{"app":"braze","report":{"errorCode":22,"userId":"\#(id)"}}"#,
                .refused(.malformedReport)),
            .one(
                "the edge vouches for \(name)",
                #"{"app":"braze","report":{"errorCode":22},"vouched":{"user":"\#(id)"}}"#, .refused(.malformedEvent)),
            .one(
                "a re-issue names \(name)", #"{"app":"braze","reissue":{"user":"\#(id)"}}"#,
                .refused(.malformedReport)),
            .one(
                "a customer id is \(name)",
                #"{"app":"bloomreach","report":{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"\#(id)"}}}"#,
                .refused(.malformedReport)),
        ]
    }

    private static let reservedIDs: [Attack] = [
        .one(
            "OneSignal's placeholder", #"{"app":"onesignal","report":{"externalId":"NULL"}}"#,
            .refused(.malformedReport)),
        .one(
            "OneSignal's placeholder by a re-issue", #"{"app":"onesignal","reissue":{"user":"-1"}}"#,
            .refused(.malformedReport)),
        .one(
            "a customer id that nobody configured",
            #"{"app":"bloomreach","report":{"errorCode":"TOKEN_EXPIRED","customerIds":{"vip":"victim"}}}"#, .skipped),
        .one(
            "a challenge with a line break", #"{"app":"dotdigital","report":{"userId":"me","nonce":"n\n1"}}"#,
            .refused(.malformedReport)),
        .one(
            "half of a surrogate pair", #"{"app":"braze","report":{"errorCode":22,"userId":"\ud83e"}}"#,
            .refused(.malformedEvent)),
    ]

    static let all: [Attack] =
        mismatched + unvouched + supplied + smuggled + reissues + names + anonymous + lookalikes + keys + hostileIDs
        + reservedIDs
        + vouching
        + apps + proofs

    @Test func `the table of attacks is long enough to mean something`() { #expect(Self.all.count >= 200) }

    @Test(arguments: all)
    func `an attack ends as its row states, and gets nobody else's token`(_ attack: Attack) async throws {
        let bench = try TrustBench()
        var processor = bench.processor()
        let settlements = await processor.process(try attack.records(bench))
        try #require(settlements.count == 1)
        try attack.expectEnd(try #require(settlements.first))
    }
}
