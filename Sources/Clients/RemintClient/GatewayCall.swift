package import Foundation

/// A call of the gateway: the path below the app's address, and the report if the call sends one.
package struct GatewayCall: Sendable, Hashable {
    package let path: String
    package let report: Data?

    /// Returns a call for a token that is valid for at least `life` seconds more.
    package static func token(life: Int) -> GatewayCall { GatewayCall(path: "token?min_life=\(life)", report: nil) }

    /// Returns a call that sends `report` and waits for the token.
    package static func report(_ report: Data) -> GatewayCall { GatewayCall(path: "reports", report: report) }

    /// Makes the call that waits for the token of an accepted report. Returns nil if `body` has no `token_url` with a
    /// query.
    ///
    /// The call uses only the query of `token_url`, so the client never calls another server.
    package init?(pending body: Data) {
        guard let pending = try? JSONDecoder().decode(Pending.self, from: body),
            let query = pending.tokenURL.split(separator: "?", maxSplits: 1).dropFirst().first
        else { return nil }
        self.init(path: "token?\(query)&wait=25", report: nil)
    }

    private init(path: String, report: Data?) {
        self.path = path
        self.report = report
    }

    private struct Pending: Decodable {
        let tokenURL: String

        enum CodingKeys: String, CodingKey { case tokenURL = "token_url" }
    }
}
