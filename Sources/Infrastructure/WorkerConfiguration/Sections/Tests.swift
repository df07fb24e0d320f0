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

    private static let keys = [
        app.description, report.description, reportText.description, reissue.description, vouched.description,
        device.description, id.description, observedAt.description, value.description, valueFile.description,
        headers.description, key.description, topic.description, at.description, uuid.description,
    ]

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
            keys: [status.description, body.description, bodyText.description].map { $0.changing(.passedOver) },
            ifAbsent: .nothing)

        package static let status = FileKey.integer(
            "status", in: 100...599, example: "200", "HTTP status of the answer.")
        package static let body = FileKey.json("body", example: "{ users: [] }", "Body of the answer, as JSON.")
        package static let bodyText = FileKey.anyText(
            "body_text", example: "Not Found", "Body of the answer as a string, if the body is not JSON.")
    }
}
