import Foundation
import ProgramTestSupport
import Testing

/// The sign of a fault at one place.
enum FaultSign: Sendable {
    case shows(String)
    /// The log has a line with this id.
    case logs(String)
    /// The place cannot know of the fault, for this reason.
    case cannotSee(String)

    /// The string that the place shows; nil where it cannot know of the fault.
    var text: String? {
        switch self {
        case .shows(let text), .logs(let text): text
        case .cannotSee: nil
        }
    }

    /// Returns whether the sign is in `text`.
    func isShown(in text: String) -> Bool {
        switch self {
        case .shows(let part): text.contains(part)
        case .logs(let event): !text.logLines(event).isEmpty
        case .cannotSee: false
        }
    }
}

/// A series at `/metrics` that shows a fault.
struct FaultMetric: Sendable {
    /// The condition that the series' value meets.
    enum Bound: Sendable {
        case equal(Double)
        /// The value is at least this one.
        case atLeast(Double)
        /// No series is there, because the process has exited.
        case absent
    }

    let name: String
    let labels: [String]
    let bound: Bound

    init(_ name: String, _ labels: String..., bound: Bound) {
        self.name = name
        self.labels = labels
        self.bound = bound
    }
}

/// The alert that fires because of a fault.
struct FaultAlert: Sendable {
    let name: String
    /// The labels of the alert, as in a selector.
    let labels: String
    /// Whether the fault goes on, so that each minute adds to the counters as the seen time did.
    let isRepeated: Bool

    init(_ name: String, _ labels: String = "", isRepeated: Bool = false) {
        self.name = name
        self.labels = labels
        self.isRepeated = isRepeated
    }
}

/// A fault, the way to it and back, and its sign at each place.
struct Fault: Sendable {
    typealias Action = @Sendable (FaultStage) async throws -> Void

    /// The condition of the stage after a fault.
    enum End: Sendable {
        /// The action fixes the fault, and the programs go on.
        case fixed(Action)
        /// After the action, a new worker works.
        case newWorker(Action = { _ in })
        /// The brokers keep the fault.
        case newStage
    }

    let name: String
    var scene = FaultScene.operators
    /// Whether every run plays the fault. A long run plays all faults.
    private(set) var isInEveryRun = false
    /// Whether the fault is there before the worker starts.
    var isAtStart = false
    /// Readies the stage while there is no fault.
    var prepare: Action = { _ in }
    let make: Action
    let readiness: FaultSign
    let firstLine: FaultSign
    /// The line at the end of the fault, or the newest one of a fault that is not fixed.
    let lastLine: FaultSign
    let metric: FaultMetric
    let alert: FaultAlert
    let status: FaultSign
    let page: FaultSign
    let end: End

    /// The same fault, played in every run.
    var inEveryRun: Fault {
        var fault = self
        fault.isInEveryRun = true
        return fault
    }

    /// Whether no further fault can be played with the brokers.
    var ruinsBrokers: Bool { if case .newStage = end { true } else { false } }
}

extension Fault {
    /// The id of the log line of a worker that works.
    static let consumes = "worker.consuming"

    /// The tables of the faults, in the order of the page.
    static let tables = [brokers, topics, keys, signers, gateway, vendors, operators, records]

    static let all = tables.flatMap { $0 }
}
