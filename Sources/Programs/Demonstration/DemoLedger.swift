package import AdapterKit
import JOSE
import Kafka
package import Pipeline
import Synchronization
import WorkerConfiguration

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

/// The records on the worker's output topics.
struct DemoOutputs {
    private let topics: Configuration.Topics
    private let now: @Sendable () -> UnixTime
    private var tokens: [String: JSONValue] = [:]
    private var deadLetters: [RecordPosition: [UInt8]] = [:]
    private(set) var count = 0

    init(topics: Configuration.Topics, now: @escaping @Sendable () -> UnixTime) {
        self.topics = topics
        self.now = now
    }

    mutating func add(_ record: ConsumedRecord) {
        // An event in a retry tier is not finished.
        guard [topics.tokens, topics.deadLetters].contains(record.position.topic) else { return }
        count += 1
        if record.position.topic == topics.tokens {
            if let token = try? PublishedToken(record.body, at: now()),
                let root = record.value.flatMap({ try? JSONDocument(parsing: $0).root })
            {
                tokens[token.eventID] = root
            }
        } else if let origin = origin(of: record) {
            deadLetters[origin] = record.value
        }
    }

    /// Returns the replacement token that answers the event `id`.
    func token(_ id: String) -> JSONValue? { tokens[id] }

    /// Returns the value of the dead letter that came from `origin`.
    func deadLetter(at origin: RecordPosition) -> [UInt8]? { deadLetters[origin] }

    private func origin(of record: ConsumedRecord) -> RecordPosition? {
        let letter = InputRecord(origin: record.position, timestamp: nil, body: record.body, lane: .retries)
        return DeadLetterEntry(letter, decoder: EventDecoder(maximumBytes: 1 << 20), at: now()).origin
    }
}

/// The results of one vendor's reports.
package struct DemoVendorResults {
    /// The vendor's own spelling.
    package let vendor: String
    /// The results in the order of the reports.
    package private(set) var results: [DemoResult]

    /// Returns the results of each vendor, in the order of the first reports.
    package static func all(_ results: [DemoResult]) -> [DemoVendorResults] {
        var vendors: [DemoVendorResults] = []
        for result in results {
            let vendor = result.event.app.registration.vendor
            if let place = vendors.firstIndex(where: { $0.vendor == vendor }) {
                vendors[place].results.append(result)
            } else {
                vendors.append(DemoVendorResults(vendor: vendor, results: [result]))
            }
        }
        return vendors
    }

    /// The number of minted tokens.
    package var minted: Int { results.count { $0.outcome == .minted } }
    /// The number of tokens that the vendor's verifier accepts.
    package var accepted: Int { results.count { $0.verdict == .accepted } }
    /// The number of reports that needed no token.
    package var skipped: Int { results.count { $0.outcome.name == "skipped" } }
    /// The number of dead letters.
    package var deadLetters: Int { results.count - minted - skipped }

    /// One accepted token in words: its algorithm, and the report that it answers; nil without such a token.
    package var example: String? {
        guard let result = results.first(where: { $0.verdict == .accepted }),
            let algorithm = result.record?["algorithm"]?.string
        else { return nil }
        return "\(algorithm) for \(result.event.reported)"
    }
}
