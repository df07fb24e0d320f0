import Testing

@testable import Access

@Suite("Refusals")
struct RefusalTests {
    @Test func `the names of reasons stay what they are`() {
        #expect(
            AccessRefusal.Reason.allCases.map(\.rawValue) == [
                "no_session", "too_large", "malformed", "wrong_type", "wrong_algorithm", "unknown_key", "bad_signature",
                "wrong_issuer", "wrong_audience", "no_expiry", "expired", "exp_in_milliseconds",
                "not_yet_valid", "no_user", "user_too_long", "unknown_binding", "not_bound",
                "proof_missing", "proof_malformed", "proof_wrong_key", "proof_bad_signature", "proof_wrong_request",
                "proof_wrong_time", "proof_wrong_session", "proof_mismatch", "proof_replayed", "proof_without_nonce",
                "proof_memory_full",
                "too_many_proofs", "unknown_api_key", "app_not_opened", "app_not_allowed", "keys_unavailable",
                "clock_wrong",
            ])
    }

    @Test func `only a refusal that passes with time is answered with later, a second at least`() {
        #expect(AccessRefusal(.expired).answer == .unauthorised)
        #expect(AccessRefusal(.appNotAllowed).answer == .forbidden)
        #expect(AccessRefusal(.userTooLong).answer == .invalid)
        #expect(AccessRefusal(.keysUnavailable, retryAfter: .seconds(7)).answer == .later(.seconds(7)))
        #expect(AccessRefusal(.keysUnavailable, retryAfter: .milliseconds(7)).answer == .later(.seconds(1)))
    }

    @Test func `a verifier with a wrong clock refuses nothing for good because of a time`() {
        let passing = AccessRefusal.Reason.allCases.map { AccessRefusal($0) }.filter { $0.byWrongClock != $0 }
        #expect(passing.map(\.reason) == [.expired, .notYetValid, .proofWrongTime])
        #expect(passing.allSatisfy { $0.byWrongClock.answer == .later(.seconds(30)) && !$0.byWrongClock.isFailure })
    }

    @Test func `a binding that does not fit is the session's fault, not the proof's`() {
        let ofProof = AccessRefusal.Reason.allCases.filter(\.isOfProof)
        #expect(ofProof.allSatisfy { $0.rawValue.hasPrefix("proof_") })
        #expect(!AccessRefusal.Reason.proofMismatch.isOfProof && !AccessRefusal.Reason.proofMemoryFull.isOfProof)
    }
}
