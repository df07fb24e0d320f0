import AdapterKit
import AdapterTestKit
import ArgumentParser
import DeclaredAdapters
import Foundation
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
        let rows = try declared.map { CodesTable($0.description).rows } ?? recorded(vendor)
        for row in CodesTable.head + rows { Terminal.print(row) }
    }

    /// Returns the rows of a compiled adapter's readings of its recorded reports.
    private func recorded(_ vendor: String) throws -> [String] {
        guard let registration = AdapterRegistry.remint[vendor] else {
            let known = AdapterRegistry.remint.registrations.map(\.name).joined(separator: ", ")
            throw ValidationError("no vendor is called \(vendor); known: \(known)")
        }
        let fixtures = try RecordedReports.fixtures(of: registration)
        let now = UnixTime.system()
        var rows: [String: Set<String>] = [:]
        for fixture in fixtures.reports {
            guard let app = fixtures.apps.first(where: { $0.name == fixture.app }),
                let root = try? JSONDocument(parsing: fixture.report(at: now)).root,
                case .failure(let failure) = try JSONDecoder.adapter(registration, settings: app.settings).read(
                    Report(root, observedAt: now)), failure.subject != nil
            else { continue }
            rows[
                "\(failure.reason)|\(failure.remedy.name)|\(failure.evidence.rawValue)|\(failure.remedy.why)",
                default: []
            ].insert(fixture.sdk)
        }
        return rows.sorted { $0.key < $1.key }.map { key, sdks in
            let parts = key.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false)
            return
                "| `\(parts[0])` | \(sdks.sorted().joined(separator: ", ")) | \(parts[1]) | \(parts[2]) | \(parts[3]) |"
        }
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

extension Remedy {
    /// The reason that nothing is minted; empty where a token is minted.
    fileprivate var why: String {
        switch self {
        case .mint, .mintOnce: ""
        case .notFixable(let why), .notForUs(let why): why
        }
    }
}
