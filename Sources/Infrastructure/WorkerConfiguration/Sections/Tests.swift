package import AdapterKit
package import YAMLReading
package import Yams

extension Configuration {
    /// Tests of a configuration. Workers do not read them; `remint test` does, and `WorkerTesting` defines their
    /// meaning.
    package enum Tests {}
}

extension Configuration.Tests {
    package static let section = SectionDescription(
        "tests",
        """
        Tests of this configuration, each under its name (remint test --config FILE). A test has an event and its \
        expected result. Tests may also be in files in the same folder, with names that end in _test.yaml. A worker \
        ignores this section.
        """,
        sections: [
            SectionDescription(
                "*", "", keys: keys.map { $0.changing(.passedOver) },
                sections: [LookupAnswer.section, Expectation.section])
        ],
        isRare: true, ifAbsent: .nothing)

    private static let keys: [KeyDescription] = .of(
        app, report, reportText, reissue, vouched, device, id, observedAt, value, valueFile, headers, key, topic, at,
        uuid)

    package static let app = FileKey.text(
        "app", example: "shop-ios", "App of the report or of the re-issue request (report, report_text, reissue).")
    package static let report = FileKey.json(
        "report", example: "{ errorCode: 22, userId: u-42 }", "Report of the SDK, as JSON.")
    package static let reportText = FileKey.anyText(
        "report_text", example: "Unauthorized", "Report of the SDK as a string, if the report is not JSON.")
    package static let reissue = FileKey.json(
        "reissue", example: "{ user: u-42 }", "Re-issue request, instead of a report: the user who gets a new token.")
    package static let vouched = FileKey.json(
        "vouched", example: "{ user: u-42 }", "User that the edge vouches for.")
    package static let device = FileKey.anyText("device", example: "phone-7", "Device of the report.")
    package static let id = FileKey.anyText("id", example: "event-1", "Id of the event.")
    package static let observedAt = FileKey.time(
        "observed_at", example: "2027-01-15T08:00:00Z",
        "Time at which the failure was observed. Default: the value of at.")
    package static let value = FileKey.json(
        "value", example: "'{\"app\":\"shop-ios\",\"report\":{}}'",
        "Value of the raw record, as a string or as JSON, instead of app and report.")
    package static let valueFile = FileKey.text(
        "value_file", form: .path, example: "reports/expired.json", "File with the value of the raw record.")
    package static let headers = FileKey.mapping(
        "headers", .mapping(of: .scalar), example: "{ remint-app: shop-ios }", "Headers of the record.")
    package static let key = FileKey.anyText("key", example: "u-42", "Key of the record.")
    package static let topic = FileKey.text(
        "topic", form: .topic, example: "remint.invalidations",
        "Topic of the record. Default: the first of the app's own topics, or topics.invalidations.")
    package static let at = FileKey.time(
        "at", example: "2027-01-15T08:00:00Z",
        "Time of the worker's clock: a date-time, or seconds since 1970. Default: 2027-01-15T08:00:00Z.")
    package static let uuid = FileKey.anyText(
        "uuid", example: "0f0f0f0f-1111-4222-8333-444444444444",
        "UUID that the test uses for the token's random ids, such as jti.")

    /// The vendor's answer to the look-up of a test.
    package enum LookupAnswer {
        package static let section = SectionDescription(
            "lookup", "Vendor's answer to the app's look-up. The test sends no request to the vendor.",
            keys: .of(status, body, bodyText).map { $0.changing(.passedOver) },
            ifAbsent: .nothing)

        package static let status = FileKey.integer(
            "status", in: 100...599, example: "200", "HTTP status of the answer.")
        package static let body = FileKey.json("body", example: "{ users: [] }", "Body of the answer, as JSON.")
        package static let bodyText = FileKey.anyText(
            "body_text", example: "Not Found", "Body of the answer as a string, if the body is not JSON.")
    }
}

