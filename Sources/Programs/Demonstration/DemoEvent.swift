package import AdapterKit
import AdapterTestKit
import Foundation
import JOSE
package import Kafka
import Pipeline

/// A recorded report as a record on the topic, in one of the four event forms.
package struct DemoEvent {
    package enum Form: String, CaseIterable {
        case envelope, structured, binary, raw
    }

    package let id: String
    package let app: DemoWorkspace.App
    /// The SDK that the report was recorded from, as the table names it.
    package let sdk: String
    /// The failure that the SDK reports, as the table names it.
    package let reported: String
    /// The name of the recording.
    package let recording: String
    /// The outcome it must come to: a name, or a dead letter's code; nil where any will do.
    private(set) var ending: String?
    package let form: Form
    /// The report, or the user that a batch job names.
    package let report: [UInt8]
    /// The device's user; nil where the report names none.
    var user: DemoUser?
    package var isReissue = false

    /// Returns events for every recorded report of every app. The forms take turns; a report that is not JSON can only
    /// be sent raw.
    package static func all(_ apps: [DemoWorkspace.App], at now: UnixTime) -> [DemoEvent] {
        let recorded = apps.flatMap { app in
            app.fixtures.reports.filter { $0.app == app.example.name }.map { (app, $0) }
        }
        return recorded.enumerated().map { index, recorded in
            let (app, fixture) = recorded
            let report = fixture.report(at: now)
            let isJSON = (try? JSONDocument(parsing: report)) != nil
            return DemoEvent(
                id: "\(app.name)/\(fixture.name)", app: app, sdk: fixture.sdk, reported: fixture.reported,
                recording: fixture.name, ending: fixture.expectation.outcomeName,
                form: isJSON ? Form.allCases[index % Form.allCases.count] : .raw, report: report,
                user: fixture.expectation.user)
        }
    }

    /// The members that the edge vouches for, as JSON; nil where the user is enough for a token, or the report names none.
    var vouched: [UInt8]? {
        guard case .user(let id)? = user else { return nil }
        return app.example.vouched(for: id)
    }

    /// The event as a device's call to a gateway, which knows who calls: a report that names nobody may have a token all the same,
    /// and one without a remedy is refused.
    var called: DemoEvent {
        var event = self
        if user == nil { event.ending = nil }
        if event.ending == Outcome.skipped("").name { event.ending = ErrorCode.notFixableByToken.rawValue }
        event.user = user ?? app.example.reissue.flatMap(DemoUser.init(reissue:)) ?? .somebody
        return event
    }

    /// Returns a batch job's event for `user`.
    package static func reissue(of user: String, app: DemoWorkspace.App, ending: String) -> DemoEvent {
        var json = JSONWriter()
        json.string(user)
        return DemoEvent(
            id: "\(app.name)/\(user)", app: app, sdk: "batch job", reported: "reissue \(user)", recording: user,
            ending: ending, form: .envelope, report: Reissue.request(for: json.bytes), isReissue: true)
    }

    package func record(topic: String, at now: UnixTime) -> ProducerRecord {
        let time = now.description
        switch form {
        case .envelope:
            return ProducerRecord(
                topic: topic, key: nil,
                value: object { json in
                    json.member("app", app.name)
                    json.name(isReissue ? "reissue" : "report")
                    json.raw(report)
                    write(vouched, to: &json)
                    json.member("id", id)
                    json.member("observed_at", time)
                })
        case .structured:
            let value = object { json in
                json.member("specversion", "1.0")
                json.member("id", id)
                json.member("source", "/demo")
                json.member("type", "sdk.auth.failed")
                json.member("time", time)
                json.member("app", app.name)
                json.name("data")
                json.raw(report)
                write(vouched, to: &json)
            }
            return ProducerRecord(
                topic: topic, key: nil, value: value,
                headers: [header("content-type", "application/cloudevents+json; charset=utf-8")])
        case .binary:
            return ProducerRecord(
                topic: topic, key: nil, value: report,
                headers: [
                    header("ce_specversion", "1.0"), header("ce_id", id), header("ce_source", "/demo"),
                    header("ce_type", "sdk.auth.failed"), header("ce_time", time), header("ce_app", app.name),
                ] + (vouched.map { [RecordHeader("ce_vouched", $0)] } ?? []))
        case .raw:
            return ProducerRecord(
                topic: topic, key: nil, value: report,
                headers: [
                    header("remint-app", app.name), header("remint-id", id), header("remint-observed-at", time),
                ] + (vouched.map { [RecordHeader("remint-vouched", $0)] } ?? []))
        }
    }

    private func write(_ vouched: [UInt8]?, to json: inout JSONWriter) {
        guard let vouched else { return }
        json.name("vouched")
        json.raw(vouched)
    }

    private func header(_ name: String, _ text: String) -> RecordHeader { RecordHeader(name, Array(text.utf8)) }

    private func object(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        body(&json)
        json.endObject()
        return json.bytes
    }
}

extension ReportFixture.Expectation {
    /// The outcome a worker must come to: a name, or a dead letter's code.
    fileprivate var outcomeName: String {
        switch self {
        case .rejected(let code): code.rawValue
        case .failure("not_for_us", _, _, _): Outcome.skipped("").name
        case .failure("not_fixable", _, _, _): ErrorCode.notFixableByToken.rawValue
        case .failure: Outcome.minted.name
        }
    }

    /// The report's user.
    fileprivate var user: DemoUser? {
        guard case .failure(_, _, let subject?, _) = self else { return nil }
        return DemoUser(subjectKey: subject)
    }
}

/// The user of the device that reports.
enum DemoUser: Sendable {
    /// A user with one id, named by a session.
    case user(String)
    /// A user with several ids, named by a backend.
    case identifiers([(name: String, value: String)])

    /// The user of devices whose reports name nobody.
    static let somebody = DemoUser.user("u-1001")

    /// Reads the user that a batch job names: a string, or an object with the ids.
    init?(reissue: [UInt8]) {
        guard let root = try? JSONDocument(parsing: reissue).root else { return nil }
        if let user = root.string {
            self = .user(user)
        } else {
            self = .identifiers(root.members.compactMap { name, value in value.string.map { (name, $0) } })
        }
    }

    /// The user of a subject key such as `app/u-1001` or `app/registered=u%40example.com`, as recordings have it: an equals sign
    /// that is not encoded is one between an id's name and its value.
    init(subjectKey: String) {
        let parts = subjectKey.split(separator: "/").dropFirst()
        let identifiers = parts.compactMap { part -> (name: String, value: String)? in
            let pair = part.split(separator: "=", maxSplits: 1).compactMap { String($0).removingPercentEncoding }
            return pair.count == 2 ? (pair[0], pair[1]) : nil
        }
        guard identifiers.isEmpty else {
            self = .identifiers(identifiers)
            return
        }
        self = parts.first.flatMap { String($0).removingPercentEncoding }.map { .user($0) } ?? Self.somebody
    }
}
