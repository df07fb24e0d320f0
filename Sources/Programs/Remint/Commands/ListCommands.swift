import AdapterKit
import ArgumentParser
import DeclaredAdapters
import Pickup
import Vendors
import Worker
import WorkerConfiguration

/// `remint codes`: the reasons for dead letters, or the codes of a vendor's SDKs.
struct CodesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "codes",
        abstract: "Lists the codes of dead letters, or a vendor's codes with the worker's responses.",
        discussion: .help(
            examples: """
                remint codes
                remint codes braze
                """))

    @Argument(
        help: "The vendor: the name of its adapter or the path of its file. Default: list the codes of dead letters.")
    var vendor: String?

    func run() throws {
        guard let vendor else {
            for row in ErrorCode.table { Terminal.print(row) }
            return
        }
        let declared = VendorFile.isPath(vendor) ? try VendorFile(vendor).loaded() : DeclaredVendor.shipped(vendor)
        let rows = try declared.map { CodesTable($0.description).rows } ?? compiled(vendor)
        for row in CodesTable.head + rows { Terminal.print(row) }
    }

    /// Returns the rows of a compiled adapter.
    private func compiled(_ vendor: String) throws -> [String] {
        guard let registration = AdapterRegistry.remint[vendor] else {
            throw ValidationError(AdapterRegistry.remint.error(without: vendor, shown: vendor))
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
        commandName: "metrics", abstract: "Lists the metrics with their kinds, labels and meanings.",
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
