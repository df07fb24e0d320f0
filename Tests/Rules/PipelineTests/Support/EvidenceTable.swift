import AdapterKit

/// The evidence of each code of each declared vendor, by hand: a code that is added to a file needs a place here.
enum EvidenceTable {
    /// The evidence of each code by vendor and name.
    static var declared: [String: [String: Evidence]] {
        var table: [String: [String: Evidence]] = [:]
        for line in text.split(separator: "\n") {
            let cells = line.split(separator: "|").map { String($0.trimming) }
            guard cells.count == 3, let evidence = Evidence(rawValue: cells[1]) else { continue }
            for code in cells[2].split(separator: ",") {
                table[cells[0], default: [:]][String(code.trimming)] = evidence
            }
        }
        return table
    }

    private static let text = """
        ably | key | TOKEN_UNRECOGNISED, INVALID_JWT, KEY_ERROR, KEY_REVOKED, KEY_EXPIRED
        ably | expired | TOKEN_EXPIRED
        ably | revoked | TOKEN_REVOKED
        ably | none | TOKEN_ERROR, CLIENT_ID_MISMATCH, CAPABILITY_DENIED, CLIENT_ID_REQUIRED, TTL_TOO_LONG
        ably | none | CLIENT_CALLBACK_FAILED, NO_CLIENT_CALLBACK, ACCOUNT_LIMIT, OTHER, AUTH_CALLBACK
        alchemer | key | INVALID_TOKEN, MALFORMED_TOKEN, INVALID_ALGORITHM, MISSING_SUB_CLAIM
        alchemer | expired | EXPIRED_TOKEN
        alchemer | revoked | REVOKED_TOKEN
        alchemer | none | MISMATCHED_SUB_CLAIM, INVALID_SUB_CLAIM, MISSING_APP_KEY, MISSING_APP_SIGNATURE
        alchemer | none | INVALID_KEY_SIGNATURE_PAIR, UNKNOWN
        centrifugo | key | invalid token
        centrifugo | expired | token expired, expired, connection expired, subscription expired
        centrifugo | none | state invalidated, unauthorized, permission denied, bad request, OTHER, GET_TOKEN
        intercom | key | BAD_REQUEST
        intercom | none | IDENTITY_VERIFICATION, OTHER, TOKEN_REQUESTED
        iterable | key | AUTH_TOKEN_SIGNATURE_INVALID, AUTH_TOKEN_FORMAT_INVALID, AUTH_TOKEN_PAYLOAD_INVALID
        iterable | expired | AUTH_TOKEN_EXPIRED
        iterable | revoked | AUTH_TOKEN_INVALIDATED
        iterable | none | AUTH_TOKEN_MISSING, AUTH_TOKEN_NULL, AUTH_TOKEN_GENERATION_ERROR
        iterable | none | AUTH_TOKEN_GENERIC_ERROR, AUTH_TOKEN_EXPIRATION_INVALID, AUTH_TOKEN_USER_KEY_INVALID
        iterable | none | UNKNOWN
        knock | key | invalid_user_token, missing_jwt_signing_key
        knock | none | incorrect_token_type, OTHER, USER_TOKEN_EXPIRING
        livekit | key | invalid API key, invalid authorization token
        livekit | none | permissions denied, OTHER, TOKEN_REQUESTED
        moengage | key | DECRYPTION_FAILED, HEADER_TYPE_INCOMPATIBLE, PAYLOAD_CONTENT_MISSING, INVALID_SIGNATURE
        moengage | expired | TIME_CONSTRAINT_FAILURE
        moengage | none | TOKEN_NOT_AVAILABLE, IDENTIFIER_MISMATCH, UNKNOWN
        powersync | key | PSYNC_S2101, PSYNC_S2102
        powersync | expired | PSYNC_S2103
        powersync | none | PSYNC_S2104, PSYNC_S2105, PSYNC_S2106, PSYNC_S22, OTHER, FETCH_CREDENTIALS
        pusher-beams | key | Forbidden
        pusher-beams | none | Unauthorized, Bad Request, Not Found, Unprocessable Entity, OTHER, FETCH_TOKEN
        salesforce-miaw | key | Malformed
        salesforce-miaw | expired | Expired
        salesforce-miaw | none | Initial, Refresh, None, OTHER, CHALLENGE
        sinch | none | CREDENTIALS_REQUIRED, USER_REGISTRATION_FAILED, CLIENT_FAILED, OTHER
        stream | key | AuthErrorTokenSignatureInvalid
        stream | expired | AuthErrorTokenExpired
        stream | none | AuthErrorTokenNotValidYet, AuthErrorTokenUsedBeforeIssuedAt, AccessKeyError
        stream | none | AuthenticationFailed, AppSuspended, OTHER, LOAD_TOKEN
        talkjs | none | TOKEN_REQUESTED, UNKNOWN
        tiptap | expired | JWT verification failed
        tiptap | none | permission-denied, OTHER, TOKEN_REQUESTED
        twilio | key | AUTHENTICATION_FAILED, ACCESS_TOKEN_INVALID, SIGNATURE_VALIDATION_FAILED
        twilio | expired | ACCESS_TOKEN_EXPIRED
        twilio | none | CONNECTION_ERROR, EXPIRATION_TIME_EXCEEDS_MAXIMUM, NO_VALID_ACCOUNT, OTHER
        twilio | none | TOKEN_WILL_EXPIRE
        zendesk | key | invalid_auth, ON_INVALID_AUTH
        zendesk | expired | expired
        zendesk | none | OTHER
        """
}

extension Substring {
    fileprivate var trimming: Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
