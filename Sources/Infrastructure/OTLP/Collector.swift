public import Formats
public import HTTPTransport

/// The destination of a process's spans: the base URL of a collector that speaks OTLP over HTTP, and the headers it
/// wants.
public struct Collector: Sendable, CustomStringConvertible, CustomReflectable {
    let url: EndpointURL
    let headers: [(name: String, value: String)]
    let timeout: Duration
    private let authorities: TrustedAuthorities?

    /// - Parameters:
    ///   - headers: the headers of each request; the values may be secrets.
    ///   - certificateAuthority: the file of the authorities its certificate is checked against; nil for the system's.
    ///   - timeout: the longest time for an answer.
    /// - Throws: `EndpointError` where the file cannot be used.
    public init(
        _ url: EndpointURL, headers: [(name: String, value: String)], certificateAuthority: String?,
        timeout: Duration
    ) throws(EndpointError) {
        self.url = url
        self.headers = headers
        self.timeout = timeout
        authorities = try certificateAuthority.map { path throws(EndpointError) in
            try TrustedAuthorities(file: path)
        }
    }

    /// The collector by its address, without credentials.
    public var description: String { "the collector at \(url.authority)" }
    /// Nothing: a dump or a mirror shows no member.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Returns a transport to the collector, which its maker closes.
    func makeTransport() -> HTTPTransport { HTTPTransport(trusting: authorities, limit: timeout) }

    struct Reply {
        let answer: ExportPlan.Answer
        /// The failure, in a line without secrets; nil where all went well.
        var trouble: String?
        /// The number of spans in the request that the collector left out.
        var rejected = 0
    }

    /// Sends the spans of `body`. Ends within `limit` and within the collector's own timeout.
    func send(
        _ body: [UInt8], by transport: HTTPTransport, within limit: Duration, now: UnixTime
    ) async -> Reply {
        let own = [(name: "Content-Type", value: "application/json")]
        let request = TransportRequest(
            "POST", url: "\(url.text)/v1/traces", host: url.authority,
            headers: headers.filter { $0.name.lowercased() != "content-type" } + own, body: body,
            reading: .body(upTo: Self.longestAnswer))
        do throws(TransportError) {
            let response = try await transport.send(request, within: min(limit, timeout))
            return reply(response, now)
        } catch { return Reply(answer: Self.answer(to: error), trouble: error.description) }
    }

    /// Returns the plan's answer for a failed exchange. A redirect refuses the request; after any other failure the
    /// collector counts as busy.
    private static func answer(to error: TransportError) -> ExportPlan.Answer {
        if case .redirected = error.reason { return .refused }
        return .busy()
    }

    private static let longestAnswer = 64 << 10

    private func reply(_ response: TransportResponse, _ now: UnixTime) -> Reply {
        let trouble = "\(url.authority) answers with status \(response.status)"
        switch response.status {
        case 200..<300: return Reply(answer: .accepted, rejected: Self.rejected(in: response.body))
        // What is worth another try (OTLP 1.x, section "Retryable Response Codes").
        case 429, 502, 503, 504:
            let wish = RetryHeaders(response.headers, now: now).retryAfter.map { Duration.microseconds($0) }
            return Reply(answer: .busy(retryAfter: wish), trouble: trouble)
        default: return Reply(answer: .refused, trouble: trouble)
        }
    }

    /// Returns the number of spans that a collector left out of a request it accepted (section "Partial Success").
    private static func rejected(in body: [UInt8]) -> Int {
        guard let root = try? JSONDocument(parsing: body).root, let partial = root["partialSuccess"] else { return 0 }
        let count = partial["rejectedSpans"]
        return max(0, count?.string.flatMap { Int($0) } ?? count?.integer.flatMap { Int(exactly: $0) } ?? 0)
    }
}
