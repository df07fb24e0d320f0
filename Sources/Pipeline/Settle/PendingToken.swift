import AdapterKit

/// A token of a batch on its way to its signature.
struct PendingToken: Sendable {
    /// The event's place in the batch.
    let index: Int
    let token: UnsignedToken
    let ticket: Admission.Ticket
    /// When the first of the reports that it answers was made; nil where it answers none.
    var reportedAt: UnixTime?
}

/// A token with its signature, and the record that publishes it.
struct SignedToken: Sendable {
    /// The first bytes of the token's hash.
    let hash: UInt64
    let settlement: Settlement

    /// The token of `draft` with `signature`, sealed where the app says for whom, for the event at `origin`. The hash is the clear token's,
    /// for that is what a device reports.
    ///
    /// - Returns: a `Rejection` with `.mintFailed` where there is no signature, where its hash cannot be made, or where it cannot
    ///   be sealed.
    static func make(
        _ draft: PendingToken, _ signature: [UInt8], _ origin: RecordPosition, _ hasher: SHA256Hasher?
    ) -> Result<SignedToken, Rejection> {
        if signature.isEmpty { return .failure(Rejection(.mintFailed, "the signer gave an empty signature")) }
        if let seal = draft.token.order.app.seal { return sealed(draft, signature, seal, origin, hasher) }
        let (record, place) = draft.token.output(signature: signature, reportedAt: draft.reportedAt)
        guard let hash = hasher?.prefix(of: record.body.bytes, in: place) else { return .failure(noHash) }
        return .success(SignedToken(draft, record, hash: hash, origin))
    }

    private static func sealed(
        _ draft: PendingToken, _ signature: [UInt8], _ seal: TokenSeal, _ origin: RecordPosition,
        _ hasher: SHA256Hasher?
    ) -> Result<SignedToken, Rejection> {
        let clear = draft.token.input.token(signature: signature)
        guard let hash = hasher?.prefix(of: clear, in: clear.indices) else { return .failure(noHash) }
        do throws(JOSEError) {
            let record = draft.token.output(sealed: try seal.seal(clear), by: seal, reportedAt: draft.reportedAt)
            return .success(SignedToken(draft, record, hash: hash, origin))
        } catch {
            return .failure(Rejection(.mintFailed, "the token could not be sealed: \(error.message)"))
        }
    }

    private static let noHash = Rejection(.mintFailed, "libcrypto could not hash the token")

    private init(_ draft: PendingToken, _ record: OutputRecord, hash: UInt64, _ origin: RecordPosition) {
        self.hash = hash
        settlement = Settler.minted(draft, record, at: origin)
    }
}
