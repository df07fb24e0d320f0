package import Formats
package import JOSE
package import Kafka

/// A source of tokens.
package protocol TokenSource: Sendable {
    /// Returns a new token, or the same where there is no newer one. It returns within some twenty seconds.
    ///
    /// - Throws: `TokenFailure` where there is no token.
    func token(at now: UnixTime) async throws(TokenFailure) -> BearerToken

    /// A revision that changes when another program makes another token; nil for a source whose tokens no other program
    /// makes.
    var revision: FileRevision? { get }
}

extension TokenSource {
    package var revision: FileRevision? { nil }
}

/// The reason that there is no token: place and remedy in one line. It holds no part of a token, a secret or an answer.
package struct TokenFailure: Error, Sendable, Equatable {
    package let message: String

    package init(_ message: String) { self.message = message }
}
