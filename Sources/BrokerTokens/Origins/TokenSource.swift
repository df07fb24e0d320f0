package import Formats
package import JOSE
package import Kafka

/// Where tokens come from.
package protocol TokenSource: Sendable {
    /// Another token, or the same where there is no newer one. It ends within some twenty seconds.
    ///
    /// - Throws: `TokenFailure` where there is none to get.
    func token(at now: UnixTime) async throws(TokenFailure) -> BearerToken

    /// What changes when somebody else made another token; nil where nobody does.
    var revision: FileRevision? { get }
}

extension TokenSource {
    package var revision: FileRevision? { nil }
}

/// Why there is no token: place and remedy in one line, and nothing that a token, a secret or an answer said.
package struct TokenFailure: Error, Sendable, Equatable {
    package let message: String

    package init(_ message: String) { self.message = message }
}
