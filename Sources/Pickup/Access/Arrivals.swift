import Access
import AdapterKit
import Formats

/// The limits that are checked before any credential of a request: those of its address, and of all requests together.
///
/// An address with many refused requests has to wait, but for known callers: a session that was verified before, or an
/// API key. A flood of forged sessions uses up neither the address's requests nor all callers' requests.
struct Arrivals: Sendable {
    let devices: DeviceAccess?
    let backends: APIKeys
    let limits: SharedLimits
    let now: @Sendable () -> UnixTime
    /// Called with the reason of each refusal.
    let refused: @Sendable (String) -> Void

    /// Counts a request with `credentials` from `address`.
    ///
    /// A backend is limited by its own rate, not by its address's.
    ///
    /// - Throws: `Problem` where there were too many requests.
    func admit(_ credentials: ShownCredentials, from address: IPAddress?) throws(Problem) {
        let name = address.map { $0.network.description }
        if let name {
            let wait = limits.wait(of: .refused(address: name))
            if wait > .zero, !isKnown(credentials) {
                refused("too_many_refused")
                throw Problem.tooManyRequests(wait)
            }
        }
        let caller: [Caller] =
            if let backend = credentials.apiKey.flatMap({ backends.key($0) }) {
                [.backend(name: backend.name)]
            } else { name.map { [.address($0)] } ?? [] }
        try ask(caller)
    }

    /// Counts one more request of `callers` for `subject`, which was admitted.
    ///
    /// - Throws: `Problem` where there were too many requests.
    func ask(_ callers: [Caller], subject: String) throws(Problem) {
        try settle(limits.ask(callers, subject: subject, hasArrived: true))
    }

    /// Notes that a request from `address` was refused.
    func fail(from address: IPAddress?) {
        guard let address else { return }
        limits.ask([.refused(address: address.network.description)], hasArrived: true)
    }

    private func ask(_ callers: [Caller]) throws(Problem) { try settle(limits.ask(callers)) }

    private func settle(_ answer: RequestLimits.Answer) throws(Problem) {
        guard case .later(let wait) = answer else { return }
        refused("too_many_requests")
        throw Problem.tooManyRequests(wait)
    }

    private func isKnown(_ credentials: ShownCredentials) -> Bool {
        if let key = credentials.apiKey { return backends.key(key) != nil }
        guard let session = credentials.device?.session else { return false }
        return devices?.isKnown(session, now: now()) ?? false
    }
}
