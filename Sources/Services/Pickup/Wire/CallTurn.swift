/// The unanswered call of a connection, and the action on the connection after its answer. A value.
///
/// A connection has one call at a time: `RequestGate` keeps back the next one.
struct CallTurn: Sendable {
    /// The action on the connection.
    enum Action: Sendable, Equatable {
        case stay
        /// Nothing more is written; the client ends the connection.
        case closeOutput
        case close
    }

    /// The number of the unanswered call; nil where every call is answered.
    private(set) var current: Int?
    private var last = 0
    private var isLast = false
    private var isStopping = false

    /// Begins a call.
    ///
    /// - Parameter isLast: whether the client sends no further call.
    /// - Returns: the call's number on its connection.
    mutating func begin(isLast: Bool) -> Int {
        last += 1
        current = last
        self.isLast = self.isLast || isLast
        return last
    }

    /// Ends the call, whose answer is complete.
    mutating func answered() -> Action {
        current = nil
        return isStopping ? .close : isLast ? .closeOutput : .stay
    }

    /// Records that the client closed its side: it still gets the answer to its last call.
    mutating func inputClosed() -> Action {
        isLast = true
        return current == nil ? .closeOutput : .stay
    }

    /// Records that the server stops.
    mutating func stop() -> Action {
        isStopping = true
        return current == nil ? .close : .stay
    }
}
