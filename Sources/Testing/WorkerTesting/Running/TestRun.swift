import AdapterKit
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

    /// A run of tests for `configuration`, which sign with `rings`.
    package init(_ configuration: Configuration, _ rings: TestRings) {
        self.configuration = configuration
        self.rings = rings.rings
        signer = LocalSigner(Array(rings.rings.values), lanes: 1)
    }

    /// Runs a test, and returns its result.
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
