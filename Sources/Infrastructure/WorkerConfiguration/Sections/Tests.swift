package import AdapterKit
package import YAMLReading

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
        sections: [
            SectionDescription(
                "*", "", keys: keys.map(\.passedOver), sections: [LookupAnswer.section, Expectation.section])
        ],
        isRare: true, ifAbsent: .nothing)

    private static let keys = [
        app.description, report.description, reportText.description, reissue.description, vouched.description,
        device.description, id.description, observedAt.description, value.description, valueFile.description,
        headers.description, key.description, topic.description, at.description, uuid.description,
    ]

    package static let app = DeclaredKey.text(
        "app", example: "shop-ios", "The app that report, report_text or reissue is for.")
    package static let report = DeclaredKey.json(
        "report", example: "{ errorCode: 22, userId: u-42 }", "What the SDK reported, as JSON.")
    package static let reportText = DeclaredKey.anyText(
        "report_text", example: "Unauthorized", "The same where it is no JSON.")
    package static let reissue = DeclaredKey.json(
        "reissue", example: "{ user: u-42 }", "In place of a report: the user who gets a new token.")
    package static let vouched = DeclaredKey.json(
        "vouched", example: "{ user: u-42 }", "The user that the edge vouches for.")
    package static let device = DeclaredKey.anyText("device", example: "phone-7", "The device that the report is from.")
    package static let id = DeclaredKey.anyText("id", example: "event-1", "The event's id.")
    package static let observedAt = DeclaredKey.time(
        "observed_at", example: "2027-01-15T08:00:00Z", "When the failure was observed. Default: at.")
    package static let value = DeclaredKey.json(
        "value", example: "'{\"app\":\"shop-ios\",\"report\":{}}'",
        "In place of app and report: the record's value as it is, as text or as JSON.")
    package static let valueFile = DeclaredKey.text(
        "value_file", form: .path, example: "reports/expired.json", "The file of the record's value.")
    package static let headers = DeclaredKey.mapping(
        "headers", .texts, example: "{ remint-app: shop-ios }", "The record's headers.")
    package static let key = DeclaredKey.anyText("key", example: "u-42", "The record's key.")
    package static let topic = DeclaredKey.text(
        "topic", form: .topic, example: "remint.invalidations",
        "The topic that the record stands on. Default: the app's first, or topics.invalidations.")
    package static let at = DeclaredKey.time(
        "at", example: "2027-01-15T08:00:00Z",
        "The clock's time: a date-time, or seconds since 1970. Default: 2027-01-15T08:00:00Z.")
    package static let uuid = DeclaredKey.anyText(
        "uuid", example: "0f0f0f0f-1111-4222-8333-444444444444", "The random ids of the token, such as jti.")

    /// The vendor's answer to the look-up of a test.
    package enum LookupAnswer {
        package static let section = SectionDescription(
            "lookup", "What the vendor answers to the app's look-up; nobody is asked.",
            keys: [status.description, body.description, bodyText.description].map(\.passedOver), ifAbsent: .nothing)

        package static let status = DeclaredKey.integer(
            "status", in: 100...599, example: "200", "The HTTP status.")
        package static let body = DeclaredKey.json("body", example: "{ users: [] }", "The body, as JSON.")
        package static let bodyText = DeclaredKey.anyText(
            "body_text", example: "Not Found", "The same where it is no JSON.")
    }
}
