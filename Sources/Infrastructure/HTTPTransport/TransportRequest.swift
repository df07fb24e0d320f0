import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// A request of the program's own.
package struct TransportRequest: Sendable {
    /// The part of an answer that is read.
    package enum Reading: Sendable, Equatable {
        /// The whole body; a body of more bytes is refused.
        case body(upTo: Int)
        /// The head alone, whatever its status.
        case head
    }

    let method: String
    let url: String
    /// The part of the URL that errors name: neither path nor query.
    let host: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]?
    let reading: Reading

    /// A request with these headers, and the program's own name.
    ///
    /// - Parameters:
    ///   - url: the whole URL.
    ///   - host: the part of it that errors name.
    package init(
        _ method: String = "GET", url: String, host: String,
        headers: [(name: String, value: String)] = [], body: [UInt8]? = nil, reading: Reading
    ) {
        self.method = method
        self.url = url
        self.host = host
        self.headers = headers
        self.body = body
        self.reading = reading
    }

    /// The request as the library wants it.
    var message: HTTPClient.Request {
        get throws {
            var fields = HTTPHeaders(headers.map { ($0.name, $0.value) })
            fields.replaceOrAdd(name: "User-Agent", value: "remint")
            // Nothing here decompresses.
            fields.replaceOrAdd(name: "Accept-Encoding", value: "identity")
            return try HTTPClient.Request(
                url: url, method: HTTPMethod(rawValue: method), headers: fields,
                body: body.map { .byteBuffer(ByteBuffer(bytes: $0)) })
        }
    }
}
