import AdapterKit

/// A Braze SDK's report in any of its spellings.
///
/// Web, Swift, Android, React Native, Cordova, Unity and Flutter each name the same four values differently; Flutter
/// hands them over as JSON text. Of a code's aliases the first that holds a value wins; those of the user must agree.
struct BrazeReport {
    private let report: Report
    /// The levels around `report`, beside it and inside it.
    private let otherLevels: [Report]
    private let enforcement: BrazeSettings.Enforcement

    init(_ report: Report, enforcement: BrazeSettings.Enforcement) {
        self.enforcement = enforcement
        var levels = Self.levels(of: report)
        let read = levels.count > 1 ? levels.remove(at: 1) : levels.removeFirst()
        self.report = read
        otherLevels = levels
    }

    var reading: Reading {
        guard report.root.isObject else { return malformed("the report is not a JSON object") }
        let user = report.user("userId", "user_id", "UserId", alsoIn: otherLevels)
        let code: BrazeCode?
        switch report.field("errorCode", "error_code", "code", "ErrorCode") {
        case .absent, .null:
            if report.hasMembers(besides: Self.members) || namesNobody {
                return malformed("the report has no Braze error code; is it another vendor's?")
            }
            code = nil
        case let field:
            guard let number = field.integerValue else { return malformed("the error code is not a number") }
            code = BrazeCode(rawValue: number)
        }
        switch user {
        case .unusable(let rejection): return .rejected(rejection)
        case .anonymous:
            return .failure(
                AuthenticationFailure(
                    subject: nil, reason: name(of: code), evidence: evidence(of: code),
                    remedy: .notForUs("anonymous user")))
        case .identified(let id): return failure(of: id, code)
        }
    }

    /// Whether no level has a member for the user.
    private var namesNobody: Bool {
        ([report] + otherLevels).allSatisfy { $0.field("userId", "user_id", "UserId") == .absent }
    }

    /// The token that failed: a secret, which goes on as a `FailedToken` and is printed nowhere. Cordova's Android bridge can
    /// write a missing one as the text "null".
    private var failedToken: String? {
        report.field("signature", "original_signature", "Signature").text.flatMap { $0 == "null" ? nil : $0 }
    }

    /// Whether the app's enforcement is Optional: Braze reports the token and accepts the request. Swift reports the
    /// flag since 13.0.0. Wrappers of such a version report the failure without the flag, and the setting counts.
    private var isOptional: Bool { report.root["optional"]?.flag ?? (enforcement == .optional) }

    private func failure(of user: String, _ code: BrazeCode?) -> Reading {
        let token = failedToken
        let remedy = remedy(for: code, user, token)
        return .failure(
            AuthenticationFailure(
                subject: Subject(user: user), reason: name(of: code), evidence: evidence(of: code),
                // What Braze let pass is no sign of a loop.
                remedy: isOptional && remedy == .mintOnce ? .mint : remedy,
                signerRemedies: code?.signerRemedies,
                failedToken: token.map(FailedToken.init), hadNoToken: code == .missingToken, isEnforced: !isOptional))
    }

    private func remedy(for code: BrazeCode?, _ user: String, _ token: String?) -> Remedy {
        guard let code else { return BrazeCode.undocumented }
        if code == .subjectMismatch, let token,
            user.hasSameBytes(as: TokenInspection(Array(token.utf8)).claims?["sub"]?.string)
        {
            return BrazeCode.namesUser
        }
        return code.remedy
    }

    private func name(of code: BrazeCode?) -> String { code?.name ?? BrazeCode.undocumentedName }

    /// A code that Braze has not documented proves nothing.
    private func evidence(of code: BrazeCode?) -> Evidence {
        let evidence = code?.evidence ?? .none
        guard evidence == .key else { return evidence }
        return ["reason", "errorReason", "error_reason", "message", "Reason"].reduce(evidence) {
            $0.given(text: report.field($1).text)
        }
    }

    private func malformed(_ detail: String) -> Reading { .rejected(Rejection(.malformedReport, detail)) }

    /// Every member some SDK or bridge sends.
    private static let members: Set<String> = [
        "errorCode", "error_code", "code", "reason", "errorReason", "error_reason", "message", "userId", "user_id",
        "signature", "original_signature", "optional", "requestInitiationTime",
        // As C# serializes an object.
        "ErrorCode", "Reason", "UserId", "Signature", "RequestInitiationTime",
    ]

    // MARK: Levels

    /// The names under which bridges and apps wrap the SDK's object, the bridges' first.
    private static let wrappers = ["sdkAuthenticationError", "error"]
    /// The number of levels at which objects within objects are looked for. A bridge wraps once.
    private static let depth = 3

    /// The report and the objects wrapped in it, outermost first; the second is the SDK's own. Flutter's is JSON text, under
    /// a name or bare.
    private static func levels(of report: Report) -> [Report] {
        var levels = [report.root.string.flatMap(Report.parse).map(report.with(root:)) ?? report]
        var level = levels[...]
        for _ in 0..<depth {
            let inside = level.flatMap { outer in
                wrappers.compactMap { outer.root[$0].flatMap(object).map(outer.with(root:)) }
            }
            levels += inside
            level = inside[...]
        }
        return levels
    }

    /// The object `value` is or holds as text; nil where there is none.
    private static func object(_ value: JSONValue) -> JSONValue? {
        guard let object = value.isObject ? value : value.string.flatMap(Report.parse), object.isObject else {
            return nil
        }
        return object
    }
}
