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

    var verdict: VendorVerdict { .refused(code: String(rawValue), name: name) }
}
