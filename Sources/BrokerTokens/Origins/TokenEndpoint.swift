import AdapterKit
import AsyncHTTPClient
import Formats
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import VendorLookup

/// An endpoint that is asked for tokens or credentials: rarely, so that no connection is kept.
struct TokenEndpoint: Sendable {
    /// Where it is.
    let url: String
    /// What of it may be said.
    let host: String
    /// The file of the authorities its certificate is checked against; nil for the system's.
    var certificateAuthority: String?
    /// How long an answer may take.
    var timeout = Duration.seconds(10)

    /// The longest answer, in bytes.
    private static let limit = 256 << 10

    /// Asks, and reads the answer's JSON object.
    ///
    /// - Throws: `TokenFailure` where there is no answer, or one with another status than 200. Of such a one no more is said
    ///   than an error's code (RFC 6749, section 5.2).
    func ask(
        _ method: HTTPMethod, headers: [(String, String)] = [], form: [(String, String)]? = nil
    ) async throws(TokenFailure) -> JSONValue {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers = HTTPHeaders([("User-Agent", "remint"), ("Accept", "application/json")] + headers)
        if let form {
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: Self.encoded(form)))
        }
        let (status, body) = try await answer(to: request)
        let json = try? JSONDocument(parsing: body).root
        guard status == 200 else {
            let code = json?["error"]?.string.flatMap { Self.isCode($0) ? ": \($0)" : nil } ?? ""
            throw TokenFailure("\(host) answers with status \(status)\(code)")
        }
        guard let json, json.isObject else {
            throw TokenFailure("\(host) answers with something else than a JSON object")
        }
        return json
    }

    /// `application/x-www-form-urlencoded`, with every character encoded that need not stand for itself.
    static func encoded(_ form: [(String, String)]) -> String {
        form.map { "\(PercentEncoding.encoded($0))=\(PercentEncoding.encoded($1))" }.joined(separator: "&")
    }

    private func answer(to request: HTTPClientRequest) async throws(TokenFailure) -> (status: UInt, body: [UInt8]) {
        let client = try makeClient()
        let answer: Result<(UInt, [UInt8]), TokenFailure>
        do {
            let response = try await client.execute(
                request, deadline: .now() + TimeAmount(timeout), logger: HTTPClient.silence)
            answer = .success(
                (response.status.code, Array(buffer: try await response.body.collect(upTo: Self.limit))))
        } catch is NIOTooManyBytesError {
            answer = .failure(TokenFailure("\(host) answers with more than \(Self.limit) bytes"))
        } catch {
            // An error's own words are never repeated.
            answer = .failure(TokenFailure(LookupErrorText(host: host, timeout: timeout).failure(error).detail))
        }
        try? await client.shutdown()
        return try answer.get()
    }

    private func makeClient() throws(TokenFailure) -> HTTPClient {
        do throws(EndpointError) {
            // Read each time, for it may have been replaced.
            let authorities = try certificateAuthority.map { path throws(EndpointError) in
                try HTTPClient.authorities(in: path)
            }
            return .strict(authorities: authorities, patience: min(timeout, .seconds(5)))
        } catch { throw TokenFailure("\(error)") }
    }

    /// An error's code is one of few words; anything else might be a repetition of what was sent.
    private static func isCode(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count) && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
    }
}