extension Configuration.Tests {
    /// The expected outcome of a test.
    package enum Expectation {
        package static let section = SectionDescription(
            "expect", "Expected result of the event. The test compares only the keys that this section contains.",
            keys: keys.map { $0.changing(.passedOver) }, ifAbsent: .nothing)

        private static let keys: [KeyDescription] = .of(
            outcome, code, reason, because, topic, key, headers, user, ids, challenge, lives, header.exact,
            header.has, header.lacks, payload.exact, payload.has, payload.lacks, sealedFor)

        package static let outcome = FileKey.word(
            "outcome", of: ["minted", "superseded", "skipped", "deferred", "dead_lettered"], example: "minted",
            "Expected outcome of the event. Every test needs this key.")
        package static let code = FileKey.anyText(
            "code", example: "missing_user",
            """
            Expected code of the outcome: the dead letter's code, or the reason why the event is deferred or \
            superseded. remint codes lists the codes.
            """)
        package static let reason = FileKey.anyText(
            "reason", example: "EXPIRED", "Expected reason: the vendor's name for the failure.")
        package static let because = FileKey.anyText(
            "because", example: "no app", "String that the dead letter's detail must contain.")
        package static let topic = FileKey.anyText(
            "topic", form: .topic, example: "remint.tokens", "Expected topic of the published record.")
        package static let key = FileKey.anyText(
            "key", example: "shop-ios/u-42", "Expected key of the published record.")
        package static let headers = FileKey.mapping(
            "headers", .mapping(of: .scalar), example: "{ remint-error-stage: decode }",
            "Headers that the published record must have.")

        // MARK: The token

        package static let user = FileKey.anyText("user", example: "u-42", "Expected user of the token.")
        package static let ids = object(
            "ids", .mapping(of: .scalar), example: "{ registered: ann@example.com }",
            "Expected ids of the token's user, instead of user, for a vendor with several ids for each user.")
        package static let challenge = FileKey.anyText(
            "challenge", example: "n-1", "Expected challenge that the token answers.")
        package static let lives = FileKey.duration(
            "lives", in: .seconds(1)...(.seconds(400 * 86_400)), example: "12h",
            "Expected lifetime of the token, from its issue to its expiry.")
        package static let header = Part(
            exact: object("header", example: "{ alg: RS256, typ: JWT }", "Complete header that the token must have."),
            has: object("header_has", example: "{ alg: RS256 }", "Members that the token's header must have."),
            lacks: names("header_lacks", example: "[kid]", "Names that the token's header must not have."))
        package static let payload = Part(
            exact: object("payload", example: "{ sub: u-42 }", "Complete claims that the token must have."),
            has: object("payload_has", example: "{ sub: u-42 }", "Claims that the token must have."),
            lacks: names("payload_lacks", example: "[aud]", "Names of claims that the token must not have."))
        package static let sealedFor = FileKey.anyText(
            "sealed_for", example: "pickup-1", "Expected kid of the recipient of the sealed token.")

        /// The keys of one part of a token.
        package struct Part: Sendable {
            package let exact: FileKey<Node>
            package let has: FileKey<Node>
            package let lacks: FileKey<[Node]>

            package var all: [any DeclaredMember] { [exact, has, lacks] }
        }

        private static func object(
            _ name: String, _ form: FileForm = .any, example: String, _ summary: String
        ) -> FileKey<Node> {
            FileKey(name, form, example: example, summary) { section, name in
                guard let node = section.value(name) else { return nil }
                guard node.mapping != nil else {
                    section.diagnostics.error(node, "\(section.path(name)) must be a mapping of names to values")
                    return nil
                }
                return node
            }
        }

        private static func names(_ name: String, example: String, _ summary: String) -> FileKey<[Node]> {
            FileKey(name, .list(of: .text(), count: 1...Int.max), example: example, summary) { section, name in
                guard let node = section.value(name) else { return nil }
                guard let nodes = node.sequence, !nodes.isEmpty, nodes.allSatisfy({ $0.scalar != nil }) else {
                    section.diagnostics.error(node, "\(section.path(name)) must be a list of names, as in [aud]")
                    return nil
                }
                return Array(nodes)
            }
        }
    }
}
