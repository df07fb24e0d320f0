/// A fault with which the server answers, in place of the vendor's own way.
public enum Misbehaviour: Sendable, Equatable {
    /// No fault: the vendor's answer, at once.
    case none
    /// The vendor's answer, after this time.
    case latency(Duration)
    /// This status for every request, with a body that is no vendor's.
    case status(Int)
    /// 429 for every request; with `Retry-After` in seconds where one is given.
    case throttled(retryAfter: Int?)
    /// A redirect, 307, to this URL.
    case redirect(to: String)
    /// The vendor's status, and an object without a known member.
    case wrongJSON
    /// 200 with a page for people, as portals and load balancers send it.
    case webPage
    /// Bytes that are not HTTP.
    case garbage
    /// A head that never ends: one byte of a header at a time, so long apart.
    case slowHead(every: Duration)
    /// A head, then one byte of a body that never ends, so long apart.
    case slowLoris(every: Duration)
    /// No answer: the server reads the request and sends nothing.
    case silence
    /// The server reads the request and closes the connection.
    case hangUp
    /// The server reads the request and resets the connection.
    case reset
    /// A body that is shorter than its `Content-Length`, and the connection's end.
    case truncated
    /// A body that ends between two chunks, before the last, and the connection's end.
    case truncatedChunks
    /// A body of good JSON of at least `bytes` bytes. Its length is sent first where it is `declared`, else it comes in
    /// chunks.
    case oversized(bytes: Int, declared: Bool)
    /// Headers of `bytes` bytes.
    case oversizedHead(bytes: Int)

    /// A body of ten megabytes in chunks.
    public static var oversized: Misbehaviour { .oversized(bytes: 10 << 20, declared: false) }
    /// A byte of body every fifty milliseconds.
    public static var slowLoris: Misbehaviour { .slowLoris(every: .milliseconds(50)) }
    /// A byte of head every fifty milliseconds.
    public static var slowHead: Misbehaviour { .slowHead(every: .milliseconds(50)) }
}
