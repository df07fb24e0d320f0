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

    init(_ pending: PendingToken, _ signature: [UInt8], _ origin: Origin) {
        let token = pending.request.input.token(signature: signature)
        hash = TokenHash(of: token).prefix
        settlement = Settlement(
            origin: origin, eventID: pending.token.event.id, app: pending.token.app.name, outcome: .minted,
            output: pending.token.output(of: token), algorithm: pending.token.algorithm)
    }
}
