import AdapterKit
import AdapterTestKit
import ArgumentParser
import Bench
import CommandKit
import DeclaredAdapters
import DeclaredTesting
import Foundation
import JOSE
import Pipeline
import Vendors

/// `remint-bench decode`.
struct BenchDecode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Measures the events that one core decodes per second, from the record's bytes to their meaning.",
        discussion: """
            The command decodes a report of each vendor, as its SDK writes it, in each form that an event may have.
            """)

    @Option(help: "Length of each measurement, in seconds.") var seconds = 0.2
    @Option(help: "Only events of this vendor: the name of its adapter or the path of its file.") var vendor: String?
    @Option(help: "Decode this number of events of each kind, once, and print nothing: for counting instructions.")
    var count: Int?
    @OptionGroup var options: BenchOptions

    func validate() throws {
        guard seconds > 0, seconds <= 3600 else { throw ValidationError("--seconds is more than 0") }
        if let count, !(1...1_000_000_000).contains(count) { throw ValidationError("--count is 1 to 1000000000") }
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
            let known = AdapterRegistry.remint.names.joined(separator: ", ")
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
        if let vendor, VendorFile.isPath(vendor) {
            let declared = try VendorFile(vendor).tested()
            return try DecodeLoop.all(of: declared.vendor.registration, declared.tests.fixtures()).map {
                Row(vendor: vendor, form: $0.form, work: $0.work)
            }
        }
        let registrations = vendor.map { [AdapterRegistry.remint[$0]].compactMap(\.self) }
        return try (registrations ?? AdapterRegistry.remint.registrations).flatMap { registration in
            try DecodeLoop.all(of: registration).map {
                Row(vendor: registration.name, form: $0.form, work: $0.work)
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
