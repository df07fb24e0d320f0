import AdapterKit

/// Responses as HTTP/1.1 writes them (RFC 9112). They are written by hand, because a proper encoder refuses the faults
/// that the server must make here.
enum ResponseBytes {
    /// Returns the whole `response`, with its `Content-Length`.
    static func whole(_ response: StubResponse, isHead: Bool, isLast: Bool) -> [UInt8] {
        var headers = response.headers
        // Neither has a body, nor a length (RFC 9110, section 8.6).
        let isBodiless = response.status == 204 || response.status == 304
        if !isBodiless { headers.append(("content-length", "\(response.body.count)")) }
        if isLast { headers.append(("connection", "close")) }
        return head(status: response.status, headers: headers) + (isHead || isBodiless ? [] : response.body)
    }

    /// Returns the status line and the headers, with the empty line at their end.
    static func head(status: Int, headers: [(name: String, value: String)]) -> [UInt8] {
        var text = "HTTP/1.1 \(status) \(reasons[status] ?? "Status \(status)")\r\n"
        for header in headers { text += "\(withoutBreaks(header.name)): \(withoutBreaks(header.value))\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// Returns `bytes` as a chunk.
    static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    /// The chunk that ends a body.
    static let lastChunk = Array("0\r\n\r\n".utf8)

    /// Returns `text` without line breaks: a stub may repeat a request's text, and a header ends with its line.
    private static func withoutBreaks(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\r" && $0 != "\n" }))
    }

    private static let reasons = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 301: "Moved Permanently", 302: "Found",
        304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
        401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 408: "Request Timeout", 413: "Content Too Large",
        422: "Unprocessable Content", 429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout",
    ]
}
