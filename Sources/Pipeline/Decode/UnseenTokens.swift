package import Records

/// The header by which an edge says that it may have missed tokens of the event's user.
///
/// A worker publishes nothing for an event that a newer token answers: the edge reads that token from the token topic. An edge that
/// began to read a moment ago, or forgot the token, would wait in vain. It names the highest version that it may have missed, and
/// the worker mints a token where the newer one is not above it. The limit of tokens per user and loop window applies all the same,
/// so that the header opens no way around it.
package enum UnseenTokens {
    package static let header = "ce_unseen"

    /// The header for tokens up to `version`.
    package static func header(upTo version: Int64) -> RecordHeader { RecordHeader(header, "\(version)") }
}
