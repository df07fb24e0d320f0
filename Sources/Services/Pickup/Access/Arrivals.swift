import Access
import AdapterKit
import Formats

/// The limits on requests: those of their addresses, of all requests together, and of each caller.
///
/// A caller is known by a session that was verified before, or by an API key; everybody else is a stranger. A quarter of
/// each shared limit is for known callers, so strangers cannot use it up. A known caller's own limits come first, and a
/// request that they refuse counts in no shared one. An address with many refused requests has to wait, but for known
/// callers.
struct Arrivals: Sendable {
    /// A request that was admitted so far, with the shared limits that it still has to be counted in.
    struct Admitted: Sendable {
        fileprivate let shared: [Caller]
        /// Whether it was counted in the limits of its address and of all requests.
        fileprivate var isCounted: Bool
    }

    let devices: DeviceAccess?
    let backends: APIKeys
    let limits: SharedLimits
    let now: @Sendable () -> UnixTime
    /// Called with the reason of each refusal.
    let refused: @Sendable (String) -> Void

    /// Counts a request with `credentials` from `address`: a stranger's in the shared limits, a known caller's in that
    /// caller's own.
    ///
    /// - Throws: `Problem` where there were too many requests.
    @discardableResult
    func admit(_ credentials: ShownCredentials, from address: IPAddress?) throws(Problem) -> Admitted {
        let name = address.map { $0.network.description }
        if let backend = credentials.apiKey.flatMap({ backends.key($0) }) {
            try settle(limits.ask([.backend(name: backend.name)], hasArrived: true))
            return Admitted(shared: [], isCounted: false)
        }
        // With an API key, a session does not count.
        if credentials.apiKey == nil, let session = credentials.device?.session,
            let caller = devices?.knownCaller(session, now: now())
        {
            try settle(limits.ask([caller], hasArrived: true))
            return Admitted(shared: name.map { [.address($0)] } ?? [], isCounted: false)
        }
        guard let name else {
            try settle(limits.ask([], isStranger: true))
            return Admitted(shared: [], isCounted: true)
        }
        let wait = limits.wait(of: .refused(address: name))
        if wait > .zero {
            refused("too_many_refused")
            throw Problem.tooManyRequests(wait)
        }
        try settle(limits.ask([.address(name), .strangers(address: name)], isStranger: true))
        return Admitted(shared: [], isCounted: true)
    }

    /// Counts a request in the limits of the users of `session`, which was verified.
    ///
    /// - Throws: `Problem` where there were too many requests.
    func admit(_ session: Session) throws(Problem) {
        try settle(
            limits.ask(session.users.map { .user(issuer: session.issuer, user: $0.user) }, hasArrived: true))
    }

    /// Counts one more request of `callers` for `subject`, with the shared limits that it was not counted in before.
    ///
    /// - Throws: `Problem` where there were too many requests.
    func ask(_ callers: [Caller], subject: String, _ admitted: inout Admitted) throws(Problem) {
        try settle(limits.ask(callers + admitted.shared, subject: subject, hasArrived: admitted.isCounted))
        admitted.isCounted = true
    }

    /// Counts a request that was refused in the limits of its address and of all requests, if it was not counted there
    /// before.
    ///
    /// - Throws: `Problem` where there were too many requests.
    func count(_ admitted: Admitted) throws(Problem) {
        guard !admitted.isCounted else { return }
        try settle(limits.ask(admitted.shared))
    }

    /// Counts a request from `address` that only asks for what is allowed, or uses another method. It has a limit of its
    /// own: a browser asks before every call, and so do those of known callers behind an address of strangers.
    ///
    /// - Throws: `Problem` where there were too many.
    func question(from address: IPAddress?) throws(Problem) {
        guard let address else { return }
        try settle(limits.ask([.questions(address: address.network.description)], hasArrived: true))
    }

    /// Notes that a request from `address` was refused.
    func fail(from address: IPAddress?) {
        guard let address else { return }
        limits.ask([.refused(address: address.network.description)], hasArrived: true)
    }

    /// Forgets what counts no more.
    func sweep() {
        limits.sweep()
        devices?.sweep(now: now())
    }

    private func settle(_ answer: RequestLimits.Answer) throws(Problem) {
        guard case .later(let wait) = answer else { return }
        refused("too_many_requests")
        throw Problem.tooManyRequests(wait)
    }
}
