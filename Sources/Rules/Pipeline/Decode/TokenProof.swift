import AdapterKit

/// The check whether the token in a report is one of ours, and whose it is.
///
/// The check tries every version of the ring, so that its duration does not reveal the version that signed.
struct TokenProof {
    let keys: [RingKey]
    let adapter: any Adapter

    /// The result of a check of a token's signature.
    struct Authorship: Sendable, Equatable {
        /// The signer of the token.
        let signer: TokenSigner
        /// The id of the version that signed; nil if it is not ours.
        let version: String?
        /// The token's expiry, in seconds since 1970; nil if the token is not ours, or has none.
        let expiresAt: Int64?

        /// Returns whether the token is unexpired. A device's clock may be ahead by up to the bound, so a report of an
        /// expired token is wrong only if more than the bound is left.
        func isUnexpired(at now: UnixTime, for evidence: Evidence) -> Bool {
            guard let expiresAt else { return false }
            return expiresAt > now.advanced(byMicroseconds: evidence == .expired ? ObservedTime.bound : 0).seconds
        }

        /// The result for a token that is not ours.
        static let foreign = Authorship(signer: .foreign, version: nil, expiresAt: nil)
        /// The result without a token.
        static let none = Authorship(signer: .none, version: nil, expiresAt: nil)
    }

    /// Returns the signer of `token` if the token is `subject`'s. Another user's token proves nothing, whoever signed
    /// it.
    func authorship(of token: FailedToken?, for subject: Subject?) -> Authorship {
        guard case .token(let bytes)? = token else { return .none }
        guard let jws = try? CompactJWS(parsing: bytes) else { return .foreign }
        var author: RingKey?
        for version in keys {
            let isSigned = (try? jws.verify(with: version.key)) != nil
            if isSigned { author = version }
        }
        guard let author, author.signer.isOurs, let subject, let claims = try? jws.claims(),
            let named = adapter.subject(named: claims), named.withoutChallenge == subject.withoutChallenge
        else { return .foreign }
        return Authorship(signer: author.signer, version: author.version, expiresAt: claims["exp"]?.integer)
    }
}
