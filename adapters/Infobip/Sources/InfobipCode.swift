import AdapterKit

/// The reason that an Infobip token is asked for.
enum InfobipCode: Equatable {
    case expired, structureInvalid
    /// Made by the app, as in Infobip's own sample.
    case accessTokenMissing, generic
    /// The server's refusal.
    case unauthorized, forbidden
    /// An error that is not about the token.
    case other

    /// The domain of the server's answers on iOS. Its number is the answer's `messageId`, 0 where that is not one.
    static let backendDomain = "com.mobile-messaging.backend"
    /// The domain of the SDK's own errors on iOS.
    static let deviceDomain = "com.mobile-messaging"

    var name: String {
        switch self {
        case .expired: "JWT_TOKEN_EXPIRED"
        case .structureInvalid: "JWT_TOKEN_STRUCTURE_INVALID"
        case .accessTokenMissing: "ACCESS_TOKEN_MISSING"
        case .generic: "JWT_GENERIC_ERROR"
        case .unauthorized: "UNAUTHORIZED"
        case .forbidden: "FORBIDDEN"
        case .other: "OTHER"
        }
    }

    /// The fact about the failed token that the code proves. The server gives no reason for a 401, but the SDK has checked
    /// the expiry before it sends a token. A 403 may be the profile's setting that forbids changes, and `JWT_GENERIC_ERROR` is
    /// the app's own word for any failure.
    var evidence: Evidence {
        switch self {
        case .structureInvalid, .unauthorized: .key
        case .expired: .expired
        case .accessTokenMissing, .generic, .forbidden, .other: .none
        }
    }

    var remedy: Remedy {
        switch self {
        case .expired, .accessTokenMissing: .mint
        case .structureInvalid, .generic, .unauthorized, .forbidden: .mintOnce
        case .other: .notForUs("the error is not about the token")
        }
    }

    /// The rows of the table of codes.
    static let rows: [VendorCode] = [
        InfobipCode.expired.row(VendorCode.matches("JWT_TOKEN_EXPIRED", "20014", "11")),
        InfobipCode.structureInvalid.row(
            VendorCode.matches("JWT_TOKEN_STRUCTURE_INVALID", "20013", "10", "12", "13", "14", "15", "16")),
        InfobipCode.accessTokenMissing.row(VendorCode.matches("ACCESS_TOKEN_MISSING")),
        InfobipCode.generic.row(VendorCode.matches("JWT_GENERIC_ERROR")),
        InfobipCode.unauthorized.row(
            VendorCode.matches("UNAUTHORIZED", "401") + ", `0` of the domain `\(backendDomain)`"),
        InfobipCode.forbidden.row(VendorCode.matches("FORBIDDEN", "403")),
        InfobipCode.other.row("any other code, no code"),
    ]

    private func row(_ matches: String) -> VendorCode {
        VendorCode(name, matches: matches, evidence: evidence, remedy: remedy)
    }

    /// The code in `field`: a name, the older SDKs' numbers as text, or iOS's numbers, which mean something in the SDK's
    /// own domain alone.
    init(_ field: ReportField, domain: @autoclosure () -> String?) {
        if let number = field.integerValue {
            self = Self.numbered(number, domain: domain())
        } else {
            self = field.text.map(Self.named) ?? .other
        }
    }

    private static func named(_ name: String) -> InfobipCode { known(name) ?? known(name.uppercased()) ?? .other }

    private static func known(_ name: String) -> InfobipCode? {
        [.expired, .structureInvalid, .accessTokenMissing, .generic, .unauthorized, .forbidden].first {
            $0.name == name
        }
    }

    private static func numbered(_ number: Int64, domain: String?) -> InfobipCode {
        switch (number, domain) {
        case (20014, _): .expired
        case (20013, _): .structureInvalid
        case (401, _): .unauthorized
        case (403, _): .forbidden
        case (0, .some(backendDomain)): .unauthorized
        case (11, nil), (11, .some(deviceDomain)): .expired
        case (10...16, nil), (10...16, .some(deviceDomain)): .structureInvalid
        default: .other
        }
    }
}
