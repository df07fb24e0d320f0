import AdapterKit
import HTTPTransport

extension LookupFailure {
    /// The worker stops and makes no more requests.
    static let stopping = LookupFailure(.unavailable, "the worker stops")

    /// The meaning of `error` for a look-up, which is no more than that there is no answer: nothing of it is about a user.
    init(_ error: TransportError) {
        if error.reason == .canceled {
            self = .stopping
            return
        }
        let kind: Kind =
            switch error.kind {
            case .unavailable: .unavailable
            case .misconfigured: .misconfigured
            case .unreadable: .unreadable
            }
        self.init(kind, error.description)
    }
}
