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
        ably | key | TOKEN_UNRECOGNISED, INVALID_JWT, INVALID_ABLY_TOKEN, KEY_ERROR, KEY_REVOKED, KEY_EXPIRED
        ably | expired | TOKEN_EXPIRED
        ably | revoked | TOKEN_REVOKED
        ably | none | TOKEN_ERROR, INVALID_CREDENTIALS, CLIENT_ID_MISMATCH, CAPABILITY_DENIED, CLIENT_ID_REQUIRED
        ably | none | TTL_TOO_LONG, CLIENT_CALLBACK_FAILED, NO_CLIENT_CALLBACK, ACCOUNT_LIMIT, OTHER, AUTH_CALLBACK
        alchemer | key | INVALID_TOKEN, MALFORMED_TOKEN, INVALID_ALGORITHM, MISSING_SUB_CLAIM
        alchemer | expired | EXPIRED_TOKEN
        alchemer | revoked | REVOKED_TOKEN
        alchemer | none | MISMATCHED_SUB_CLAIM, INVALID_SUB_CLAIM, MISSING_APP_KEY, MISSING_APP_SIGNATURE
        alchemer | none | INVALID_KEY_SIGNATURE_PAIR, UNKNOWN
        centrifugo | key | invalid token
        centrifugo | expired | token expired, expired, connection expired, subscription expired
        centrifugo | none | state invalidated, unauthorized, permission denied, bad request, OTHER, GET_TOKEN
        ckeditor | none | token-refresh-failed, token-not-in-jwt-format, OTHER, TOKEN_REQUESTED
        daily | expired | exp-token
        daily | none | nbf-token, not-allowed, OTHER, TOKEN_REQUESTED
        dynamics-omnichannel | none | TOKEN_REQUESTED, WIDGET_ERROR
        featurebase | none | TOKEN_REQUESTED, UNKNOWN
        firebase-custom-token | none | auth/invalid-custom-token, auth/custom-token-mismatch, auth/user-disabled, OTHER, TOKEN_REQUESTED
        freshchat | expired | TOKEN_EXPIRED
        freshchat | none | TOKEN_NOT_SET, TOKEN_INVALID, TOKEN_NOT_PROCESSED, TOKEN_VALID, not_authenticated, OTHER
        freshchat | none | TOKEN_REQUESTED
        helpshift | key | INVALID_IDENTITY_TOKEN, IAT_IS_MANDATORY, IDENTITIES_KEY_ABSENT
        helpshift | none | USER_SESSION_EXPIRED, REFRESH_USER_CREDENTIALS, UID_OR_EMAIL_IS_MANDATORY, CONFIG_JWT_MISMATCH
        helpshift | none | IDENTITIES_DATA_INVALID, IDENTITIES_SIZE_LIMIT_EXCEEDED, IDENTITY_FEATURE_NOT_ENABLED
        helpshift | none | LOGIN_CONFIG_INVALID, UNKNOWN_ERROR, OTHER, LOGIN_REQUESTED
        hundredms | key | Invalid Access Key, Bad JWT Token, invalidTokenFormat
        hundredms | none | Invalid Room Id, Invalid Role, Invalid User Id, Token Error, Room Mismatched with Token
        hundredms | none | OTHER, TOKEN_REQUESTED
        infobip-live-chat | key | ski
        infobip-live-chat | none | JWT_PROVIDER_ERROR, alg, iat, exp, WIDGET_AUTHENTICATION, OTHER, PROVIDE_JWT
        intercom | key | BAD_REQUEST
        intercom | none | UNAUTHORIZED, IDENTITY_VERIFICATION, OTHER, TOKEN_REQUESTED
        iterable | key | AUTH_TOKEN_SIGNATURE_INVALID, AUTH_TOKEN_FORMAT_INVALID, AUTH_TOKEN_PAYLOAD_INVALID
        iterable | expired | AUTH_TOKEN_EXPIRED
        iterable | revoked | AUTH_TOKEN_INVALIDATED
        iterable | none | AUTH_TOKEN_MISSING, AUTH_TOKEN_NULL, AUTH_TOKEN_GENERATION_ERROR, AUTH_TOKEN_GENERIC_ERROR
        iterable | none | AUTH_TOKEN_EXPIRATION_INVALID, AUTH_TOKEN_USER_KEY_INVALID, UNKNOWN, TOKEN_REQUESTED
        jaas | none | TOKEN_REQUESTED, UNKNOWN
        jitsi | expired | connection.token_expired
        jitsi | none | connection.passwordRequired, OTHER, TOKEN_REQUESTED
        knock | key | invalid_user_token, missing_jwt_signing_key
        knock | none | missing_user_token, incorrect_token_type, OTHER, USER_TOKEN_EXPIRING
        kustomer | none | TOKEN_REQUESTED, LOGIN_FAILED
        livekit | key | invalid API key, invalid authorization token
        livekit | expired | token expired
        livekit | none | token not valid yet, permissions denied, OTHER, TOKEN_REQUESTED
        magicbell | key | Unauthorized
        magicbell | none | Forbidden, OTHER, TOKEN_REQUESTED
        mapkit-js | none | TOKEN_REQUESTED, INITIALIZATION_FAILED
        metabase | none | TOKEN_REQUESTED, AUTHENTICATION_FAILED
        moengage | key | DECRYPTION_FAILED, HEADER_TYPE_INCOMPATIBLE, PAYLOAD_CONTENT_MISSING, INVALID_SIGNATURE
        moengage | expired | TIME_CONSTRAINT_FAILURE
        moengage | none | TOKEN_NOT_AVAILABLE, IDENTIFIER_MISMATCH, UNKNOWN
        powersync | key | PSYNC_S2101, PSYNC_S2102
        powersync | expired | PSYNC_S2103
        powersync | none | PSYNC_S2104, PSYNC_S2105, PSYNC_S2106, PSYNC_S22, OTHER, FETCH_CREDENTIALS
        pusher-beams | key | Forbidden
        pusher-beams | none | Token used before issued
        pusher-beams | none | Unauthorized, Bad Request, Not Found, Unprocessable Entity, OTHER, FETCH_TOKEN
        salesforce-miaw | key | Malformed
        salesforce-miaw | expired | Expired
        salesforce-miaw | none | Initial, Refresh, None, OTHER, CHALLENGE
        sinch | none | CREDENTIALS_REQUIRED, USER_REGISTRATION_FAILED, CLIENT_FAILED, OTHER
        stream | key | AuthErrorTokenSignatureInvalid, AuthenticationError, InvalidToken
        stream | expired | AuthErrorTokenExpired
        stream | none | AuthErrorTokenNotValidYet, AuthErrorTokenUsedBeforeIssuedAt, AccessKeyError
        stream | none | UNAUTHORIZED
        stream | none | UndefinedToken, AuthenticationFailedError, AppSuspendedError, OTHER, LOAD_TOKEN
        stringee | expired | TOKEN_EXPIRED
        stringee | none | TOKEN_WILL_EXPIRE, REQUEST_NEW_TOKEN, CONNECTION_ERROR, TOKEN_REQUESTED
        supabase | key | PGRST301, bad_jwt, MalformedJWT
        supabase | expired | token expired
        supabase | none | token from the future, JWT not in audience, PGRST303, InvalidJWTToken, no token, PGRST300
        supabase | none | OTHER, ACCESS_TOKEN
        tableau | key | CONNECTED_APP_SECRET_NOT_FOUND, BAD_JWT
        tableau | none | SYSTEM_USER_NOT_FOUND, LOGIN_FAILED, FEATURE_NOT_ENABLED, CONNECTED_APP_NOT_FOUND
        tableau | none | CONNECTED_APP_DISABLED, JWT_PARSE_ERROR, TOKEN_REQUESTED, LOAD_FAILED
        talkjs | none | TOKEN_REQUESTED, UNKNOWN
        tinymce | key | invalid token
        tinymce | none | insufficient permissions, UNKNOWN, TOKEN_REQUESTED
        tiptap | expired | JWT verification failed
        tiptap | none | permission-denied, OTHER, TOKEN_REQUESTED
        twilio | key | AUTHENTICATION_FAILED, ACCESS_TOKEN_INVALID, ACCESS_TOKEN_HEADER_INVALID
        twilio | key | ACCESS_TOKEN_ISSUER_INVALID, SIGNATURE_VALIDATION_FAILED
        twilio | expired | ACCESS_TOKEN_EXPIRED
        twilio | none | ACCESS_TOKEN_NOT_YET_VALID, ACCESS_TOKEN_GRANTS_INVALID, AUTHORIZATION_TOKEN_MISSING
        twilio | none | ACCESS_TOKEN_REJECTED
        twilio | none | CONNECTION_ERROR, EXPIRATION_TIME_EXCEEDS_MAXIMUM, NO_VALID_ACCOUNT, OTHER, TOKEN_WILL_EXPIRE
        vonage-client | key | invalid-token
        vonage-client | expired | expired-token
        vonage-client | none | missing-token, authorization_error, OTHER, TOKEN_REQUESTED, SESSION_ERROR
        watson-web-chat | expired | identityTokenExpired
        watson-web-chat | none | UNKNOWN, TOKEN_REQUESTED
        zendesk | none | invalid_auth, LoginFailedError, ON_INVALID_AUTH
        zendesk | expired | expired
        zendesk | none | OTHER
        zoom-video | none | SESSION_FETCH_INFO_ERROR, SESSION_ROLE_TYPE_ERROR, SESSION_INCORRECT_PASSCODE
        zoom-video | none | SESSION_USER_REMOVED, SESSION_ENDED, OTHER, TOKEN_REQUESTED, JOIN_FAILED
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
