import AsyncHTTPClient
public import Formats
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
public import VendorLookup

/// Where what a process tells goes: the base URL of a collector that speaks OTLP over HTTP, and what it wants to see.
public struct Collector: Sendable, CustomStringConvertible, CustomReflectable {
    let url: EndpointURL
    let headers: [(name: String, value: String)]
    let timeout: Duration
    private let authorities: [NIOSSLCertificate]?

    /// - Parameters:
    ///   - headers: what goes with each request; the values may be secrets.
    ///   - certificateAuthority: the file of the authorities its certificate is checked against; nil for the system's.
    ///   - timeout: how long an answer may take.
    /// - Throws: `EndpointError` where the file cannot be used.
    public init(
        _ url: EndpointURL, headers: [(name: String, value: String)], certificateAuthority: String?,
        timeout: Duration
    ) throws(EndpointError) {
        self.url = url
        self.headers = headers
        self.timeout = timeout
        authorities = try certificateAuthority.map { path throws(EndpointError) in
            try HTTPClient.authorities(in: path)
        }
    }

    public var description: String { "the collector at \(url.authority)" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// A client for it. Whoever makes it must shut it down.
    func makeClient() -> HTTPClient {
        .strict(
            authorities: authorities, patience: min(timeout, .seconds(5)),
            pool: .init(idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: 1))
    }

    /// What a request came to.
    struct Reply {
        let answer: ExportPlan.Answer
        /// What did not go well, in a line without secrets; nil where all did.
        var trouble: String?
        /// How many of the things in the request the collector left out.
        var rejected = 0
    }

    /// Sends `body`.
    func send(
        _ body: [UInt8], of signal: ExportPlan.Signal, by client: HTTPClient, within limit: Duration, now: UnixTime
    ) async -> Reply {
        var request = HTTPClientRequest(url: "\(url.text)/v1/\(signal.rawValue)")
        request.method = .POST
        request.headers = HTTPHeaders(headers.map { ($0.name, $0.value) })
        request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
        request.headers.replaceOrAdd(name: "User-Agent", value: "remint")
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let response = try await client.execute(
                request, deadline: .now() + TimeAmount(min(limit, timeout)), logger: HTTPClient.silence)
            let body = try await response.body.collect(upTo: Self.longestAnswer)
            return reply(response.status, response.headers, Array(buffer: body), now)
        } catch {
            // An error's own words are never repeated.
            let text = LookupErrorText(host: url.authority, timeout: timeout).text(of: error)
            return Reply(answer: .busy(), trouble: text)
        }
    }

    private static let longestAnswer = 64 << 10

    private func reply(
        _ status: HTTPResponseStatus, _ headers: HTTPHeaders, _ body: [UInt8], _ now: UnixTime
    ) -> Reply {
        let trouble = "\(url.authority) answers with status \(status.code)"
        switch status.code {
        case 200..<300: return Reply(answer: .accepted, rejected: Self.rejected(in: body))
        // What is worth another try (OTLP 1.x, section "Retryable Response Codes").
        case 429, 502, 503, 504:
            let wish = RetryHeaders(headers, now: now).retryAfter.map { Duration.microseconds($0) }
            return Reply(answer: .busy(retryAfter: wish), trouble: trouble)
        default: return Reply(answer: .refused, trouble: trouble)
        }
    }

    /// How many things a collector says that it left out of a request it took (section "Partial Success").
    private static func rejected(in body: [UInt8]) -> Int {
        guard let root = try? JSONDocument(parsing: body).root, let partial = root["partialSuccess"] else { return 0 }
        let count = partial["rejectedSpans"] ?? partial["rejectedDataPoints"]
        return max(0, count?.string.flatMap { Int($0) } ?? count?.integer.flatMap { Int(exactly: $0) } ?? 0)
    }
}
