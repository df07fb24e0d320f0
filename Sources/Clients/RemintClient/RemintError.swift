public import Foundation

/// A refusal that another try cannot change. The error contains no token and no session.
public struct RemintError: Error, Sendable, Hashable {
    /// The app of the call.
    public let app: String
    /// The status of the gateway's answer, 400 to 499; 0 if the client itself refuses the call.
    public let status: Int
    /// The gateway's stable code, such as `invalid_session` (401), `identity_mismatch` (403) or `unknown_app` (404).
    ///
    /// Codes of the client: `refused` (a refusal without a code), `no_session` (the `session` function returned nil),
    /// `invalid_report` (the report is not a JSON object) and `closed` (`close()` was called).
    public let code: String
    /// The gateway's explanation; nil without one.
    public let detail: String?

    package init(app: String, status: Int = 0, code: String, detail: String? = nil) {
        self.app = app
        self.status = status
        self.code = code
        self.detail = detail
    }

    /// Reads the problem in the body of a refusal (RFC 9457). For an answer of another server, keeps only the status.
    package init(app: String, status: Int, body: Data) {
        let problem = try? JSONDecoder().decode(Problem.self, from: body)
        let isCode = problem?.code.wholeMatch(of: /[a-z_]+/) != nil
        self.init(
            app: app, status: status, code: isCode ? problem?.code ?? "refused" : "refused",
            detail: isCode ? problem?.detail : nil)
    }

    private struct Problem: Decodable {
        let code: String
        let detail: String?
    }

    private var remedy: String {
        switch (code, status) {
        case ("closed", _): "make a new client"
        case ("no_session", _): "return the user's session; call close() at sign-out"
        case ("invalid_report", _), (_, 400): "send the report as the SDK gave it, a JSON object"
        case (_, 401): "return a valid session of the signed-in user"
        case (_, 403): "report for the signed-in user alone"
        case (_, 404): "compare the address and the app with pickup.apps of the gateway"
        default: "remint codes lists the codes"
        }
    }
}

extension RemintError: LocalizedError, CustomStringConvertible {
    /// The app, the status, the code and a remedy.
    public var description: String {
        let name = status > 0 ? "\(status) \(code)" : code
        return [app, name, detail, remedy].compactMap(\.self).joined(separator: ": ")
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}
