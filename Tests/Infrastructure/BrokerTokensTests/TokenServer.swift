import AdapterKit
import Formats
import Foundation
import StubServer
import Synchronization
import WorkerConfiguration

/// An authorization server in small (RFC 6749): one client, one grant; what it was asked is kept.
final class TokenServer: VendorStub {
    struct Ask: Sendable {
        let authorization: String?
        let form: [String: String]
        let contentType: String?
    }

    private struct State {
        var asks: [Ask] = []
        var answers: [@Sendable (Int) -> StubResponse] = []
    }

    static let id = "remint:1"
    static let secret = "s3cr3t %&=+/ü"

    let authentication: Configuration.OAuth.Authentication
    private let state = Mutex(State())

    init(_ authentication: Configuration.OAuth.Authentication = .basic) { self.authentication = authentication }

    var asks: [Ask] { state.withLock { $0.asks } }

    /// Answers the next requests so, each once.
    func answer(_ answers: (@Sendable (Int) -> StubResponse)...) { state.withLock { $0.answers += answers } }

    func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
        let form = StubRequest(method: "", target: "/?" + String(decoding: request.body, as: UTF8.self)).query
        let ask = Ask(
            authorization: request.header("authorization"), form: form, contentType: request.header("content-type"))
        return state.withLock { state in
            state.asks.append(ask)
            let number = state.asks.count
            if !state.answers.isEmpty { return state.answers.removeFirst()(number) }
            guard request.method == "POST", request.path == "/token", isClient(ask) else {
                return StubResponse(
                    status: 401, json: #"{"error":"invalid_client","error_description":"no \#(Self.secret)"}"#)
            }
            guard form["grant_type"] == "client_credentials" else {
                return StubResponse(status: 400, json: #"{"error":"unsupported_grant_type"}"#)
            }
            return StubResponse(
                status: 200, json: #"{"access_token":"token-\#(number)","token_type":"Bearer","expires_in":300}"#)
        }
    }

    /// The pair is encoded before it is joined (RFC 6749, section 2.3.1).
    private func isClient(_ ask: Ask) -> Bool {
        switch authentication {
        case .basic:
            let pair = "remint%3A1:s3cr3t%20%25%26%3D%2B%2F%C3%BC"
            return ask.authorization == "Basic \(Data(pair.utf8).base64EncodedString())"
                && ask.form["client_secret"] == nil
        case .post:
            return ask.authorization == nil && ask.form["client_id"] == Self.id
                && ask.form["client_secret"] == Self.secret
        }
    }
}

/// A folder that is gone with the object.
final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Writes a file that takes the place of the one before, whole, and returns its path.
    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        let path = url.appending(path: name).path
        let fresh = path + ".new"
        try Data(text.utf8).write(to: URL(filePath: fresh))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fresh)
        guard rename(fresh, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        return path
    }
}

/// A JWT that nobody signed (RFC 7519, section 6).
func unsecuredJWT(subject: String = "remint", expiry: Int64) -> String {
    let header = Base64.url.encode(Array(#"{"alg":"none"}"#.utf8))
    let claims = Base64.url.encode(Array(#"{"sub":"\#(subject)","iat":1,"exp":\#(expiry)}"#.utf8))
    return "\(header).\(claims)."
}

let now = UnixTime(seconds: 1_800_000_000)
