package import AdapterKit
package import Pipeline

/// A record of the token topic, read for a `LedgerTable`. That needs no table, so that many records can be read at once.
package enum LedgerRecord: Sendable {
    /// A record of a subject that is not meant.
    case elsewhere
    /// A record that is no replacement token.
    case stranger
    /// A record that has the form of a replacement token and cannot be read.
    case unreadable
    /// A record without a value.
    case tombstone(SubjectHash)
    /// A token.
    case token(SubjectHash, Token)

    /// The parts of a token that a table keeps.
    package struct Token: Sendable {
        let label: TokenLabel
        let version, issuedAt, expiresAt: Int64
        let isChallengeBound: Bool
    }

    /// Reads `record` at the time `now` for a table of the subjects of `slice`.
    package init(_ record: RecordBody, in slice: LedgerSlice, at now: UnixTime) {
        guard let key = record.key else {
            self = slice.isFirst ? .stranger : .elsewhere
            return
        }
        let hash = SubjectHash(key)
        guard slice.contains(hash) else {
            self = .elsewhere
            return
        }
        guard record.hasValue else {
            self = .tombstone(hash)
            return
        }
        do throws(RecordFault) {
            let token = try TokenRecord(record, at: now)
            self = .token(
                hash,
                Token(
                    label: token.label, version: token.version, issuedAt: token.issuedAt, expiresAt: token.expiresAt,
                    isChallengeBound: token.isChallengeBound))
        } catch { self = error == .foreign ? .stranger : .unreadable }
    }
}
