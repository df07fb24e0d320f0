package import AdapterKit
import JOSE
package import Pipeline
import Synchronization

/// The worker's outcomes and the records on the topics, joined by event id and by origin.
package final class DemoLedger: Sendable {
    private struct State {
        var settlements: [Settlement] = []
        var address: CheckedContinuation<String, any Error>?
        var early: Result<String, any Error>?
    }

    private let state = Mutex(State())

    /// Records a batch that the worker settled. Events that only wait for a vendor's answer will come again.
    @Sendable func settled(_ settlements: [Settlement]) {
        let ended = settlements.filter { if case .deferred(_, .awaitingLookup) = $0.outcome { false } else { true } }
        state.withLock { $0.settlements += ended }
    }

    package var settlements: [Settlement] { state.withLock { $0.settlements } }

    /// Notes that the worker consumes, from brokers at `address`, or that it never will.
    package func started(_ address: Result<String, any Error>) {
        let waiter = state.withLock { state in
            defer { state.address = nil }
            if state.address == nil, state.early == nil { state.early = address }
            return state.address
        }
        waiter?.resume(with: address)
    }

    /// Returns the brokers' address, once the worker consumes.
    package func address() async throws -> String {
        try await withCheckedThrowingContinuation { waiter in
            let early = state.withLock { state in
                if state.early == nil { state.address = waiter }
                return state.early
            }
            if let early { waiter.resume(with: early) }
        }
    }
}

/// A line of the demonstration.
package struct DemoResult {
    package let event: DemoEvent
    package let outcome: Outcome
    /// The record on the token topic, where there is one.
    package let record: JSONValue?
    package let verdict: VendorVerdict?
    /// The difference from the expected result; nil where there is none.
    package let problem: String?

    package var outcomeText: String {
        switch outcome {
        case .minted, .superseded, .skipped, .deferred: outcome.name
        case .deadLettered(let code): "\(outcome.name) \(code.rawValue)"
        }
    }
}
