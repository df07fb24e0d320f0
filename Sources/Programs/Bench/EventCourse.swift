package import AdapterKit
import JOSE
import Pipeline

/// An event's whole way without broker and signature: records in, settlements out, batch by batch.
///
/// A class: its holders need not be rebuilt when the pipeline changes.
package final class EventCourse {
    /// The outcome that every event of a course has.
    package enum Kind: String, CaseIterable {
        /// Each event is another user's and gets a token.
        case minted
        /// The events of a batch are one user's: the token of the first answers the others.
        case superseded
        /// No key may sign, so that each event waits in a retry tier.
        case deferred
    }

    private static let batch = 500
    private let kind: Kind
    private let report: @Sendable (String) -> String
    private let now: @Sendable () -> UnixTime
    private var processor: BatchProcessor
    private var next = 0
    private var number = 0

    /// - Parameter subjects: the number of recent subjects that are remembered.
    package init(_ kind: Kind, of app: BenchApp, subjects: Int, now: @escaping @Sendable () -> UnixTime) {
        self.kind = kind
        self.now = now
        report = app.report
        processor = BatchProcessor(
            apps: [App(name: "bench", adapter: app.adapter, keyRing: "bench", lifetime: 3600)],
            signing: SilentSigner(algorithm: app.algorithm, hasKey: kind != .deferred), maximumEventBytes: 65_536,
            admission: AdmissionRules(subjects: subjects), now: now)
    }

    /// Takes at least `events` events to their ends, the same few thousand records again and again, so that making them counts
    /// once. The memory must hold fewer subjects than they have.
    ///
    /// - Throws: `BenchFailed` where an event has another outcome than it should.
    package func rerun(_ events: Int) async throws {
        let batches = (0..<16).map { _ in records(Self.batch) }
        for turn in 0..<((events + Self.batch - 1) / Self.batch) {
            try check(await process(batches[turn % batches.count]))
        }
    }

    private func process(_ records: [InputRecord]) async -> [Settlement] {
        number += 1
        let settlements = await processor.process(records, batch: number)
        processor.confirm(throughBatch: number)
        return settlements
    }

    private func check(_ settlements: [Settlement]) throws {
        // Of a batch of one user the first event is answered.
        let minted = settlements.count { $0.outcome == .minted }
        let expected = kind == .minted ? settlements.count : kind == .superseded ? 1 : 0
        guard minted == expected else {
            throw BenchFailed(
                "\(minted) of \(settlements.count.of("event was", "events were")) answered with a token, not \(expected)"
            )
        }
    }

    private func records(_ count: Int) -> [InputRecord] {
        (0..<count).map { place in
            next += 1
            let user = kind == .superseded ? next - place : next
            return InputRecord(
                origin: RecordPosition(
                    topic: "remint.invalidations", partition: Int32(next % 6), offset: Int64(next / 6)),
                timestamp: now(), key: nil, value: Array(report("user-\(user)").utf8),
                headers: [RecordHeader("remint-app", "bench"), RecordHeader("remint-id", "event-\(next)")])
        }
    }
}

/// Answers at once, with a signature of the right width. Its key is the same object for all, as a signer's is.
private struct SilentSigner: SigningPort {
    private let key: SigningKeyReference?
    private let signature: [UInt8]

    init(algorithm: Algorithm, hasKey: Bool) {
        key =
            hasKey
            ? SigningKeyReference(
                ring: "bench", version: "bench-1", keyID: "bench-1", algorithm: algorithm, retireAfter: nil) : nil
        let width =
            switch algorithm.keyType {
            case .secret: 32
            case .rsa: 256
            case .ec, .ed25519: 64
            }
        signature = [UInt8](repeating: 0, count: width)
    }

    func activeKey(of ring: String) -> SigningKeyReference? { key }

    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        Array(repeating: .success(signature), count: requests.count)
    }
}
