public import JOSE

/// The credentials that a device sends with a request.
public struct DeviceCredentials: Sendable {
    /// The authentication scheme of the session.
    public enum Scheme: Sendable, Hashable {
        /// `Authorization: Bearer` (RFC 6750, section 2.1), or the query's `access_token` (section 2.3).
        case bearer
        /// `Authorization: DPoP` (RFC 9449, section 7.1).
        case dpop
    }

    /// The authentication scheme of the session.
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
    /// The session of the device's user.
    public let session: Session
    /// The proof that it sent, which `DeviceAccess.use` uses up; nil if it sent none.
    public let proof: CheckedProof?
    /// The thumbprint of the key that it proved, which is its name; nil if it proved none.
    public var thumbprint: String? { proof?.thumbprint }

    /// The device itself as a caller, for `RequestLimits`; empty if it proved no key.
    public var callers: [Caller] { thumbprint.map { [.device(thumbprint: $0)] } ?? [] }
}

/// Decides whether a device may call, and for which user.
public struct DeviceAccess: Sendable {
    private let sessions: [SessionVerifier]
    private let proofs: DPoPVerifier
    private let requiresProof: Bool
    private let verified = VerifiedSessions()

    /// - Parameters:
    ///   - sessions: A verifier for each kind of session.
    ///   - proofs: The verifier of proofs. Every `DeviceAccess` of a process shares it, because it remembers proofs.
    ///   - requiresProof: Whether a session must be bound to a key. Such a session always needs a proof.
    public init(sessions: [SessionVerifier], proofs: DPoPVerifier, requiresProof: Bool = false) {
        self.sessions = sessions
        self.proofs = proofs
        self.requiresProof = requiresProof
    }

    /// Returns the session in `credentials`, whose user's limits come next.
    ///
    /// - Parameters:
    ///   - now: the moment, by a clock that is set.
    ///   - deadline: the latest moment to wait until for an issuer's keys; nil for as long as a fetch takes.
    /// - Throws: `AccessRefusal`.
    public func session(
        of credentials: DeviceCredentials?, now: UnixTime, until deadline: ContinuousClock.Instant? = nil
    ) async throws(AccessRefusal) -> Session {
        guard let credentials, !credentials.session.isEmpty else { throw AccessRefusal(.noSession) }
        return try await session(credentials.session, now, deadline)
    }

    /// Returns the device with `credentials`, whose `session` was verified.
    ///
    /// A proof is always checked, and not used up. A session that is bound to a key must come as `DPoP`: as a bearer's
    /// it is refused, with or without a proof (RFC 9449, section 7.2).
    ///
    /// - Throws: `AccessRefusal`.
    public func device(
        _ credentials: DeviceCredentials, of session: Session, for request: ProvenRequest, now: UnixTime
    ) throws(AccessRefusal) -> Device {
        if credentials.proof == nil, requiresProof || credentials.scheme == .dpop {
            throw AccessRefusal(.proofMissing)
        }
        if session.boundKey == nil, requiresProof { throw AccessRefusal(.notBound) }
        if session.boundKey != nil, credentials.scheme == .bearer { throw AccessRefusal(.proofMissing) }
        guard let proof = credentials.proof else { return Device(session: session, proof: nil) }
        let checked = try proofs.check(
            proof, for: request, accessToken: credentials.session, boundTo: session.boundKey, now: now)
        return Device(session: session, proof: checked)
    }

    /// Uses up the proof of `device`, once every limit admits its request.
    ///
    /// - Throws: `AccessRefusal`; see `DPoPVerifier.use`.
    public func use(_ device: Device, now: UnixTime) throws(AccessRefusal) {
        if let proof = device.proof { try proofs.use(proof, now: now) }
    }

    /// Returns whether the issuer has withdrawn the key that signed `session`, as far as it is known.
    public func isWithdrawn(_ session: Session) -> Bool { sessions.contains { $0.isWithdrawn(session) } }

    /// Returns the caller, for `RequestLimits`, of a session that was verified some time ago and has not expired; nil
    /// for any other session. The session may have been withdrawn since.
    public func knownCaller(_ session: [UInt8], now: UnixTime) -> Caller? {
        let name = Self.name(of: session)
        return verified.isKnown(name, at: now) ? .session(fingerprint: name.text) : nil
    }

    /// Forgets the sessions and proofs that count no more at `now`.
    public func sweep(now: UnixTime) {
        verified.sweep(at: now)
        proofs.sweep(at: now)
    }

    private static func name(of session: [UInt8]) -> Fingerprint {
        // A session is ASCII: bytes that are no text become something that no session is.
        Fingerprint(String(decoding: session, as: UTF8.self))
    }

    /// Returns the session in `token`, verified now or within the last half minute.
    private func session(
        _ token: [UInt8], _ now: UnixTime, _ deadline: ContinuousClock.Instant?
    ) async throws(AccessRefusal) -> Session {
        let name = Self.name(of: token)
        if let session = verified.session(name, at: now), !isWithdrawn(session) { return session }
        let session: Session
        do throws(AccessRefusal) { session = try await verify(token, now, deadline) } catch {
            if error.answer == .unauthorised { verified.forget(name) }
            throw error
        }
        verified.found(session, as: name, at: now)
        return session
    }

    /// Returns the session in `token`, by all rules that it satisfies.
    private func verify(
        _ token: [UInt8], _ now: UnixTime, _ deadline: ContinuousClock.Instant?
    ) async throws(AccessRefusal) -> Session {
        var found: Session?
        var refusal = AccessRefusal(.noSession)
        for verifier in sessions {
            do throws(AccessRefusal) {
                let session = try await verifier.verify(token, now: now, until: deadline)
                found?.add(session)
                found = found ?? session
            } catch { refusal = refusal.clearer(error) }
        }
        guard let found else { throw refusal }
        return found
    }
}
