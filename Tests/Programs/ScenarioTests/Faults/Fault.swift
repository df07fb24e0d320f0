import Foundation
import Testing

/// The sign of a fault at one place.
enum FaultSign: Sendable {
    /// The place shows this string.
    case shows(String)
    /// The place cannot know of the fault, for this reason.
    case cannotSee(String)

    /// The string that the place shows; nil where it cannot know of the fault.
    var text: String? { if case .shows(let text) = self { text } else { nil } }
}

/// A series at `/metrics` that shows a fault.
struct FaultMetric: Sendable {
    /// The condition that the series' value meets.
    enum Bound: Sendable {
        /// The value is this one.
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
struct Fault: Sendable, CustomTestStringConvertible {
    typealias Action = @Sendable (FaultStage) async throws -> Void

    /// The program that the fault is about.
    enum Subject: Sendable { case worker, gateway }

    let name: String
    var subject = Subject.worker
    /// Whether the fault is there before the program starts.
    var isAtStart = false
    /// Configures the shop before the program starts.
    var prepare: Action = { _ in }
    /// Makes the fault.
    let make: Action
    let readiness: FaultSign
    let firstLine: FaultSign
    /// The line at the end of the fault, or the newest one of a fault that is not fixed.
    let lastLine: FaultSign
    let metric: FaultMetric
    let alert: FaultAlert
    let status: FaultSign
    let page: FaultSign
    /// Fixes the fault; nil for one that only a new process or time ends.
    var fix: Action?

    var testDescription: String { name }
}

extension Fault {
    /// The rows about brokers, keys and the gateway.
    static let platform = brokers + topics + keys + signers + gateway
    /// The rows about vendors, operators and producers.
    static let work = vendors + operators + records

    /// Every row of the table.
    static let all = platform + work
}
