import AdapterKit

/// The reason that a Bloomreach token is asked for. The stream's first four names are Android's and the wrappers'; iOS
/// spells them differently and alone has the fifth.
enum BloomreachCode: Equatable {
    case notProvided, aboutToExpire, expired, rejected, insufficient
    /// A 401 on iOS, or an App Inbox that has no token and asks for nothing.
    case invalid
    /// A customer token's app has none, or one that ends soon.
    case empty, expiring
    /// A customer token was answered with this status.
    case status(Int64)
    /// A code of the token this app does not use.
    case otherMode
    /// A code nobody has documented, or none.
    case other

    init(_ field: ReportField, _ mode: BloomreachSettings.Mode) {
        let stream = Self.stream(field), customer = Self.customer(field)
        self =
            switch mode {
            case .stream: stream ?? (customer == nil ? .other : .otherMode)
            case .customerToken: customer ?? (stream == nil ? .other : .otherMode)
            }
    }

    var isKnown: Bool { self != .other }

    var name: String {
        switch self {
        case .notProvided: "TOKEN_NOT_PROVIDED"
        case .aboutToExpire: "TOKEN_ABOUT_TO_EXPIRE"
        case .expired: "TOKEN_EXPIRED"
        case .rejected: "TOKEN_REJECTED"
        case .invalid: "INVALID"
        case .insufficient: "TOKEN_INSUFFICIENT"
        case .empty: "EMPTY"
        case .expiring: "EXPIRING"
        case .status(let status): "HTTP_\(status)"
        case .otherMode, .other: "UNKNOWN"
        }
    }

    /// The fact about the failed token that the code proves. `TOKEN_REJECTED` is any 401 that is not an expiry. The iOS
    /// SDK reports `invalid` also where it has no token and sends no request. A 403 is the scope's or the customer's, and
    /// an undocumented code proves nothing.
    var evidence: Evidence {
        switch self {
        case .rejected, .status(401): .key
        case .expired: .expired
        case .notProvided, .aboutToExpire, .invalid, .insufficient, .empty, .expiring, .status, .otherMode, .other:
            .none
        }
    }

    var remedy: Remedy {
        switch self {
        case .notProvided, .aboutToExpire, .expired, .empty, .expiring: .mint
        case .rejected, .invalid, .status, .otherMode, .other: .mintOnce
        case .insufficient: .notFixable("the token's scope is too small, and a token of ours has no scope to add")
        }
    }

    /// The Web SDK asks for a token after a 401 and reports nothing else. For a stream token, a 401 means that it was
    /// rejected. Elsewhere the code is a name.
    private static func stream(_ field: ReportField) -> BloomreachCode? {
        field.integerValue == 401 ? .rejected : field.text.flatMap(stream)
    }

    /// Case and underscores do not matter, nor what stands before the last dot: apps map the names, or print them, as
    /// Swift's `.expired` and Dart's `SdkAuthErrorCode.tokenExpired`.
    private static func stream(_ text: String) -> BloomreachCode? {
        let bytes = text.utf8
        guard bytes.count <= 256 else { return nil }
        let name = bytes.lastIndex(of: UInt8(ascii: ".")).map { bytes[bytes.index(after: $0)...] } ?? bytes[...]
        switch String(Substring(name)).lowercased().filter({ $0 != "_" }) {
        case "tokennotprovided", "notprovided": return .notProvided
        case "tokenabouttoexpire", "expiredsoon": return .aboutToExpire
        case "tokenexpired", "expired": return .expired
        case "tokenrejected": return .rejected
        case "invalid": return .invalid
        case "tokeninsufficient", "insufficient": return .insufficient
        default: return nil
        }
    }

    private static func customer(_ field: ReportField) -> BloomreachCode? {
        if let status = field.integerValue { return status == 401 || status == 403 ? .status(status) : nil }
        switch field.text?.lowercased() {
        case "empty": return .empty
        case "expiring": return .expiring
        default: return nil
        }
    }
}
