/// The limits of requests.
public struct LimitRules: Sendable {
    /// The rate for one subject, over all callers.
    public var subject: RequestRate
    /// The rate of one user, and of one device.
    public var caller: RequestRate
    /// The rate of one backend that has no rate of its own.
    public var backend: RequestRate
    /// The rates of backends that have their own, by their names.
    public var backends: [String: RequestRate] = [:]
    /// The rate of one remote address, which many devices of one network may share. Unknown callers may use three
    /// quarters of it, and of `total`: the rest is for callers who were verified before.
    public var address: RequestRate
    /// The rate of refused requests from one remote address; beyond it, unknown callers are refused unread.
    public var refused: RequestRate
    /// The rate of all requests together.
    public var total: RequestRate
    /// The most subjects and callers watched in one turn (see `RequestLimits`). Memory is for twice as many, some 50
    /// bytes for each.
    public var watched: Int

    /// Rules for limits. By default 5 requests a second for a subject, 20 from a user or a device, 1,000 from a
    /// backend, 200 from an address, 20 refused ones from an address, 5,000 in all; and twice as many at once.
    public init(
        subject: RequestRate = RequestRate(perSecond: 5, burst: 10),
        caller: RequestRate = RequestRate(perSecond: 20, burst: 40),
        backend: RequestRate = RequestRate(perSecond: 1000, burst: 2000),
        address: RequestRate = RequestRate(perSecond: 200, burst: 400),
        refused: RequestRate = RequestRate(perSecond: 20, burst: 40),
        total: RequestRate = RequestRate(perSecond: 5000, burst: 10_000), watched: Int = 100_000
    ) {
        self.subject = subject
        self.caller = caller
        self.backend = backend
        self.address = address
        self.refused = refused
        self.total = total
        self.watched = watched
    }

    /// Returns the rate for `caller`.
    func rate(of caller: Caller) -> RequestRate {
        switch caller {
        case .user, .device, .session: self.caller
        case .backend(let name): backends[name] ?? backend
        case .address, .questions: address
        case .strangers: address.strangersPart
        case .refused: refused
        }
    }

    /// The time without a request after which every bucket is full, in nanoseconds.
    var longestRest: Int64 {
        let backend = backends.values.reduce(backend.credit) { max($0, $1.credit) }
        return max(
            subject.credit, caller.credit, backend, address.credit, address.strangersPart.credit, refused.credit)
    }
}
