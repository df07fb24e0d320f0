import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// A call that waits for its token: an entry in a table and a connection, without a task. Its answer comes once, before its connection
/// took it over or after.
final class HeldCall: Sendable {
    private enum State {
        case open
        case connected(@Sendable (Response) -> Void)
        case answered(Response)
        case over
    }

    /// Its place in the table; no other call's.
    let number: Int
    private let table: HeldCalls
    private let state = Mutex(State.open)

    fileprivate init(_ number: Int, in table: HeldCalls) {
        self.number = number
        self.table = table
    }

    // A mark that reaches no connection, because the device left, is taken by nobody.
    deinit { table.forget(number) }

    /// Answers the call; only the first answer counts.
    func answer(_ response: Response) {
        let send = state.withLock { state -> (@Sendable (Response) -> Void)? in
            switch state {
            case .open: state = .answered(response)
            case .connected(let send):
                state = .over
                return send
            case .answered, .over: break
            }
            return nil
        }
        send?(response)
    }

    /// Lets the answer be given to `send`, once it is there.
    func connect(_ send: @escaping @Sendable (Response) -> Void) {
        let response = state.withLock { state -> Response? in
            switch state {
            case .open: state = .connected(send)
            case .answered(let response):
                state = .over
                return response
            case .connected, .over: break
            }
            return nil
        }
        if let response { send(response) }
    }
}

/// The calls that are on their way from the responder to their connections.
///
/// A responder must return to free its task's memory, and the framework sends what it returns. So it returns a mark, which is taken
/// off by `HeldCallHandler` on the connection, where the call is held until its answer comes.
final class HeldCalls: Sendable {
    /// The mark's response holds the call until it was written; whoever waits for its answer does, too.
    private struct Entry {
        weak var call: HeldCall?
    }

    private struct State {
        var calls: [Int: Entry] = [:]
        var next = 0
    }

    private static let field = HTTPField.Name("Remint-Held-Call")
    private let state = Mutex(State())

    /// The number of calls that are held, or on their way.
    var count: Int { state.withLock { $0.calls.count } }

    /// A call that has no answer yet.
    func call() -> HeldCall {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let call = HeldCall(number, in: self)
        state.withLock { $0.calls[number] = Entry(call: call) }
        return call
    }

    /// The mark of `call`, for its connection.
    func mark(_ call: HeldCall) -> Response {
        var headers = HTTPFields()
        if let field = Self.field { headers[field] = "\(call.number)" }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody(contentLength: 0) { writer in
                try await writer.finish(nil)
                withExtendedLifetime(call) {}
            })
    }

    /// The call whose mark is `head`; nil for an answer.
    func take(_ head: HTTPResponse) -> HeldCall? {
        guard let text = Self.field.flatMap({ head.headerFields[$0] }), let number = Int(text) else { return nil }
        return state.withLock { $0.calls[number]?.call }
    }

    fileprivate func forget(_ number: Int) { _ = state.withLock { $0.calls.removeValue(forKey: number) } }
}
