import Foundation
import ProgramTestSupport

/// The page `config/FAULTS.md`: a row for each fault, with its sign at each place.
enum FaultPage {
    static let file = Repository.root.appending(path: "config/FAULTS.md")
    /// The variable of the environment that lets the test write the page.
    static let variable = "REMINT_WRITE_FAULTS"

    static var text: String {
        let rows = Fault.all.map { fault in
            let cells = [
                fault.readiness.cell, fault.firstLine.cell, fault.lastLine.cell, fault.metric.cell,
                "`\(fault.alert.name)`", fault.status.cell, fault.page.cell,
            ]
            return "| \(fault.name) | \(cells.joined(separator: " | ")) |"
        }
        return """
            # Faults and their signs

            This page lists faults, and the sign of each at every place that an operator looks at. `LieDetectorTests` makes each fault,
            compares every place with this page, and then fixes the fault. Strings in `code` are parts of the text that the place shows.
            A dash stands before the reason why a place cannot know of the fault.

            - Readiness: `/health/ready` of the worker, or of the gateway.
            - First and last line: the ids (`remint.event`) of the log lines at the beginning and at the end of the fault. If the fault is
              not fixed while the process runs, the last line is the newest one. [LOGS.md](LOGS.md) explains the lines.
            - Metric: a series at `/metrics`. [OPERATION.md](OPERATION.md#metrics) explains the metrics.
            - Alert: the alert that fires. [OPERATION.md](OPERATION.md#alerts) has the remedies.
            - Status: the output of `remint status`.
            - Page: [the status page](OPERATION.md#the-status-page) and its data, `/status`.

            | fault | readiness | first line | last line | metric | alert | status | page |
            |---|---|---|---|---|---|---|---|
            \(rows.joined(separator: "\n"))

            """
    }
}

extension FaultSign {
    /// The sign as a cell of the table.
    fileprivate var cell: String {
        switch self {
        case .shows(let text), .logs(let text): "`\(text.replacing("|", with: "\\|"))`"
        case .cannotSee(let reason): "– \(reason)"
        }
    }
}

extension FaultMetric {
    /// The metric as a cell of the table.
    fileprivate var cell: String {
        let series = labels.isEmpty ? name : "\(name){\(labels.joined(separator: ", "))}"
        return switch bound {
        case .equal(let value): "`\(series)` is \(Int(value))"
        case .atLeast(let value): "`\(series)` is at least \(Int(value))"
        case .absent: "`\(series)` is absent"
        }
    }
}
