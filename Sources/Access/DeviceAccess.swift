public import JOSE

/// What a device shows with a request.
public struct DeviceCredentials: Sendable {
    /// How the session was shown.
    public enum Scheme: Sendable, Hashable {
        /// `Authorization: Bearer` (RFC 6750, section 2.1), or the query's `access_token` (section 2.3).
        case bearer
        /// `Authorization: DPoP` (RFC 9449, section 7.1).
        case dpop
    }

    /// How the session was shown.
    public var scheme: Scheme
    /// The session.
    public var session: [UInt8]
    /// The value of the `DPoP` header, if there is one.
    public var proof: [UInt8]?

    /// A session, and a proof where there is one.
    public init(scheme: Scheme, session: [UInt8], proof: [UInt8]? = nil) {
        self.scheme = scheme
        self.session = session
        self.proof = proof
    }
}

/// A device that may ask.
public struct Device: Sendable, Hashable {
    /// Whose it is.
    public let session: Session
    /// The thumbprint of the key it proved, which is its name; nil where it proved none.
    public let thumbprint: String?

    /// Returns the callers for `RequestLimits`, where the app's user is `user`.
    public func callers(as user: String) -> [Caller] {
        [.user(issuer: session.issuer, user: user)] + (thumbprint.map { [.device(thumbprint: $0)] } ?? [])
    }
}

/// Tells whether a device may ask, and for whom.
public struct DeviceAccess: Sendable {
    private let sessions: [SessionVerifier]
    private let proofs: DPoPVerifier
    private let requiresProof: Bool
    private let verified = VerifiedSessions()

    /// - Parameters:
    ///   - sessions: a verifier for each kind of session.
    ///   - proofs: knows proofs. The same one for every `DeviceAccess` of a process: it remembers them.
    ///   - requiresProof: whether a session alone does not do. One that is bound to a key never does.
    public init(sessions: [SessionVerifier], proofs: DPoPVerifier, requiresProof: Bool = false) {
        self.sessions = sessions
        self.proofs = proofs
        self.requiresProof = requiresProof
    }

    /// The device that shows `credentials`.
    ///
    /// A proof that is there is always checked. A session that is bound to a key must come as `DPoP`: as a bearer's it is
    /// refused, be there a proof or not (RFC 9449, section 7.2).
    ///
    /// - Parameters:
    ///   - now: the moment, by a clock that is set.
    /// - Throws: `AccessRefusal`.
    public func verify(
        _ credentials: DeviceCredentials?, for request: ProvenRequest, now: UnixTime
    ) async throws(AccessRefusal) -> Device {
        guard let credentials, !credentials.session.isEmpty else { throw AccessRefusal(.noSession) }
        if credentials.proof == nil, requiresProof || credentials.scheme == .dpop {
            throw AccessRefusal(.proofMissing)
        }
        let session = try await session(credentials.session, now)
        if session.boundKey != nil, credentials.scheme == .bearer { throw AccessRefusal(.proofMissing) }
        guard let proof = credentials.proof else { return Device(session: session, thumbprint: nil) }
        let thumbprint = try proofs.verify(
            proof, for: request, accessToken: credentials.session, boundTo: session.boundKey, now: now)
        return Device(session: session, thumbprint: thumbprint)
    }

    /// The session that `token` is, checked now or within the last half minute.
    private func session(
        _ token: [UInt8], _ now: UnixTime
    ) async throws(AccessRefusal) -> Session {
        // A session is ASCII: bytes that are no text become something that no session is.
        let name = Fingerprint(String(decoding: token, as: UTF8.self))
        if let session = verified.session(name, at: now) { return session }
        let session = try await verify(token, now)
        verified.found(session, as: name, at: now)
        return session
    }

    /// The session that `token` is, by all rules that it satisfies.
    private func verify(_ token: [UInt8], _ now: UnixTime) async throws(AccessRefusal) -> Session {
        var found: Session?
        var refusal = AccessRefusal(.noSession)
        for verifier in sessions {
            do throws(AccessRefusal) {
                let session = try await verifier.verify(token, now: now)
                found?.add(session)
                found = found ?? session
            } catch { refusal = refusal.clearer(error) }
        }
        guard let found else { throw refusal }
        return found
    }
}
