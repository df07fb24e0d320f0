extension Configuration {
    /// Tests of a configuration. Workers do not read them; `remint test` does, and `WorkerTesting` defines their
    /// meaning.
    package enum Tests {}
}

extension Configuration.Tests {
    package static let section = SectionDescription(
        "tests",
        """
        Tests of this configuration, each under its name: an event, and what must come of it (remint test --config FILE). They may \
        also be in files beside this one whose names end in _test.yaml. A worker passes them over.
        """,
        sections: [SectionDescription("*", "", keys: keys.map(\.passedOver), sections: [lookup, expectation])],
        isRare: true, ifAbsent: .nothing)

    private static let keys = [
        KeyDescription("app", .text, example: "shop-ios", "The app that report, report_text or reissue is for."),
        KeyDescription("report", .json, example: "{ errorCode: 22, userId: u-42 }", "What the SDK reported, as JSON."),
        KeyDescription("report_text", .text, example: "Unauthorized", "The same where it is no JSON."),
        KeyDescription(
            "reissue", .json, example: "{ user: u-42 }", "In place of a report: the user who gets a new token."),
        KeyDescription("vouched", .json, example: "{ user: u-42 }", "The user that the edge vouches for."),
        KeyDescription("device", .text, example: "phone-7", "The device that the report is from."),
        KeyDescription("id", .text, example: "event-1", "The event's id."),
        KeyDescription(
            "observed_at", .text, example: "2027-01-15T08:00:00Z", "When the failure was observed. Default: at."),
        KeyDescription(
            "value", .json, example: "'{\"app\":\"shop-ios\",\"report\":{}}'",
            "In place of app and report: the record's value as it is, as text or as JSON."),
        KeyDescription("value_file", .path, example: "reports/expired.json", "The file of the record's value."),
        KeyDescription("headers", .texts, example: "{ remint-app: shop-ios }", "The record's headers."),
        KeyDescription("key", .text, example: "u-42", "The record's key."),
        KeyDescription(
            "topic", .topic, example: "remint.invalidations",
            "The topic that the record stands on. Default: the app's first, or topics.invalidations."),
        KeyDescription(
            "at", .text, example: "2027-01-15T08:00:00Z",
            "The clock's time: a date-time, or seconds since 1970. Default: 2027-01-15T08:00:00Z."),
        KeyDescription(
            "uuid", .text, example: "0f0f0f0f-1111-4222-8333-444444444444", "The random ids of the token, such as jti."),
    ]

    private static let lookup = SectionDescription(
        "lookup", "What the vendor answers to the app's look-up; nobody is asked.",
        keys: [
            KeyDescription("status", .integer(100...599), example: "200", "The HTTP status."),
            KeyDescription("body", .json, example: "{ users: [] }", "The body, as JSON."),
            KeyDescription("body_text", .text, example: "Not Found", "The same where it is no JSON."),
        ].map(\.passedOver), ifAbsent: .nothing)

    private static let expectation = SectionDescription(
        "expect", "What must come of it. What is not written here is not looked at.",
        keys: [
            KeyDescription(
                "outcome", .choice(["minted", "superseded", "skipped", "deferred", "dead_lettered"]), example: "minted",
                "How the event ends. Has to be there."),
            KeyDescription(
                "code", .text, example: "missing_user",
                "A dead letter's code, or why the event is deferred or superseded; see remint codes."),
            KeyDescription("reason", .text, example: "EXPIRED", "The vendor's name of the failure."),
            KeyDescription(
                "because", .text, example: "no app", "Strings that the dead letter's detail must contain."),
            KeyDescription("topic", .topic, example: "remint.tokens", "The topic that the outcome is published to."),
            KeyDescription("key", .text, example: "shop-ios/u-42", "The key of the record that is published."),
            KeyDescription("headers", .texts, example: "{ remint-error-stage: decode }", "Headers that it has."),
            KeyDescription("user", .text, example: "u-42", "The token's user."),
            KeyDescription(
                "ids", .texts, example: "{ registered: ann@example.com }",
                "The same, where the vendor knows several ids."),
            KeyDescription("challenge", .text, example: "n-1", "The challenge that the token answers."),
            KeyDescription(
                "lives", .duration(lives), example: "12h", "From the token's issue to its end."),
            KeyDescription("header", .json, example: "{ alg: RS256, typ: JWT }", "The token's header, all of it."),
            KeyDescription("header_has", .json, example: "{ alg: RS256 }", "Members that the token's header has."),
            KeyDescription("header_lacks", .list(of: .text), example: "[kid]", "Members that it has not."),
            KeyDescription("payload", .json, example: "{ sub: u-42 }", "The token's claims, all of them."),
            KeyDescription("payload_has", .json, example: "{ sub: u-42 }", "Claims that the token has."),
            KeyDescription("payload_lacks", .list(of: .text), example: "[aud]", "Claims that it has not."),
            KeyDescription(
                "sealed_for", .text, example: "pickup-1", "The kid of the recipient that the token is sealed for."),
        ].map(\.passedOver), ifAbsent: .nothing)

    /// The range of token lifetimes that a test may give.
    package static let lives: ClosedRange<Duration> = .seconds(1)...(.seconds(400 * 86_400))
}
