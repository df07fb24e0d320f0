import AdapterKit
import ArgumentParser
import Pickup
import Worker

/// `remint codes`: why an event can be dead-lettered.
struct CodesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "codes", abstract: "Lists the codes of dead letters and what they mean.")

    func run() { for row in ErrorCode.table { Terminal.print(row) } }
}

/// `remint metrics`: what `/metrics` of worker and gateway says.
struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "Lists the metrics, their kinds and labels, and what they say.")

    func run() {
        for row in (MetricsCatalogue.table + PickupMetricsCatalogue.table).sorted() { Terminal.print(row) }
    }
}
