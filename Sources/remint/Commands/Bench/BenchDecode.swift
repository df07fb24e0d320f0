import AdapterKit
import AdapterTestKit
import ArgumentParser
import Foundation
import JOSE
import Pipeline

/// `remint bench decode`.
struct BenchDecode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Events per second on one core, from the record's bytes to what they mean.",
        discussion: "For each vendor a report as its SDK shapes it, in each of the forms that an event may have.")

    @Option(help: "How long each measurement takes, in seconds.") var seconds = 0.2
    @Option(help: "One vendor's events alone, by the name of its adapter.") var vendor: String?
    @Option(help: "Decode so many events of each kind, once, and print nothing: for counting instructions.")
    var count: Int?
    @OptionGroup var options: BenchOptions

    func validate() throws {
        guard seconds > 0, seconds <= 3600 else { throw ValidationError("--seconds is more than 0") }
        if let count, count < 1 { throw ValidationError("--count is at least 1") }
    }

    private struct Row {
        let vendor: String
        let form: EventForm
        let work: Throughput.Work
        var rates: [Double] = []
    }

    func run() async throws {
        var rows = try rows()
        guard !rows.isEmpty else {
            let known = AdapterRegistry.remint.registrations.map(\.name).joined(separator: ", ")
            throw ValidationError("--vendor is one of \(known)")
        }
        if let count {
            for row in rows { try row.work(count) }
            return
        }
        for _ in 0..<options.rounds {
            for index in rows.indices {
                let work = rows[index].work
                rows[index].rates.append(try Throughput.measureHere(seconds: seconds, work))
            }
        }
        options.json ? printJSON(rows) : printTable(rows)
    }

    private func rows() throws -> [Row] {
        try AdapterRegistry.remint.registrations.filter { vendor == nil || $0.name == vendor }.flatMap { registration in
            let fixtures = try AdapterFixtures(directory: try DemoFixtures.folder(of: registration))
            guard let example = try Self.example(in: fixtures, registration) else { return [Row]() }
            return EventForm.allCases.map { form in
                let record = form.record(of: example.report, app: "bench")
                return Row(vendor: registration.name, form: form, work: Self.work(record, example.adapter))
            }
        }
    }

    /// The first recorded report that asks for a token.
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
                    case .failure = adapter.read(Report(root, observedAt: now))
                else {
                    throw BenchFailed("a recorded report was not understood")
                }
            }
        }
    }

    private func printTable(_ rows: [Row]) {
        var table = TextTable("vendor", "form", "events/s", "µs each")
        for row in rows {
            let rate = Spread(row.rates)
            table.add(row.vendor, row.form.rawValue, rate.text(), Spread(row.rates.map { 1e6 / $0 }).text(2))
        }
        for line in table.lines { Terminal.print(line) }
    }

    private func printJSON(_ rows: [Row]) {
        options.printJSON("decode", of: rows) { json, row in
            json.member("vendor", row.vendor)
            json.member("form", row.form.rawValue)
            json.member("events_per_second", Spread(row.rates))
        }
    }
}

/// The four forms of an event.
enum EventForm: String, CaseIterable {
    case envelope
    case structured = "cloudevents structured"
    case binary = "cloudevents binary"
    case raw = "raw report"

    /// A record with `report` about `app`.
    func record(of report: [UInt8], app: String) -> InputRecord {
        let (value, headers) = parts(report, app)
        return InputRecord(
            origin: Origin(topic: "remint.invalidations", partition: 3, offset: 4711),
            timestamp: UnixTime(seconds: 1_790_000_000), key: Array("user-4711".utf8), value: value, headers: headers)
    }

    private func parts(_ report: [UInt8], _ app: String) -> (value: [UInt8], headers: [Header]) {
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
            return (Array(value.utf8), [Header("content-type", "application/cloudevents+json; charset=UTF-8")])
        case .binary:
            return (
                report,
                [
                    Header("ce_specversion", "1.0"), Header("ce_id", id), Header("ce_source", "/sdk"),
                    Header("ce_type", "sdk.auth.failed"), Header("ce_time", time), Header("ce_subject", device),
                    Header("ce_app", app), Header("content-type", "application/json"),
                ]
            )
        case .raw:
            return (
                report,
                [
                    Header("remint-app", app), Header("remint-id", id), Header("remint-observed-at", time),
                    Header("remint-device", device),
                ]
            )
        }
    }
}
