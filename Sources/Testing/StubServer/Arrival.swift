public import AdapterKit

/// A request that reached the server, whole. Its headers are not kept: they hold credentials.
public struct Arrival: Sendable {
    /// The time at which the request was complete, on a clock that only goes forward: for measuring rates.
    public let instant: ContinuousClock.Instant
    /// The time at which the request was complete, by the clock that the server was given.
    public let time: UnixTime
    /// The method, such as `GET`.
    public let method: String
    /// Path and query as they were sent.
    public let target: String
    /// The status that is answered; nil where nothing is answered that has one.
    public let status: Int?
}

/// The counts of the server's work so far.
public struct StubTraffic: Sendable, Equatable {
    /// Requests that arrived whole.
    public internal(set) var requests = 0
    /// The most requests that were unanswered at one time.
    public internal(set) var mostRequestsAtOnce = 0
    /// Requests that are unanswered now.
    public internal(set) var openRequests = 0
    /// Connections that were accepted.
    public internal(set) var connections = 0
    /// Connections that are open now.
    public internal(set) var openConnections = 0
    /// Bytes that were handed to the sockets, TLS included.
    public internal(set) var bytesSent = 0
}
