import AdapterKit

/// Whether the token in a report is one of ours, and whose.
///
/// Every version of the ring is tried whatever comes, so that the time it takes says nothing of which one signed.
struct TokenProof {
    let keys: [RingKey]
    let adapter: any Adapter

    /// What a token's signature tells.
    struct Authorship: Sendable, Equatable {
        /// Who signed it.
        let signer: TokenSigner
        /// The id of the version that signed; nil where it is not ours.
        let version: String?
        /// When it ends, in seconds since 1970; nil where it is not ours, or does not say.
        let expiresAt: Int64?

        /// Whether it is unexpired. A device's clock may be ahead as far as it is believed: its word that a token expired is
        /// wrong only where more is left of the token than that.
        func isUnexpired(at now: UnixTime, for evidence: Evidence) -> Bool {
            guard let expiresAt else { return false }
            return expiresAt > now.advanced(byMicroseconds: evidence == .expired ? ObservedTime.bound : 0).seconds
        }

        /// Nobody we answer for.
        static let foreign = Authorship(signer: .foreign, version: nil, expiresAt: nil)
        /// There is no token.
        static let none = Authorship(signer: .none, version: nil, expiresAt: nil)
    }

    /// Who signed `token`, where it is `subject`'s; somebody else's token proves nothing, whoever signed it.
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
