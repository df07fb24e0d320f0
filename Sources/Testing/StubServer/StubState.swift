import AdapterKit
import NIOCore
import Synchronization

/// The state that a server's connections share: the vendor, its fault, and the requests so far.
final class StubState: Sendable {
    /// The maximum number of recorded requests: more than a test makes, and few enough for a server that keeps running.
    private static let maximumArrivals = 100_000

    fileprivate struct Waiter {
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    /// A connection that is open.
    struct Connection: Sendable {
        let channel: any Channel
        let edge: NIOLoopBound<SocketEdge>
    }

    fileprivate struct Values {
        var stub: any VendorStub
        var misbehaviour = Misbehaviour.none
        /// The number of further requests with the fault; nil for all.
        var remaining: Int?
        var arrivals: [Arrival] = []
        var traffic = StubTraffic()
        var connections: [ObjectIdentifier: Connection] = [:]
        var isStopped = false
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
    }

    private let values: Mutex<Values>
    private let now: @Sendable () -> UnixTime

    init(_ stub: any VendorStub, now: @escaping @Sendable () -> UnixTime) {
        values = Mutex(Values(stub: stub))
        self.now = now
    }

    var traffic: StubTraffic { values.withLock { $0.traffic } }
    var arrivals: [Arrival] { values.withLock { $0.arrivals } }
    var misbehaviour: Misbehaviour { values.withLock { $0.misbehaviour } }

    func misbehave(_ misbehaviour: Misbehaviour, for count: Int?) {
        values.withLock { values in
            let isOver = count.map { $0 <= 0 } ?? false
            values.misbehaviour = isOver ? .none : misbehaviour
            values.remaining = isOver ? nil : count
        }
    }

    func replace(_ stub: any VendorStub) { values.withLock { $0.stub = stub } }

    // MARK: Requests

    /// Records a complete request, and returns the reaction to it.
    func arrived(_ request: StubRequest) -> Reaction {
        let (reaction, ready) = values.withLock { values in
            let time = now()
            let reaction = Reaction(values.takeMisbehaviour()) { values.stub.answer(request, at: time) }
            if values.arrivals.count >= Self.maximumArrivals { values.arrivals.removeFirst(Self.maximumArrivals / 2) }
            values.arrivals.append(
                Arrival(
                    instant: .now, time: time, method: request.method, target: request.target, status: reaction.status))
            values.traffic.requests += 1
            values.traffic.openRequests += 1
            values.traffic.mostRequestsAtOnce = max(
                values.traffic.mostRequestsAtOnce, values.traffic.openRequests)
            return (reaction, values.takeReadyWaiters())
        }
        for continuation in ready { continuation.resume() }
        return reaction
    }

    /// Notes that a request was answered, or never will be.
    func ended() { values.withLock { $0.traffic.openRequests -= 1 } }

    func sent(_ bytes: Int) { values.withLock { $0.traffic.bytesSent += bytes } }

    /// Waits until `count` requests have arrived.
    ///
    /// - Throws: `CancellationError` where the task is canceled first.
    func waitForRequests(_ count: Int) async throws {
        let id = values.withLock { values in
            values.lastWaiter += 1
            return values.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = values.withLock { values in
                    if values.traffic.requests >= count || Task.isCancelled { return true }
                    values.waiters[id] = Waiter(count: count, continuation: continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            values.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
        }
        try Task.checkCancellation()
    }

    // MARK: Connections

    /// Notes that a connection was accepted.
    ///
    /// - Returns: whether the server still runs.
    func opened(_ connection: Connection) -> Bool {
        values.withLock { values in
            guard !values.isStopped else { return false }
            values.connections[ObjectIdentifier(connection.channel)] = connection
            values.traffic.connections += 1
            values.traffic.openConnections += 1
            return true
        }
    }

    /// Notes that a connection has closed.
    func closed(_ channel: any Channel) {
        values.withLock { values in
            guard values.connections.removeValue(forKey: ObjectIdentifier(channel)) != nil else { return }
            values.traffic.openConnections -= 1
        }
    }

    /// Stops accepting connections.
    ///
    /// - Returns: the open connections.
    func stop() -> [Connection] {
        values.withLock { values in
            values.isStopped = true
            return Array(values.connections.values)
        }
    }
}

extension StubState.Values {
    /// Returns the fault of the next answer, and counts down the answers that have it.
    fileprivate mutating func takeMisbehaviour() -> Misbehaviour {
        let current = misbehaviour
        if let count = remaining {
            remaining = count - 1
            if count <= 1 { (misbehaviour, remaining) = (.none, nil) }
        }
        return current
    }

    fileprivate mutating func takeReadyWaiters() -> [CheckedContinuation<Void, Never>] {
        let ready = waiters.filter { $0.value.count <= traffic.requests }
        for id in ready.keys { waiters[id] = nil }
        return ready.values.map(\.continuation)
    }
}
