import AdapterKit

/// The codes of the SDK's and the server's errors about a token.
enum ExampleChatCode: String, CaseIterable {
    case tokenExpired = "token_expired"
    case tokenInvalid = "token_invalid"
    case tokenMissing = "token_missing"

    /// The code of the server's answer.
    var number: String {
        switch self {
        case .tokenExpired: "4001"
        case .tokenInvalid: "4002"
        case .tokenMissing: "4003"
        }
    }

    /// The fact about the failed token that the code proves.
    var evidence: Evidence {
        switch self {
        case .tokenExpired: .expired
        case .tokenInvalid: .key
        case .tokenMissing: .none
        }
    }

    /// The reaction that the code calls for. Another token does not help against a wrong key more than once.
    var remedy: Remedy {
        switch self {
        case .tokenExpired, .tokenMissing: .mint
        case .tokenInvalid: .mintOnce
        }
    }

    /// The reason and the remedy of every error that is not about the token.
    static let other = (reason: "OTHER", remedy: Remedy.notForUs("the error is not about the token"))

    /// The rows of the table of codes.
    static let rows =
        allCases.map {
            VendorCode(
                $0.rawValue, matches: VendorCode.matches($0.rawValue), evidence: $0.evidence, remedy: $0.remedy)
        } + [VendorCode(other.reason, matches: "any other code", evidence: .none, remedy: other.remedy)]
}
