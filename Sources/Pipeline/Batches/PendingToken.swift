import AdapterKit

/// An event on its way to a token: by reference, for it goes through many hands.
final class PendingToken: Sendable {
    /// The event's place in the batch.
    let index: Int
    let request: SigningRequest
    let token: ReplacementToken
    let ticket: Admission.Ticket

    init(_ index: Int, _ minting: Minter.Draft, _ ticket: Admission.Ticket) {
        self.index = index
        request = minting.request
        token = minting.token
        self.ticket = ticket
    }
}

/// A token with its signature, and the record that publishes it.
struct FinishedToken: Sendable {
    /// The first bytes of the token's hash.
    let hash: UInt64
    let settlement: Settlement

    private init(hash: UInt64, settlement: Settlement) {
        self.hash = hash
        self.settlement = settlement
    }

    /// `pending` with `signature`.
    ///
    /// - Returns: a `Rejection` with `.mintFailed` where there is no signature, or where its hash cannot be made.
    static func make(
        _ pending: PendingToken, _ signature: [UInt8], _ origin: Origin, _ hasher: SHA256Hasher?
    ) -> Result<FinishedToken, Rejection> {
        if signature.isEmpty { return .failure(Rejection(.mintFailed, "the signer gave an empty signature")) }
        let (record, token) = pending.token.output(of: pending.request.input, signature: signature)
        guard let hash = hasher?.prefix(of: record.contents.bytes, in: token) else {
            return .failure(Rejection(.mintFailed, "libcrypto could not hash the token"))
        }
        let settlement = Settlement(
            origin: origin, eventID: pending.token.event.id, app: pending.token.app.name, outcome: .minted,
            output: record, algorithm: pending.token.algorithm)
        return .success(FinishedToken(hash: hash, settlement: settlement))
    }
}
