import AdapterKit

/// Why a Bloomreach token is asked for. The stream's names are Android's; iOS spells the same five differently.
enum BloomreachCode: Equatable {
    case notProvided, aboutToExpire, expired, rejected, insufficient
    /// A customer token's app has none, or one that ends soon.
    case empty, expiring
    /// A customer token was answered with this status.
    case status(Int64)
    /// A code of the token this app does not use.
    case otherMode
    /// A code nobody has documented, or none.
    case other

    init(_ field: ReportField, _ mode: BloomreachSettings.Mode) {
        let stream = field.text.flatMap(Self.stream), customer = Self.customer(field)
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
        case .insufficient: "TOKEN_INSUFFICIENT"
        case .empty: "EMPTY"
        case .expiring: "EXPIRING"
        case .status(let status): "HTTP_\(status)"
        case .otherMode, .other: "UNKNOWN"
        }
    }

    var remedy: Remedy {
        switch self {
        case .notProvided, .aboutToExpire, .expired, .empty, .expiring: .mint
        case .rejected, .status, .otherMode, .other: .mintOnce
        case .insufficient: .notFixable("the token's scope is too small, and a token of ours has no scope to add")
        }
    }

    /// Case, underscores and the dot of a printed Swift case do not matter: apps map or print the names themselves.
    private static func stream(_ text: String) -> BloomreachCode? {
        switch text.lowercased().filter({ $0 != "_" && $0 != "." }) {
        case "tokennotprovided", "notprovided": .notProvided
        case "tokenabouttoexpire", "expiredsoon": .aboutToExpire
        case "tokenexpired", "expired": .expired
        case "tokenrejected", "invalid": .rejected
        case "tokeninsufficient", "insufficient": .insufficient
        default: nil
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
