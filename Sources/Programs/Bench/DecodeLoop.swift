package import AdapterKit
package import AdapterTestKit
import Foundation
import Pipeline
import Vendors

/// Events of one vendor, decoded one after the other from the record's bytes to the request.
package enum DecodeLoop {
    /// Returns the work of each form, with the vendor's first recorded report that asks for a token.
    ///
    /// - Throws: the error of a recorded report that cannot be read.
    package static func all(of registration: AdapterRegistry.Registration) throws -> [Throughput.Work] {
        try all(of: registration, RecordedReports.fixtures(of: registration))
    }

    /// Returns the same for `fixtures` from another place.
    ///
    /// - Throws: the error of settings that cannot be read.
    package static func all(
        of registration: AdapterRegistry.Registration, _ fixtures: AdapterFixtures
    ) throws -> [Throughput.Work] {
        guard let example = try example(in: fixtures, registration) else { return [] }
        return EventForm.allCases.map { work($0.record(of: example.report, app: "bench"), example.adapter) }
    }

    /// Returns the first recorded report that asks for a token.
    private static func example(
        in fixtures: AdapterFixtures, _ registration: AdapterRegistry.Registration
    ) throws -> (adapter: any Adapter, report: [UInt8])? {
        for fixture in fixtures.reports {
            guard case .failure("mint", _, _, _) = fixture.expectation,
                let app = fixtures.apps.first(where: { $0.name == fixture.app })
            else { continue }
            let adapter = try JSONDecoder.adapter(registration, settings: app.settings)
            return (adapter, fixture.report(at: UnixTime(seconds: 1_790_000_000)))
        }
        return nil
    }

    private static func work(_ record: InputRecord, _ adapter: any Adapter) -> Throughput.Work {
        let decoder = EventDecoder(maximumBytes: 65_536)
        let now = UnixTime(seconds: 1_790_000_000)
        return { times in
            for _ in 0..<times {
                let event = try decoder.decode(record)
                guard case .report(let root) = event.body,
                    case .failure = adapter.reading(of: Report(root, observedAt: now))
                else {
                    throw BenchFailed("a recorded report was not understood")
                }
            }
        }
    }
}

/// The four forms of an event.
private enum EventForm: CaseIterable {
    case envelope, structured, binary, raw

    /// Returns a record with `report` about `app`.
    func record(of report: [UInt8], app: String) -> InputRecord {
        let (value, headers) = parts(report, app)
        return InputRecord(
            origin: RecordPosition(topic: "remint.invalidations", partition: 3, offset: 4711),
            timestamp: UnixTime(seconds: 1_790_000_000), key: Array("user-4711".utf8), value: value, headers: headers)
    }

    private func parts(_ report: [UInt8], _ app: String) -> (value: [UInt8], headers: [RecordHeader]) {
        let id = "6f9c4f6e-6b5c-4c38-a9b6-5b7a5e1f0001", time = "2026-09-21T10:00:00.123Z", device = "device-1"
        let text = String(decoding: report, as: UTF8.self)
        switch self {
        case .envelope:
            let value =
                #"{"app":"\#(app)","id":"\#(id)","observed_at":"\#(time)","device":"\#(device)","report":\#(text)}"#
            return (Array(value.utf8), [])
        case .structured:
            let attributes = #""specversion":"1.0","id":"\#(id)","source":"/sdk","type":"sdk.auth.failed""#
            let value = #"{\#(attributes),"time":"\#(time)","subject":"\#(device)","app":"\#(app)","data":\#(text)}"#
            return (Array(value.utf8), [RecordHeader("content-type", "application/cloudevents+json; charset=UTF-8")])
        case .binary:
            return (
                report,
                [
                    RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", id), RecordHeader("ce_source", "/sdk"),
                    RecordHeader("ce_type", "sdk.auth.failed"), RecordHeader("ce_time", time),
                    RecordHeader("ce_subject", device),
                    RecordHeader("ce_app", app), RecordHeader("content-type", "application/json"),
                ]
            )
        case .raw:
            return (
                report,
                [
                    RecordHeader("remint-app", app), RecordHeader("remint-id", id),
                    RecordHeader("remint-observed-at", time),
                    RecordHeader("remint-device", device),
                ]
            )
        }
    }
}
