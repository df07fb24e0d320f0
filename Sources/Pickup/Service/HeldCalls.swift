import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// A call that waits for its token: an entry in a table and a connection, without a task. The one answer may come
/// before or after the connection took the call over.
final class HeldCall: Sendable {
    private enum State {
        case open
        case connected(@Sendable (Response) -> Void)
        case answered(Response)
        case over
    }

    /// The call's number in the table, which no other call has.
    let number: Int
    private let table: HeldCalls
    private let state = Mutex(State.open)

    fileprivate init(_ number: Int, in table: HeldCalls) {
        self.number = number
        self.table = table
    }

    // If the device left, no connection takes the mark.
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

    /// Sends the answer with `send`, once there is one.
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

/// The calls on their way from the responder to their connections.
///
/// A responder must return to free its task's memory, and the framework sends what it returns. So it returns a mark.
/// `HeldCallHandler` removes the mark on the connection and holds the call until its answer comes.
final class HeldCalls: Sendable {
    /// The mark's response keeps the call alive until it is written, and so does the wait for the call's answer.
    private struct Entry {
        weak var call: HeldCall?
    }

    private struct State {
        var calls: [Int: Entry] = [:]
        var next = 0
    }

    private static let field = HTTPField.Name("Remint-Held-Call")
    private let state = Mutex(State())

    /// The number of calls that are held or on their way.
    var count: Int { state.withLock { $0.calls.count } }

    /// Returns a new call without an answer.
    func call() -> HeldCall {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let call = HeldCall(number, in: self)
        state.withLock { $0.calls[number] = Entry(call: call) }
        return call
    }

    /// Returns the mark of `call`, for its connection.
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

    /// Returns the call whose mark is `head`; nil for an answer.
    func take(_ head: HTTPResponse) -> HeldCall? {
        guard let text = Self.field.flatMap({ head.headerFields[$0] }), let number = Int(text) else { return nil }
        return state.withLock { $0.calls[number]?.call }
    }

    fileprivate func forget(_ number: Int) { _ = state.withLock { $0.calls.removeValue(forKey: number) } }
}
