import Formats
import HTTPTransport

/// An endpoint that is asked for tokens or credentials: rarely, so that no connection is kept.
package struct TokenEndpoint: Sendable {
    /// The longest time of an answer.
    package static let longestAnswer = Duration.seconds(10)

    /// The endpoint's URL.
    let url: String
    /// The part of the URL that messages may show.
    let host: String
    /// The file of the authorities its certificate is checked against; nil for the system's.
    var certificateAuthority: String?
    /// The longest time for an answer.
    var timeout = longestAnswer

    /// The longest answer, in bytes.
    private static let limit = 256 << 10

    /// Sends a request, and reads the answer's JSON object.
    ///
    /// - Throws: `TokenFailure` where there is no answer, or one with another status than 200. The failure contains no
    ///   more of such an answer than an error's code (RFC 6749, section 5.2).
    func ask(
        _ method: String, headers: [(String, String)] = [], form: [(String, String)]? = nil
    ) async throws(TokenFailure) -> JSONValue {
        var fields = [(name: "Accept", value: "application/json")] + headers.map { (name: $0, value: $1) }
        if form != nil { fields.append((name: "Content-Type", value: "application/x-www-form-urlencoded")) }
        let request = TransportRequest(
            method, url: url, host: host, headers: fields, body: form.map { Array(Self.encoded($0).utf8) },
            reading: .body(upTo: Self.limit))
        let response = try await answer(to: request)
        let (status, body) = (response.status, response.body)
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

    /// Returns the form as `application/x-www-form-urlencoded`, with every character encoded except unreserved ones.
    static func encoded(_ form: [(String, String)]) -> String {
        form.map { "\(PercentEncoding.encoded($0))=\(PercentEncoding.encoded($1))" }.joined(separator: "&")
    }

    private func answer(to request: TransportRequest) async throws(TokenFailure) -> TransportResponse {
        do throws(EndpointError) {
            // Read each time, for it may have been replaced.
            let authorities = try certificateAuthority.map { path throws(EndpointError) in
                try TrustedAuthorities(file: path)
            }
            do throws(TransportError) {
                return try await HTTPTransport.send(request, trusting: authorities, within: timeout)
            } catch { throw EndpointError(error.description) }
        } catch { throw TokenFailure(error.description) }
    }

    /// Returns whether `text` is an error's code. Any other text might repeat the request.
    private static func isCode(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count) && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
    }
}
