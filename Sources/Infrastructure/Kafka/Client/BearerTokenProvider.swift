public import Logging
import Synchronization

/// The source of SASL/OAUTHBEARER tokens for the clients of this process. All clients with the same token source share
/// one. Each new token goes to all of them at once, whether their connections are busy or idle.
///
/// A task runs from the arrival of the first client to the departure of the last one. It gets tokens in good time and
/// hands them out. librdkafka asks through a queue of its own, never by a callback.
public final class BearerTokenProvider: Sendable {
    private struct State {
        var clients: [ObjectIdentifier: BearerClient] = [:]
        var token: BearerToken?
        var supplier: Task<Void, Never>?
    }

    /// Signaled when a client asks for a token.
    public let wakeup = Wakeup()
    private let supply: @Sendable (BearerTokenProvider, Logger) async -> Void
    private let state = Mutex(State())

    /// - Parameter supply: supplies the provider until its task is canceled; the logger is the first client's.
    public init(supply: @escaping @Sendable (BearerTokenProvider, Logger) async -> Void) { self.supply = supply }

    /// The token that was handed out last; nil before the first.
    public var token: BearerToken? { state.withLock { $0.token } }

    /// Gives `token` to every present client, and to each that joins later.
    ///
    /// - Returns: The number of clients that accepted it; none accepts an expired one.
    @discardableResult
    public func hand(_ token: BearerToken) -> Int {
        let clients = state.withLock { state in
            state.token = token
            return Array(state.clients.values)
        }
        return clients.count { $0.hand(token) }
    }

    /// Answers the waiting clients that there is no token, for a reason without a secret in it. Each reports it as an
    /// error, and asks again after ten seconds.
    public func refuse(_ reason: String) { for client in clients { client.refuse(reason) } }

    /// Takes the clients' requests off their queues, so that the next one signals `wakeup`. `hand` and `refuse` answer
    /// them.
    public func readQuestions() { for client in clients { client.readQuestions() } }

    private var clients: [BearerClient] { state.withLock { Array($0.clients.values) } }

    // MARK: Clients

    /// Adds a client, and gives it the token at once, where there is one.
    func join(_ client: BearerClient, _ logger: Logger) {
        state.withLock { state in
            state.clients[ObjectIdentifier(client)] = client
            // Unstructured, for clients come and go on many tasks; the last one that goes ends it.
            if state.supplier == nil { state.supplier = Task { [self] in await supply(self, logger) } }
            // Under the lock, so that a newer token comes after this one.
            if let token = state.token { client.hand(token) }
        }
    }

    /// Removes a client that is about to close.
    func leave(_ client: BearerClient) {
        client.leave()
        let supplier = state.withLock { state -> Task<Void, Never>? in
            state.clients[ObjectIdentifier(client)] = nil
            guard state.clients.isEmpty else { return nil }
            defer { state.supplier = nil }
            return state.supplier
        }
        supplier?.cancel()
    }
}
