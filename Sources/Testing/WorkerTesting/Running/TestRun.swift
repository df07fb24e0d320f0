import AdapterKit
import DeclaredAdapters
import JOSE
import Keyring
import Pipeline
import Signing
import Synchronization
import Wiring
package import WorkerConfiguration

/// Runs tests of a configuration: each event through the worker's own pipeline, with a clock that stands still and
/// vendors that return the test's answers.
package struct TestRun: Sendable {
    private let configuration: Configuration
    private let rings: [String: KeyRing]
    private let signer: LocalSigner

    package init(_ configuration: Configuration, _ rings: TestRings) {
        self.configuration = configuration
        self.rings = rings.rings
        signer = LocalSigner(Array(rings.rings.values), lanes: 1)
    }

    package func run(_ test: TestCase) async -> CaseResult {
        let clock = CaseClock(test.at)
        let recorder = RecordingSigner(signer)
        var processor = configuration.processor(
            signing: recorder, worker: "test", cores: 1, random: CaseRandom(uuid: test.uuid), now: { clock.now })
        var conversation = LookupStory(answer: test.lookup, clock: clock)
        let settlement = await conversation.settle(test.record, &processor)
        guard let settlement else {
            let failure = Diagnostic(.error, at: test.place, "the event came to no end")
            return CaseResult(test: test, outcome: "none", failures: [failure])
        }
        let ending = ending(of: settlement, recorder.lastToken, at: clock.now)
        let unanswered = conversation.unanswered.map { account in
            Diagnostic(
                .error, at: test.place,
                "the vendor of \(account) is asked about the user; write what it answers: lookup: { status: 200, body: … }"
            )
        }
        return CaseResult(
            test: test, outcome: settlement.outcome.name,
            failures: unanswered.map { [$0] } ?? test.expectation.failures(of: ending))
    }

    private func ending(of settlement: Settlement, _ token: [UInt8]?, at time: UnixTime) -> Ending {
        let output = settlement.output
        var ending = Ending(
            outcome: settlement.outcome.name, code: settlement.outcome.code, reason: settlement.reason,
            detail: settlement.outcome.detail ?? settlement.detail,
            topic: output.map { configuration.topic(for: $0.destination) },
            key: output?.key.map { String(decoding: $0, as: UTF8.self) }, headers: output?.headers ?? [])
        if settlement.outcome == .minted, let output, let token {
            ending.token = seenToken(token, in: output, of: settlement.app, at: time)
        }
        return ending
    }

    private func seenToken(
        _ token: [UInt8], in output: OutputRecord, of name: String?, at time: UnixTime
    ) -> Ending.Token? {
        guard let app = configuration.apps.first(where: { $0.name == name }),
            let published = try? PublishedToken(output.body, at: time)
        else { return nil }
        return Ending.Token(
            inspection: TokenInspection(token), subject: published.subject,
            lives: published.expiresAt - published.issuedAt, sealedFor: published.sealedFor,
            verdict: app.adapter.verify(
                token, against: rings[app.key]?.verificationKeys ?? [], expecting: published.subject, at: time))
    }
}

/// The time of a test: its own time, advanced only by waits for a vendor.
final class CaseClock: Sendable {
    private let time: Mutex<UnixTime>

    init(_ time: UnixTime) { self.time = Mutex(time) }

    var now: UnixTime { time.withLock { $0 } }

    func move(to moment: UnixTime) { time.withLock { $0 = max($0, moment) } }
}

extension Outcome {
    /// The reason that the event was skipped; nil for every other outcome.
    fileprivate var detail: String? { if case .skipped(let why) = self { why } else { nil } }
}

/// An event on its way through a processor whose vendor answers every question in the same way.
private struct LookupStory {
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

/// Signs with another signer, and keeps the last signed input: only its recipient could read the claims of a sealed
/// token.
private final class RecordingSigner: SigningPort {
    private let signer: any SigningPort
    private let last = Mutex<[UInt8]?>(nil)

    init(_ signer: any SigningPort) { self.signer = signer }

    /// The last token, in compact form; nil for none.
    var lastToken: [UInt8]? { last.withLock { $0 } }

    func activeKey(of ring: String) -> SigningKeyReference? { signer.activeKey(of: ring) }

    func verificationKeys(of ring: String) -> [RingKey] { signer.verificationKeys(of: ring) }

    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        let signatures = await signer.sign(requests, urgency: urgency)
        for (request, signature) in zip(requests, signatures) {
            guard case .success(let bytes) = signature else { continue }
            last.withLock { $0 = request.input.token(signature: bytes) }
        }
        return signatures
    }
}

/// Randomness that is the same on every run: a test's own ids first, numbers of its own after that.
private struct CaseRandom: RandomNumberGenerator, Sendable {
    private var words: [UInt64]
    /// SplitMix64, whose period is far longer than any event's way.
    private var state: UInt64 = 0

    /// The number of times that the test's id comes first: more ids than any token has. The numbers differ after them,
    /// so that a draw that is repeated until it fits finishes.
    private static let ids = 8

    /// Random numbers whose first ids are `uuid`.
    init(uuid: String?) {
        words = uuid.flatMap(UUIDText.words).map { id in (0..<Self.ids).flatMap { _ in [id.low, id.high] } } ?? []
    }

    mutating func next() -> UInt64 {
        if let word = words.popLast() { return word }
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
