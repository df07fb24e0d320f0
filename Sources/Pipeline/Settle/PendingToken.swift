import AdapterKit

/// A token of a batch on its way to its signature.
struct PendingToken: Sendable {
    /// The event's place in the batch.
    let index: Int
    let token: UnsignedToken
    let ticket: Admission.Ticket
}

/// A token with its signature, and the record that publishes it.
struct SignedToken: Sendable {
    /// The first bytes of the token's hash.
    let hash: UInt64
    let settlement: Settlement

    private init(hash: UInt64, settlement: Settlement) {
        self.hash = hash
        self.settlement = settlement
    }

    /// `token` with `signature`, for the event at `origin`.
    ///
    /// - Returns: a `Rejection` with `.mintFailed` where there is no signature, or where its hash cannot be made.
    static func make(
        _ token: UnsignedToken, _ signature: [UInt8], _ origin: RecordPosition, _ hasher: SHA256Hasher?
    ) -> Result<SignedToken, Rejection> {
        if signature.isEmpty { return .failure(Rejection(.mintFailed, "the signer gave an empty signature")) }
        let (record, place) = token.output(signature: signature)
        guard let hash = hasher?.prefix(of: record.body.bytes, in: place) else {
            return .failure(Rejection(.mintFailed, "libcrypto could not hash the token"))
        }
        let settlement = Settlement(
            token.order.event, at: origin, app: token.order.app.name, outcome: .minted, output: record,
            algorithm: token.key.algorithm)
        return .success(SignedToken(hash: hash, settlement: settlement))
    }
}
