import Synchronization

/// Token buckets: one for each subject and caller, and one for all requests.
///
/// A bucket is one number, the moment at which it is full again; a full bucket needs no entry. So the buckets are in
/// two tables that take turns. When the younger one has been filled for as long as the slowest bucket takes, every
/// bucket in the older one is full again, and is forgotten without a change. Only an admitted request makes a bucket,
/// and the bucket for all limits their number: by default 20,000 in a turn, with room for 100,000. A table that is full
/// nevertheless is replaced early; the limit for all still applies then.
///
/// Each request costs the same, however many buckets there are. A value without a clock.
public struct RequestLimits: Sendable {
    /// The decision about a request.
    public enum Answer: Sendable, Hashable {
        case allowed
        /// The request is refused, and would be refused until this time has passed.
        case later(Duration)
    }

    private let rules: LimitRules
    private let origin: ContinuousClock.Instant
    private var total = Int64.min
    /// The bucket of all unknown callers' requests, which are in `total` too.
    private var strangers = Int64.min
    private var younger: [Fingerprint: Int64] = [:]
    private var older: [Fingerprint: Int64] = [:]
    private var turn: Int64 = 0

    /// Limits by `rules`, with all buckets full at `origin`.
    public init(_ rules: LimitRules = LimitRules(), at origin: ContinuousClock.Instant) {
        self.rules = rules
        self.origin = origin
    }

    /// The number of buckets.
    public var count: Int { younger.count + older.count }

    /// Asks for one request of all `callers`, for `subject` where one is known. The request takes from every bucket or
    /// from none: a request that one limit refuses uses up no other.
    ///
    /// - Parameters:
    ///   - hasArrived: whether another question counts the request in the bucket for all.
    ///   - isStranger: whether the request is an unknown caller's, which leaves a part of each shared bucket to others.
    public mutating func ask(
        _ callers: [Caller], subject: String? = nil, hasArrived: Bool = false, isStranger: Bool = false,
        at now: ContinuousClock.Instant
    ) -> Answer {
        let now = nanoseconds(at: now)
        takeTurns(at: now)
        var buckets = callers.map { (name: Self.name(of: $0), rate: rules.rate(of: $0)) }
        if let subject { buckets.append((Fingerprint("subject", subject), rules.subject)) }
        var wait = hasArrived ? 0 : Self.wait(total, rules.total, now)
        let isStranger = isStranger && !hasArrived
        if isStranger { wait = max(wait, Self.wait(strangers, rules.total.strangersPart, now)) }
        for bucket in buckets { wait = max(wait, Self.wait(fullAt(bucket.name), bucket.rate, now)) }
        guard wait <= 0 else { return .later(.nanoseconds(wait)) }
        if !hasArrived { total = Self.taken(total, rules.total, now) }
        if isStranger { strangers = Self.taken(strangers, rules.total.strangersPart, now) }
        for bucket in buckets { younger[bucket.name] = Self.taken(fullAt(bucket.name), bucket.rate, now) }
        return .allowed
    }

    /// Returns how long `caller` has to wait for its next request, without taking one; zero or less if it has not.
    public func wait(of caller: Caller, at now: ContinuousClock.Instant) -> Duration {
        .nanoseconds(Self.wait(fullAt(Self.name(of: caller)), rules.rate(of: caller), nanoseconds(at: now)))
    }

    /// Forgets the buckets that are full again at `now`.
    public mutating func sweep(at now: ContinuousClock.Instant) { takeTurns(at: nanoseconds(at: now)) }

    // MARK: Buckets

    private func fullAt(_ name: Fingerprint) -> Int64 { younger[name] ?? older[name] ?? .min }

    /// Returns the nanoseconds until a bucket has credit for a request; 0 or less if it has.
    private static func wait(_ fullAt: Int64, _ rate: RequestRate, _ now: Int64) -> Int64 {
        max(fullAt, now) - now + rate.cost - rate.credit
    }

    private static func taken(_ fullAt: Int64, _ rate: RequestRate, _ now: Int64) -> Int64 {
        max(fullAt, now) + rate.cost
    }

    private mutating func takeTurns(at now: Int64) {
        let rest = rules.longestRest
        guard now - turn >= rest || younger.count >= rules.watched else { return }
        older = now - turn >= rest * 2 ? [:] : younger
        younger = [:]
        turn = now
    }

