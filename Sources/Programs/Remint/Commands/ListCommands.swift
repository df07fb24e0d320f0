import AdapterKit
import ArgumentParser
import DeclaredAdapters
import Pickup
import Vendors
import Worker

/// `remint codes`: the reasons for dead letters, or the codes of a vendor's SDKs.
struct CodesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "codes", abstract: "Lists the codes of dead letters, or those of a vendor and their remedies.",
        discussion: .help(
            examples: """
                remint codes
                remint codes braze
                """))

    @Argument(
        help: "A vendor, by the name of its adapter or the path of its file; without it the codes of dead letters.")
    var vendor: String?

    func run() throws {
        guard let vendor else {
            for row in ErrorCode.table { Terminal.print(row) }
            return
        }
        let declared =
            VendorFile.isPath(vendor)
            ? try VendorFile(vendor).loaded() : DeclaredVendor.shipped.first { $0.description.name == vendor }
        let rows = try declared.map { CodesTable($0.description).rows } ?? compiled(vendor)
        for row in CodesTable.head + rows { Terminal.print(row) }
    }

    /// Returns the rows of a compiled adapter.
    private func compiled(_ vendor: String) throws -> [String] {
        guard let registration = AdapterRegistry.remint[vendor] else {
            let known = AdapterRegistry.remint.registrations.map(\.name).joined(separator: ", ")
            throw ValidationError("no vendor is called \(vendor); known: \(known)")
        }
        guard !registration.codes.isEmpty else {
            throw ValidationError("the adapter \(vendor) lists no codes; add them to its `codes`")
        }
        return registration.codes.map(\.row)
    }
}

/// `remint metrics`: the metrics of worker and gateway.
struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "Lists the metrics, their kinds, labels and meaning.",
        discussion: .help(
            examples: """
                remint metrics
                remint metrics | grep remint_tokens
                """))

    func run() {
        // Worker and gateway share some.
        for row in Set(MetricsCatalogue.table + PickupMetricsCatalogue.table).sorted() { Terminal.print(row) }
    }
}
