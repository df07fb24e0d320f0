import AdapterKit

/// The reaction of a connection to a request. Reactions are values, so that the handler only carries them out.
enum Reaction: Sendable {
    /// Send this answer, and read the next request.
    case answer(StubResponse, after: Duration)
    /// Send these bytes, and end the connection.
    case lastWords([UInt8])
    /// Send these bytes, then one byte at a time without end.
    case drip([UInt8], byte: [UInt8], every: Duration)
    /// Send a JSON text of about `bytes` bytes, and read the next request.
    case flood(bytes: Int, declared: Bool)
    /// Send nothing.
    case silence
    /// Close the connection.
    case close
    /// Reset the connection.
    case reset

    /// The status that the client gets.
    var status: Int? {
        switch self {
        case .answer(let response, _): response.status
        case .lastWords(let bytes), .drip(let bytes, _, _): Self.status(of: bytes)
        case .flood: 200
        case .silence, .close, .reset: nil
        }
    }

    private static func status(of bytes: [UInt8]) -> Int? {
        guard bytes.starts(with: "HTTP/1.1 ".utf8) else { return nil }
        return Int(String(decoding: bytes.dropFirst(9).prefix(3), as: UTF8.self))
    }

    /// The reaction under `misbehaviour` to a request that the vendor would answer with `answer`.
    init(_ misbehaviour: Misbehaviour, _ answer: () -> StubResponse) {
        switch misbehaviour {
        case .none: self = .answer(answer(), after: .zero)
        case .latency(let delay): self = .answer(answer(), after: delay)
        case .status, .throttled, .redirect, .wrongJSON, .webPage:
            self = .answer(Self.response(misbehaviour) ?? answer(), after: .zero)
        case .oversizedHead(let bytes):
            let padding = (name: "x-padding", value: String(repeating: "x", count: 1000))
            let headers = [(name: String, value: String)](repeating: padding, count: max(0, bytes) / 1000 + 1)
            self = .answer(StubResponse(status: 200, headers: headers, json: "{}"), after: .zero)
        case .garbage: self = .lastWords(Array("\u{0}\u{1}this is not a status line\r\n\r\n".utf8))
        case .slowHead(let interval):
            self = .drip(Array("HTTP/1.1 200 OK\r\nx-slow: ".utf8), byte: [UInt8(ascii: "x")], every: interval)
        case .slowLoris(let interval):
            let head = ResponseBytes.head(
                status: 200, headers: [("content-type", "application/json"), ("transfer-encoding", "chunked")])
            self = .drip(head, byte: ResponseBytes.chunk([UInt8(ascii: " ")]), every: interval)
        case .silence: self = .silence
        case .hangUp: self = .close
        case .reset: self = .reset
        case .truncated: self = .lastWords(Self.halfABody(answer()))
        case .truncatedChunks:
            let head = ResponseBytes.head(
                status: 200, headers: [("content-type", "application/json"), ("transfer-encoding", "chunked")])
            self = .lastWords(head + ResponseBytes.chunk(Array("{}".utf8)))
        case .oversized(let bytes, let declared): self = .flood(bytes: max(0, bytes), declared: declared)
        }
    }

    private static func response(_ misbehaviour: Misbehaviour) -> StubResponse? {
        switch misbehaviour {
        case .status(let status): StubResponse(status: status, json: #"{"message":"the server misbehaves"}"#)
        case .throttled(let seconds):
            StubResponse(
                status: 429, headers: seconds.map { [("retry-after", "\($0)")] } ?? [], json: #"{"message":"slower"}"#)
        case .redirect(let target): StubResponse(status: 307, headers: [("location", target)])
        case .wrongJSON: StubResponse(status: 200, json: #"{"weather":{"outlook":["rain",null,17.5]}}"#)
        case .webPage:
            StubResponse(
                status: 200, headers: [("content-type", "text/html")],
                body: Array("<!doctype html><title>Sign in</title>".utf8))
        default: nil
        }
    }

    /// Returns the first half of an answer whose head announces the whole body; at least one byte is missing.
    private static func halfABody(_ answer: StubResponse) -> [UInt8] {
        let head = ResponseBytes.head(
            status: answer.status, headers: answer.headers + [("content-length", "\(answer.body.count + 1)")])
        return head + answer.body.prefix(answer.body.count / 2)
    }
}
