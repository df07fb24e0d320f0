/// The limits of requests.
public struct LimitRules: Sendable {
    /// For one subject, whoever asks.
    public var subject: RequestRate
    /// From one user, and from one device.
    public var caller: RequestRate
    /// From one backend that has no rate of its own.
    public var backend: RequestRate
    /// From backends that have one, by their names.
    public var backends: [String: RequestRate] = [:]
    /// From one remote address, which many devices of one network may share.
    public var address: RequestRate
    /// Refused requests from one remote address: beyond it, what is not known already is refused unread.
    public var refused: RequestRate
    /// From all together.
    public var total: RequestRate
    /// The most subjects and callers watched in one turn (see `RequestLimits`). Memory is for twice as many, some 50
    /// bytes for each.
    public var watched: Int

    /// By default 5 a second for a subject, 20 from a user or a device, 1,000 from a backend, 200 from an address, 20
    /// that are refused from an address, 5,000 from all; and twice as many at once.
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

    /// The rate for `caller`.
    func rate(of caller: Caller) -> RequestRate {
        switch caller {
        case .user, .device: self.caller
        case .backend(let name): backends[name] ?? backend
        case .address: address
        case .refused: refused
        }
    }

    /// After this long without a request every bucket is full, in nanoseconds.
    var longestRest: Int64 {
        let backend = backends.values.reduce(backend.credit) { max($0, $1.credit) }
        return max(subject.credit, caller.credit, backend, address.credit, refused.credit)
    }
}
