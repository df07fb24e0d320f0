import CRdKafka
import Glibc
import Synchronization

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