    private static func name(of caller: Caller) -> Fingerprint {
        switch caller {
        case .user(let issuer, let user): Fingerprint("user", issuer, user)
        case .device(let thumbprint): Fingerprint("device", thumbprint)
        case .backend(let name): Fingerprint("backend", name)
        case .session(let fingerprint): Fingerprint("session", fingerprint)
        case .address(let address): Fingerprint("address", address)
        case .strangers(let address): Fingerprint("strangers", address)
        case .questions(let address): Fingerprint("questions", address)
        case .refused(let address): Fingerprint("refused", address)
        }
    }

    /// Nanoseconds since the beginning, never before it, and less than a century: sums of a few cannot overflow.
    private func nanoseconds(at now: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = origin.duration(to: now).components
        return min(max(seconds, 0), 3_000_000_000) * 1_000_000_000 + max(attoseconds, 0) / 1_000_000_000
    }
}

/// The limits of requests.
public struct LimitRules: Sendable {
    /// The rate for one subject, over all callers.
    public var subject = RequestRate(perSecond: 5, burst: 10)
    /// The rate of one user, and of one device.
    public var caller = RequestRate(perSecond: 20, burst: 40)
    /// The rate of one backend that has no rate of its own.
    public var backend = RequestRate(perSecond: 1000, burst: 2000)
    /// The rates of backends that have their own, by their names.
    public var backends: [String: RequestRate] = [:]
    /// The rate of one remote address, which many devices of one network may share. Unknown callers may use three
    /// quarters of it, and of `total`: the rest is for callers who were verified before.
    public var address = RequestRate(perSecond: 200, burst: 400)
    /// The rate of refused requests from one remote address; beyond it, unknown callers are refused unread.
    public var refused = RequestRate(perSecond: 20, burst: 40)
    /// The rate of all requests together.
    public var total = RequestRate(perSecond: 5000, burst: 10_000)
    /// The most subjects and callers watched in one turn (see `RequestLimits`). Memory is for twice as many, some 50
    /// bytes for each.
    public var watched = 100_000

    /// The default rules.
    public init() {}

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

/// A rate of requests a second, and a burst of requests after a rest.
public struct RequestRate: Sendable, Hashable {
    /// Nanoseconds that each request costs.
    let cost: Int64
    /// Nanoseconds that may be owed: the cost of `burst` requests.
    let credit: Int64

    private init(cost: Int64, credit: Int64) { (self.cost, self.credit) = (cost, credit) }

    /// Three quarters of the rate and of the burst: the part that unknown callers may use of a shared limit.
    var strangersPart: RequestRate {
        // With a third more for each request the same credit is for three quarters of them. At least one is possible.
        RequestRate(cost: cost + cost / 3, credit: max(credit, cost + cost / 3))
    }

    /// A rate.
    ///
    /// - Parameters:
    ///   - perSecond: The rate, from one in a quarter of an hour, 0.001, to a million.
    ///   - burst: The burst, from 1 to a million. Values outside are set to the nearest bound.
    public init(perSecond: Double, burst: Int) {
        let rate = perSecond.isNaN ? 0.001 : min(max(perSecond, 0.001), 1e6)
        cost = Int64(1e9 / rate)
        // At most 10^12 times 10^6.
        credit = cost * Int64(min(max(burst, 1), 1_000_000))
    }
}

/// `RequestLimits` for many threads, with a clock.
public final class SharedLimits: Sendable {
    private let limits: Mutex<RequestLimits>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Limits by `rules`.
    ///
    /// - Parameter now: a clock that nobody sets.
    public init(_ rules: LimitRules = LimitRules(), now: @escaping @Sendable () -> ContinuousClock.Instant) {
        limits = Mutex(RequestLimits(rules, at: now()))
        self.now = now
    }

    /// Asks for one request of all `callers`, for `subject` where one is known.
    ///
    /// - Parameters:
    ///   - hasArrived: whether another question counts the request in the bucket for all.
    ///   - isStranger: whether the request is an unknown caller's, which leaves a part of each shared bucket to others.
    @discardableResult
    public func ask(
        _ callers: [Caller], subject: String? = nil, hasArrived: Bool = false, isStranger: Bool = false
    ) -> RequestLimits.Answer {
        let now = now()
        return limits.withLock {
            $0.ask(callers, subject: subject, hasArrived: hasArrived, isStranger: isStranger, at: now)
        }
    }

    /// Forgets the buckets that are full again.
    public func sweep() {
        let now = now()
        limits.withLock { $0.sweep(at: now) }
    }

    /// Returns how long `caller` has to wait for its next request, without taking one; zero or less if it has not.
    public func wait(of caller: Caller) -> Duration {
        let now = now()
        return limits.withLock { $0.wait(of: caller, at: now) }
    }
}
