import CRdKafka
import Glibc
package import Logging
import Synchronization

/// A token of SASL/OAUTHBEARER (RFC 7628). No description of it contains its text.
package struct BearerToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// An extension that a broker requires beside the token, such as Confluent's `logicalCluster`.
    package struct Extension: Sendable, Hashable {
        package let name: String
        package let value: String

        /// - Throws: `KafkaError` where the name does not consist of letters alone, or is `auth`, or the value has
        ///   invisible characters (RFC 7628, section 3.1).
        package init(_ name: String, _ value: String) throws(KafkaError) {
            let isName =
                !name.isEmpty && name.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
            guard isName, name != "auth", value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw KafkaError(
                    .invalidArgument, "an extension of OAUTHBEARER has a name of letters, not auth, and a visible value"
                )
            }
            self.name = name
            self.value = value
        }
    }

    /// The token that the broker gets.
    package let text: String
    /// The end of its life, in milliseconds since 1970.
    package let expiry: Int64
    /// The principal of the token, as far as the client knows it.
    package let principal: String
    package let extensions: [Extension]

    /// - Throws: `KafkaError` if the text has other than visible characters: librdkafka refuses it, and repeats it in
    ///   its error.
    package init(
        _ text: String, expiry: Int64, principal: String, extensions: [Extension] = []
    ) throws(KafkaError) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw KafkaError(.invalidArgument, "a token of OAUTHBEARER must have only visible ASCII characters")
        }
        self.text = text
        self.expiry = expiry
        self.principal = principal.utf8.contains(0) ? "" : principal
        self.extensions = extensions
    }

    /// A stand-in: the token is a secret.
    package var description: String { "a token of OAUTHBEARER" }
    package var debugDescription: String { description }
    /// Nothing: a dump or a mirror shows no member.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The source of SASL/OAUTHBEARER tokens for the clients of this process. All clients with the same token source share
/// one. Each new token goes to all of them at once, whether their connections are busy or idle.
///
/// A task runs from the arrival of the first client to the departure of the last one. It gets tokens in good time and
/// hands them out. librdkafka asks through a queue of its own, never by a callback.
package final class BearerTokenProvider: Sendable {
    private struct State {
        var clients: [ObjectIdentifier: BearerClient] = [:]
        var token: BearerToken?
        var supplier: Task<Void, Never>?
    }

    /// Signaled when a client asks for a token.
    package let wakeup = Wakeup()
    private let supply: @Sendable (BearerTokenProvider, Logger) async -> Void
    private let state = Mutex(State())

    /// - Parameter supply: supplies the provider until its task is canceled; the logger is the first client's.
    package init(supply: @escaping @Sendable (BearerTokenProvider, Logger) async -> Void) { self.supply = supply }

    /// The token that was handed out last; nil before the first.
    package var token: BearerToken? { state.withLock { $0.token } }

    /// Gives `token` to every present client, and to each that joins later.
    ///
    /// - Returns: The number of clients that accepted it; none accepts an expired one.
    @discardableResult
    package func hand(_ token: BearerToken) -> Int {
        let clients = state.withLock { state in
            state.token = token
            return Array(state.clients.values)
        }
        return clients.count { $0.hand(token) }
    }

    /// Answers the waiting clients that there is no token, for a reason without a secret in it. Each reports it as an
    /// error, and asks again after ten seconds.
    package func refuse(_ reason: String) { for client in clients { client.refuse(reason) } }

    /// Takes the clients' requests off their queues, so that the next one signals `wakeup`. `hand` and `refuse` answer
    /// them.
    package func readQuestions() { for client in clients { client.readQuestions() } }

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

/// A client as its provider of tokens sees it.
///
/// `@unchecked Sendable`: the pointer is never changed. It is used under the lock alone, and not after `leave`, which
/// the client calls before it is destroyed.
@safe
final class BearerClient: @unchecked Sendable {
    private struct State {
        var isLeft = false
        /// True if the library asked for a token and got no answer yet.
        var asks = false
    }

    private let client: OpaquePointer
    /// The queue in which the library asks for tokens. It is separate from the client's events: a client that waits for
    /// a broker gets its token too.
    private let questions: EventQueue?
    private let state = Mutex(State())

    /// - Parameter client: one that was made with a queue for SASL.
    init(_ client: OpaquePointer, wakeup: Wakeup) {
        unsafe self.client = unsafe client
        questions = unsafe rd_kafka_queue_get_sasl(client).map { unsafe EventQueue(owning: $0, wakeup: wakeup) }
    }

    /// Gives the client a token. The client does not accept an expired one, and keeps asking.
    ///
    /// - Returns: whether the client accepted it.
    @discardableResult
    func hand(_ token: BearerToken) -> Bool {
        state.withLock { state in
            guard !state.isLeft, set(token) else { return false }
            state.asks = false
            return true
        }
    }

    /// Answers a waiting client that there is no token. It asks again after ten seconds.
    func refuse(_ reason: String) {
        state.withLock { state in
            guard !state.isLeft else { return }
            readQuestions(&state)
            guard state.asks else { return }
            state.asks = false
            unsafe rd_kafka_oauthbearer_set_token_failure(client, reason)
        }
    }

    /// Takes the library's requests off its queue.
    func readQuestions() {
        state.withLock { state in
            if !state.isLeft { readQuestions(&state) }
        }
    }

    private func readQuestions(_ state: inout State) {
        while let event = unsafe questions?.poll() {
            if unsafe rd_kafka_event_type(event) == RD_KAFKA_EVENT_OAUTHBEARER_TOKEN_REFRESH { state.asks = true }
            unsafe rd_kafka_event_destroy(event)
        }
    }

    /// Stops the supply of a client that is about to close.
    func leave() {
        state.withLock { state in
            guard !state.isLeft else { return }
            state.isLeft = true
            questions?.close()
        }
    }

    /// Sets the token, and returns whether the library accepted it. The library's error text is not read, because it
    /// repeats the token.
    private func set(_ token: BearerToken) -> Bool {
        var ignored = [CChar](repeating: 0, count: 1)
        let texts: [String] = token.extensions.flatMap { [$0.name, $0.value] }
        let copies: [UnsafeMutablePointer<CChar>?] = unsafe texts.map { unsafe strdup($0) }
        defer { unsafe copies.forEach { unsafe free($0) } }
        var extensions: [UnsafePointer<CChar>?] = unsafe copies.map { unsafe UnsafePointer($0) }
        return unsafe rd_kafka_oauthbearer_set_token(
            client, token.text, token.expiry, token.principal, &extensions, extensions.count, &ignored, ignored.count)
            == RD_KAFKA_RESP_ERR_NO_ERROR
    }
}
