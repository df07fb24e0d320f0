package import Records

/// The header of an edge that may have missed tokens of the event's user.
///
/// A worker publishes nothing for an event that a newer token answers: the edge reads that token from the token topic.
/// An edge that has just begun to read, or has dropped the token, would wait in vain. It names the highest version that
/// it may have missed, and the worker mints a token unless the newer one is above that version. The limit of tokens per
/// user and loop window still applies, so the header does not bypass it.
package enum UnseenTokens {
    package static let header = "ce_unseen"

    /// Returns the header for tokens up to `version`.
    package static func header(upTo version: Int64) -> RecordHeader { RecordHeader(header, "\(version)") }
}
