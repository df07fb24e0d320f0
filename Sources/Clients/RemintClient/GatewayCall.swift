package import Foundation

/// A call of the gateway: its path below the app, and the report, if it sends one.
package struct GatewayCall: Sendable, Hashable {
    package let path: String
    package let report: Data?

    /// A call for a token that lives `life` seconds more.
    package static func token(life: Int) -> GatewayCall { GatewayCall(path: "token?min_life=\(life)", report: nil) }

    /// A call with a report, which waits for the token.
    package static func report(_ report: Data) -> GatewayCall { GatewayCall(path: "reports", report: report) }

    /// The call that waits for the token of an accepted report; nil if `body` is no such answer.
    ///
    /// It has only the query of the answer's address: the client calls no other server.
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
