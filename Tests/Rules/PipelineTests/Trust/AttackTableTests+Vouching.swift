import AdapterKit
import Pipeline
import Testing

extension AttackTableTests {
    // MARK: Who vouches

    static let vouching: [Attack] = [
        .one(
            "vouched inside the report",
            #"{"app":"braze-v","report":{"errorCode":22,"userId":"victim","vouched":{"user":"victim"}}}"#,
            .refused(.identityMissing)),
        .one(
            "vouched inside a raw report", #"{"errorCode":22,"userId":"victim","vouched":{"user":"victim"}}"#,
            [RecordHeader("remint-app", "braze-v")], .refused(.identityMissing)),
        .one(
            "the raw form's header on an envelope", #"{"app":"braze-v","report":{"errorCode":22,"userId":"victim"}}"#,
            [RecordHeader("remint-vouched", #"{"user":"victim"}"#)], .refused(.malformedEvent)),
        .one(
            "the raw form's header on a binary CloudEvent", #"{"errorCode":22,"userId":"victim"}"#,
            [
                RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_app", "braze-v"),
                RecordHeader("remint-vouched", #"{"user":"victim"}"#),
            ], .refused(.malformedEvent)),
        .one(
            "two headers that vouch", #"{"errorCode":22,"userId":"victim"}"#,
            [
                RecordHeader("remint-app", "braze-v"), RecordHeader("remint-vouched", #"{"user":"me"}"#),
                RecordHeader("remint-vouched", #"{"user":"victim"}"#),
            ], .refused(.malformedEvent)),
        .one(
            "a null header that vouches", #"{"errorCode":22,"userId":"victim"}"#,
            [RecordHeader("remint-app", "braze-v"), RecordHeader("remint-vouched", nil)], .refused(.malformedEvent)),
        .one(
            "vouched is no JSON", #"{"errorCode":22,"userId":"victim"}"#,
            [RecordHeader("remint-app", "braze-v"), RecordHeader("remint-vouched", "victim")], .refused(.malformedEvent)
        ),
        .one(
            "vouched for a number", #"{"app":"braze","report":{"errorCode":22,"userId":"me"},"vouched":{"user":7}}"#,
            .refused(.malformedEvent)),
        .one(
            "vouched for nobody", #"{"app":"braze","report":{"errorCode":22,"userId":"me"},"vouched":{"user":""}}"#,
            .refused(.malformedEvent)),
        .one(
            "vouched with a member nobody knows",
            #"{"app":"braze","report":{"errorCode":22,"userId":"me"},"vouched":{"user":"me","usr":"victim"}}"#,
            .refused(.malformedEvent)),
        .one(
            "vouched is null", #"{"app":"braze-v","report":{"errorCode":22,"userId":"victim"},"vouched":null}"#,
            .refused(.identityMissing)),
        .one(
            "ids that nobody vouches for beside one that is",
            #"{"app":"bloomreach","report":{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"me","phone":"victim"}},"vouched":{"ids":{"registered":"me"}}}"#,
            .refused(.identityMismatch)),
        .one(
            "the victim's challenge, answered for me",
            #"{"app":"dotdigital","report":{"nonce":"victims","userId":"me"},"vouched":{"user":"me"}}"#,
            .minted("dotdigital/me/victims")),
        .one(
            "grants from a report",
            #"{"app":"onesignal","report":{"externalId":"me","subscriptions":[{"type":"Email","token":"victim@example.com"}]}}"#,
            .minted("onesignal/me")),
    ]

    // MARK: Apps and topics

    static let apps: [Attack] = [
        .one(
            "header app against envelope app", #"{"app":"braze","report":{"errorCode":22,"userId":"victim"}}"#,
            [RecordHeader("remint-app", "onesignal")], .refused(.malformedReport)),
        .one(
            "two apps in binary mode", #"{"errorCode":22,"userId":"victim"}"#,
            [
                RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_app", "braze"),
                RecordHeader("remint-app", "other"),
            ],
            .refused(.malformedEvent)),
        .one(
            "two apps in structured mode",
            #"{"specversion":"1.0","app":"braze","data":{"errorCode":22,"userId":"victim"}}"#,
            [RecordHeader("content-type", "application/cloudevents+json"), RecordHeader("ce_app", "other")],
            .refused(.malformedEvent)),
        // An edge that passes the device's content type on.
        .one(
            "a raw report that calls itself a CloudEvent and vouches for itself",
            #"{"specversion":"1.0","app":"braze-v","vouched":{"user":"victim"},"data":{"errorCode":22,"userId":"victim"}}"#,
            [RecordHeader("remint-app", "braze-v"), RecordHeader("content-type", "application/cloudevents+json")],
            .refused(.malformedEvent)),
        .one(
            "a raw report that calls itself a CloudEvent and asks for a re-issue",
            #"{"specversion":"1.0","type":"remint.reissue.requested.v1","app":"braze-v","data":{"user":"victim"}}"#,
            [RecordHeader("remint-app", "braze-v"), RecordHeader("content-type", "application/cloudevents+json")],
            .refused(.malformedEvent)),
        .one(
            "a binary CloudEvent whose data calls itself a structured one",
            #"{"specversion":"1.0","app":"braze-v","vouched":{"user":"victim"},"data":{"errorCode":22,"userId":"victim"}}"#,
            [
                RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_app", "braze-v"),
                RecordHeader("content-type", "Application/CloudEvents+JSON; charset=utf-8"),
            ], .refused(.malformedEvent)),
        .one(
            "two apps in the headers of a raw report", #"{"errorCode":22,"userId":"victim"}"#,
            [RecordHeader("remint-app", "onesignal"), RecordHeader("remint-app", "braze")], .refused(.malformedEvent)),
        .one("an app that nobody configured", #"{"app":"nobody","report":{}}"#, .refused(.unknownApp)),
        Attack("an app with its own topic, on the shared one", .refused(.wrongTopic)) { _ in
            [EventShape.raw.record("apart", #"{"errorCode":22,"userId":"victim"}"#)]
        },
        Attack("another app, on an app's own topic", .refused(.wrongTopic)) { _ in
            [EventShape.raw.record("braze", #"{"errorCode":22,"userId":"victim"}"#, topic: "apart.failures")]
        },
        Attack("an origin that a producer wrote itself", .refused(.wrongTopic)) { _ in
            [
                EventShape.raw.record(
                    "apart", #"{"errorCode":22,"userId":"victim"}"#,
                    headers: [
                        RecordHeader("remint-redrives", "1"), RecordHeader("remint-origin-topic", "apart.failures"),
                        RecordHeader("remint-origin-partition", "0"), RecordHeader("remint-origin-offset", "1"),
                    ])
            ]
        },
        Attack("an operator's request for an app with its own topic", .minted("apart/me")) { _ in
            [
                InputRecord(
                    origin: RecordPosition(topic: "remint.invalidations.bulk", partition: 0, offset: 1),
                    timestamp: TrustBench.now, key: nil,
                    value: Array(#"{"app":"apart","reissue":{"user":"me"}}"#.utf8), headers: [], lane: .bulk)
            ]
        },
        Attack("an event on its app's own topic", .minted("apart/me")) { _ in
            [EventShape.raw.record("apart", #"{"errorCode":22,"userId":"me"}"#, topic: "apart.failures")]
        },
    ]

    // MARK: Proof

    static func proof(
        _ name: String, _ end: Attack.End, _ token: @escaping @Sendable (TrustBench) throws -> String
    ) -> Attack {
        Attack("proof: \(name)", end) { bench in
            [EventShape.raw.record("proof", #"{"errorCode":22,"userId":"me","signature":"\#(try token(bench))"}"#)]
        }
    }

    static let proofs: [Attack] =
        ["active", "passive", "prepared", "retired"].map { state in
            proof("a token of the \(state) version", .minted("proof/me")) { try $0.token(of: "me", signedBy: state) }
        } + [
            proof("one that has expired", .minted("proof/me")) {
                try $0.token(of: "me", signedBy: "active", expiresIn: -3600)
            },
            proof("a token of another subject", .refused(.unproven)) { try $0.token(of: "victim", signedBy: "active") },
            proof("another app's key", .refused(.unproven)) { try $0.token(of: "me", signedBy: "other") },
            proof("a revoked key", .refused(.unproven)) { try $0.token(of: "me", signedBy: "revoked") },
            proof("no algorithm", .refused(.unproven)) { bench in
                let signed = try TrustBench.jws(
                    #"{"alg":"none"}"#, #"{"sub":"me","exp":9999999999}"#, try #require(bench.braze["active"]))
                return signed.split(separator: ".").prefix(2).joined(separator: ".") + "."
            },
            proof("none, with a signature that is right for RS256", .refused(.unproven)) { bench in
                try TrustBench.jws(
                    #"{"alg":"none"}"#, #"{"sub":"me","exp":9999999999}"#, try #require(bench.braze["active"]))
            },
            proof("a public key used as a shared secret", .refused(.unproven)) { bench in
                let pem = try #require(try bench.braze["active"]?.verificationKey.publicKeyPEM())
                let secret = try SigningKey(secret: SecretBytes(copying: pem.utf8), algorithm: .hs256)
                return try TrustBench.jws(#"{"alg":"HS256"}"#, #"{"sub":"me","exp":9999999999}"#, secret)
            },
            proof("a kid of another ring", .refused(.unproven)) { bench in
                try TrustBench.jws(
                    #"{"alg":"RS256","kid":"active"}"#, #"{"sub":"me","exp":9999999999}"#,
                    try #require(bench.braze["other"]))
            },
            proof("a signature cut short", .refused(.unproven)) {
                String(try $0.token(of: "me", signedBy: "active").dropLast(8))
            },
            proof("no token at all", .refused(.unproven)) { _ in "" },
            proof("something that is none", .refused(.unproven)) { _ in "victim" },
            Attack("proof: by the vendor's code there was none", .minted("proof/me")) { _ in
                [EventShape.raw.record("proof", #"{"errorCode":26,"userId":"me"}"#)]
            },
        ]
}
