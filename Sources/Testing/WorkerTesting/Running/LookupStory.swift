import AdapterKit
import Pipeline

/// An event on its way through a processor whose vendor answers every question in the same way.
struct LookupStory {
    /// The vendor's response; nil where the test states none.
    let answer: LookupResponse?
    let clock: CaseClock
    /// The account that was asked although the test names no answer for it.
    private(set) var unanswered: String?

    /// The maximum number of rounds; an event cannot wait for more.
    private static let rounds = 64

    init(answer: LookupResponse?, clock: CaseClock) {
        self.answer = answer
        self.clock = clock
    }

    /// Returns the settlement of `record`; nil for none.
    mutating func settle(_ record: InputRecord, _ processor: inout BatchProcessor) async -> Settlement? {
        var waiting = Waiting.allowed, deadline: UnixTime?
        for number in 0..<Self.rounds {
            let batch = Batch(number: number, records: [record], waiting: waiting)
            let processed = await processor.process(batch)
            guard let parked = processed.parked.first else { return processed.settlements.first }
            let end = deadline ?? parked.until
            deadline = end
            waiting = converse(until: end, &processor) ? .resumed : .over
        }
        return nil
    }

    /// Asks and answers, or advances the time until there is a question.
    ///
    /// - Returns: false where the event has waited as long as it may.
    private mutating func converse(until end: UnixTime, _ processor: inout BatchProcessor) -> Bool {
        let calls = processor.lookups()
        guard calls.isEmpty else {
            processor.received(calls.map { LookupReply(id: $0.id, result: reply(to: $0)) })
            return true
        }
        let next = processor.nextLookup ?? end
        clock.move(to: min(next, end))
        return next < end
    }

    private mutating func reply(to call: LookupCall) -> Result<LookupAnswer, LookupFailure> {
        guard let answer else {
            unanswered = call.account
            return .failure(LookupFailure(.misconfigured, "the test has no answer for it"))
        }
        return .success(LookupAnswer(response: answer))
    }
}
