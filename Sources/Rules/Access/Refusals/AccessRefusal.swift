/// The refusal of a caller. It holds nothing that the caller sent.
public struct AccessRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, with a stable name for metrics and logs.
    public enum Reason: String, Sendable, CaseIterable {
        /// Neither a session nor an API key was shown.
        case noSession = "no_session"
        /// The session is longer than a session may be.
        case tooLarge = "too_large"
        /// The session is not a compact JWS with unique members, or has a claim of the wrong type, or a `crit` (RFC
        /// 7515, section 4.1.11).
        case malformed
        /// The session's `typ` names another kind of token (RFC 8725, section 3.11).
        case wrongType = "wrong_type"
        /// An algorithm that is not allowed for sessions, `none` among them.
        case wrongAlgorithm = "wrong_algorithm"
        /// The issuer has no such key.
        case unknownKey = "unknown_key"
        /// The signature is not the key's.
        case badSignature = "bad_signature"
        /// `iss` is another one's, or missing.
        case wrongIssuer = "wrong_issuer"
        /// `aud` does not name us.
        case wrongAudience = "wrong_audience"
        /// No `exp`: a session that never ends is none.
        case noExpiry = "no_expiry"
        /// `exp` is past.
        case expired
        /// `exp` is ten years ahead or more: its issuer writes milliseconds, and the session would never end.
        case expiryInMilliseconds = "exp_in_milliseconds"
        /// `nbf` or `iat` is yet to come.
        case notYetValid = "not_yet_valid"
        /// The user's claim is missing, empty or not a string.
        case noUser = "no_user"
        /// The session is valid, and its user's id is longer than Remint allows. Another session of that user will not help.
        case userTooLong = "user_too_long"
        /// The session is bound to something that cannot be checked here (RFC 7800), such as a certificate.
        case unknownBinding = "unknown_binding"
        /// A proof is required, and the session is bound to no key: whoever has the session could prove any.
        case notBound = "not_bound"
        /// A proof is required, or the session is bound to a key, and there is no proof (RFC 9449, section 7.1).
        case proofMissing = "proof_missing"
        /// The proof is not a compact JWS of type `dpop+jwt` with the claims of RFC 9449, section 4.2.
        case proofMalformed = "proof_malformed"
        /// The proof's `jwk` is no public key, or its algorithm is not allowed.
        case proofWrongKey = "proof_wrong_key"
        /// The proof is not signed by the key in it.
        case proofBadSignature = "proof_bad_signature"
        /// `htm` or `htu` is another request's.
        case proofWrongRequest = "proof_wrong_request"
        /// `iat` lies too far back or ahead.
        case proofWrongTime = "proof_wrong_time"
        /// `ath` is another session's, or missing.
        case proofWrongSession = "proof_wrong_session"
        /// The session is bound to another key than the proof's.
        case proofMismatch = "proof_mismatch"
        /// The proof was used before.
        case proofReplayed = "proof_replayed"
        /// The proof holds no nonce, or one of another time, and this gateway asks for them.
        case proofWithoutNonce = "proof_without_nonce"
        /// The memory of proofs is full for a while, and a proof that is not remembered could be used twice.
        case proofMemoryFull = "proof_memory_full"
        /// The proof's key has as many proofs in memory as one key may have.
        case tooManyProofs = "too_many_proofs"
        /// The API key is unknown.
        case unknownAPIKey = "unknown_api_key"
        /// There is no such app, or the session does not open it.
        case appNotOpened = "app_not_opened"
        /// The API key is not for this app.
        case appNotAllowed = "app_not_allowed"
        /// The issuer's keys could not be had, or it is unknown yet whether a key is new.
        case keysUnavailable = "keys_unavailable"
        /// A time in the session or the proof does not fit this clock, and this clock may be wrong.
        case clockWrong = "clock_wrong"

        /// Whether the proof was to blame, which is `error="invalid_dpop_proof"` (RFC 9449, section 7.1).
        public var isOfProof: Bool {
            switch self {
            case .proofMissing, .proofMalformed, .proofWrongKey, .proofBadSignature, .proofWrongRequest,
                .proofWrongTime, .proofWrongSession, .proofReplayed, .proofWithoutNonce:
                true
            default: false
            }
        }
    }

    /// The action that a refusal requires of the caller.
    public enum Answer: Sendable, Hashable {
        /// Show other credentials: 401.
        case unauthorised
        /// Ask for something else: 403.
        case forbidden
        /// Have the user named differently: 400. The credentials are valid, and no other session of that user helps.
        case invalid
        /// Ask for another app: 404, whether the app exists or not.
        case notFound
        /// Repeat the request, but not before this time has passed: 503. Its credentials may be valid.
        case later(Duration)
    }

    /// The reason.
    public let reason: Reason
    /// The action that the refusal requires of the caller.
    public let answer: Answer

    /// Whether the caller is to blame, and not the gateway or its limits; such refusals count against the caller's
    /// address. A key that is not known yet counts too: a caller that invents keys must not ask without end.
    public var isFailure: Bool {
        switch reason {
        case .appNotAllowed, .appNotOpened, .proofWithoutNonce, .proofMemoryFull, .tooManyProofs, .clockWrong: false
        default: true
        }
    }

    /// The request has no session.
    public static let noSession = AccessRefusal(.noSession)

    init(_ reason: Reason) {
        self.reason = reason
        answer =
            switch reason {
            case .appNotAllowed: .forbidden
            case .userTooLong: .invalid
            case .appNotOpened: .notFound
            default: .unauthorised
            }
    }

    /// Returns the clearer one of two refusals of one session by different rules. A refusal of the session itself is
    /// clearer than one because it is of another kind, and a refusal that may pass outweighs both.
    func clearer(_ other: AccessRefusal) -> AccessRefusal {
        func weight(_ refusal: AccessRefusal) -> Int {
            switch (refusal.answer, refusal.reason) {
            case (.later, _): 4
            case (_, .noSession): 0
            case (_, .wrongIssuer): 1
            case (_, .wrongAudience): 2
            default: 3
            }
        }
        return weight(other) > weight(self) ? other : self
    }

    /// The refusal of a verifier whose clock may be wrong. A refusal for a time passes with the wrong clock: devices must
    /// not drop a session that may be valid.
    public var byWrongClock: AccessRefusal {
        switch reason {
        case .expired, .notYetValid, .proofWrongTime: AccessRefusal(.clockWrong, retryAfter: .seconds(30))
        default: self
        }
    }

    /// The app that was asked for is not there, or not for the caller.
    public static let appNotOpened = AccessRefusal(.appNotOpened)

    /// A refusal that passes with time. Waits of less than a second become one, because callers get whole seconds.
    init(_ reason: Reason, retryAfter: Duration) {
        self.reason = reason
        answer = .later(max(retryAfter, .seconds(1)))
    }

    /// The code of the reason.
    public var description: String { reason.rawValue }
}
