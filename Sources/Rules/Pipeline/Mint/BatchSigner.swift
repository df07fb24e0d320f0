import AdapterKit

/// Signs the drafts of a batch, chunk by chunk, while the worker begins the next events. Builds the records that
/// publish them, on one thread per processor.
struct BatchSigner: Sendable {
    /// The maximum number of events that are read together, and signed together by a signer that accepts concurrent
    /// calls.
    private static let chunk = 400

    fileprivate static let noAnswer = Rejection(.mintFailed, "the signer gave no answer")

    let signing: any SigningPort
    /// The number of parts into which the last step of a chunk is split.
    let cores: Int

    /// Returns the chunks of a batch of `count` events.
    static func chunks(of count: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: chunk).map { $0..<min($0 + chunk, count) }
    }

    /// Signs `drafts` and returns their records. Each record depends on its own signature only.
    ///
    /// - Parameter reports: the time of the first report that each draft answers; nil if it answers none.
    func sign(_ drafts: [Draft], answering reports: [UnixTime?], _ urgency: SigningUrgency) async -> SignedDrafts {
        let signatures = await signing.sign(drafts.map(\.signingRequest), urgency: urgency)
        return await SignedDrafts(drafts.count, chunks: cores, with: { try? SHA256Hasher() }) { place, hasher in
            guard place < signatures.count else { return .failure(Self.noAnswer) }
            switch signatures[place] {
            case .success(let signature): return drafts[place].signed(signature, reportedAt: reports[place], hasher)
            case .failure(let rejection): return .failure(rejection)
            }
        }
    }
}

/// The record of each signed draft, with the first bytes of its token's hash.
typealias SignedDrafts = ParallelMap<Result<(hash: UInt64, record: OutputRecord), Rejection>>

/// Drafts that were signed together, from place `first` on.
struct SignedChunk: Sendable {
    let first: Int
    let drafts: SignedDrafts
}

/// A batch's signed drafts by their places.
struct SignedBatch: Sendable {
    private let chunks: [SignedChunk]

    init(_ chunks: [SignedChunk]) { self.chunks = chunks.sorted { $0.first > $1.first } }

    subscript(place: Int) -> Result<(hash: UInt64, record: OutputRecord), Rejection> {
        for chunk in chunks where chunk.first <= place { return chunk.drafts[place - chunk.first] }
        return .failure(BatchSigner.noAnswer)
    }

    /// Returns the reason that the draft at `place` was not signed; nil if it was signed.
    func failure(_ place: Int) -> Rejection? {
        if case .failure(let rejection) = self[place] { rejection } else { nil }
    }
}
