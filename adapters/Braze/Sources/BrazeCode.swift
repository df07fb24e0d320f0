import AdapterKit

/// Braze's error codes (SDK Authentication page, "Error codes").
enum BrazeCode: Int64, CaseIterable {
    case expirationRequired = 10
    case decodingError = 20
    case subjectMismatch = 21
    case expired = 22
    case invalidPayload = 23
    case incorrectAlgorithm = 24
    case publicKeyError = 25
    case missingToken = 26
    case noMatchingPublicKeys = 27
    case payloadUserIDMismatch = 28

    /// Braze's own name of the code.
    var name: String {
        switch self {
        case .expirationRequired: "EXPIRATION_REQUIRED"
        case .decodingError: "DECODING_ERROR"
        case .subjectMismatch: "SUBJECT_MISMATCH"
        case .expired: "EXPIRED"
        case .invalidPayload: "INVALID_PAYLOAD"
        case .incorrectAlgorithm: "INCORRECT_ALGORITHM"
        case .publicKeyError: "PUBLIC_KEY_ERROR"
        case .missingToken: "MISSING_TOKEN"
        case .noMatchingPublicKeys: "NO_MATCHING_PUBLIC_KEYS"
        case .payloadUserIDMismatch: "PAYLOAD_USER_ID_MISMATCH"
        }
    }

    /// The fact about the failed token that the code proves. Code 10 is a malformed token: ours always have an expiry.
    var evidence: Evidence {
        switch self {
        case .expirationRequired, .decodingError, .invalidPayload, .incorrectAlgorithm, .publicKeyError,
            .noMatchingPublicKeys:
            .key
        case .expired: .expired
        case .subjectMismatch, .missingToken, .payloadUserIDMismatch: .none
        }
    }

    /// The remedy that the code calls for, unless the report shows more.
    var remedy: Remedy {
        switch self {
        case .expirationRequired, .expired, .missingToken: .mint
        case .decodingError, .subjectMismatch, .invalidPayload, .incorrectAlgorithm, .noMatchingPublicKeys: .mintOnce
        case .publicKeyError: .notFixable("the public key uploaded to Braze cannot be parsed; upload it again")
        case .payloadUserIDMismatch:
            .notFixable("one request mixed several users; Braze asks to open a support case")
        }
    }

    /// The remedies by the signer of the failed token, for the codes that a key without a match in Braze may cause; nil
    /// for the other codes. The public key of an older version was deleted at Braze, and a token of the active version
    /// fixes that. The public key of the active version was never uploaded. Braze uses code 20 also for an error of its
    /// own.
    var signerRemedies: SignerRemedies? {
        switch self {
        case .noMatchingPublicKeys:
            SignerRemedies(
                active: .notFixable(
                    "none of the app's public keys in Braze verifies the active version's tokens; upload its public half"
                ),
                older: .mint)
        case .decodingError:
            SignerRemedies(
                active: .notFixable(
                    "Braze cannot decode a token of the active version; if its public half is not in Braze, upload it, else ask Braze"
                ),
                older: .mint)
        default: nil
        }
    }

    /// The rows of the table of codes for this code.
    var rows: [VendorCode] {
        if let signerRemedies {
            return [
                row(remedy, when: "no token of ours in the report"),
                row(signerRemedies.active, when: "a token of the active version"),
                row(signerRemedies.older, when: "a token of an older version"),
                row(.mint, when: Self.optionalMode),
            ]
        }
        switch self {
        case .subjectMismatch:
            return [
                row(remedy, when: "a token of another user, or no token"),
                row(Self.namesUser, when: "a token of the reported user"), row(.mint, when: Self.optionalMode),
            ]
        case _ where remedy == .mintOnce:
            return [row(remedy, when: "Required mode"), row(.mint, when: Self.optionalMode)]
        default: return [row(remedy, when: "")]
        }
    }

    private func row(_ remedy: Remedy, when condition: String) -> VendorCode {
        VendorCode(
            name, matches: VendorCode.matches(String(rawValue)), when: condition, evidence: evidence, remedy: remedy)
    }

    private static let optionalMode = "Optional mode, where Braze refuses nothing"
    /// Code 21 means that `sub` is not the user. If it already is, a new token would have the same `sub`.
    static let namesUser = Remedy.notFixable("the refused token already names the reported user")
    /// The remedy for a code that Braze has not documented, and for a report without a code.
    static let undocumented = Remedy.notFixable("an error code that Braze has not documented")
    /// The name of such a code.
    static let undocumentedName = "UNKNOWN"

    var verdict: VendorVerdict { .refused(code: String(rawValue), name: name) }
}
