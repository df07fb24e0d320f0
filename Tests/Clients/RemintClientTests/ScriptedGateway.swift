import Foundation
import RemintClient
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A gateway that answers one call after the other as a script demands, and keeps the requests.
final class ScriptedGateway: HTTPExchange {
    enum Step {
        case answer(Int, [String: String] = [:], String = "")
        /// The connection is cut.
        case cut
        /// No answer until the test releases it, or the client cancels the call.
        case hold
    }

    private struct State {
        var steps: [Step]
        var requests: [URLRequest] = []
        var streams: [AsyncThrowingStream<Data, any Error>.Continuation] = []
        var watchers: [(count: Int, waiter: CheckedContinuation<Void, Never>)] = []
        var canceled = 0
    }

    private let state: Mutex<State>
    private let releases: AsyncStream<Void>
    private let release: AsyncStream<Void>.Continuation

    init(_ steps: [Step]) {
        state = Mutex(State(steps: steps))
        (releases, release) = AsyncStream.makeStream(of: Void.self)
    }

    static func token(_ version: Int, life: Int = 3600, challenge: String? = nil) -> String {
        let more = challenge.map { #","challenge":"\#($0)""# } ?? ""
        return #"{"app":"shop","vendor":"braze","token":"e.secret.\#(version)","expires_at":9,"expires_in":\#(life),"#
            + #""server_time":1,"version":\#(version),"apply":{"call":"set(jwt)"}\#(more)}"#
    }

    var requests: [URLRequest] { state.withLock(\.requests) }
    var paths: [String] { requests.map { $0.url.map { "\($0.path)?\($0.query ?? "")" } ?? "" } }
    /// The number of held calls that the client canceled.
    var canceled: Int { state.withLock(\.canceled) }

    /// Lets one held call go on to the next step.
    func releaseOne() { release.yield() }

    /// Waits until the client made `count` calls.
    func calls(_ count: Int) async {
        await withCheckedContinuation { waiter in
            let isThere = state.withLock { state in
                if state.requests.count < count { state.watchers.append((count, waiter)) }
                return state.requests.count >= count
            }
            if isThere { waiter.resume() }
        }
    }

    func answer(to request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        switch take(request) {
        case .answer(let status, let headers, let body):
            return (Data(body.utf8), try response(status, headers, request))
        case .cut: throw URLError(.networkConnectionLost)
        case .hold:
            for await _ in releases { break }
            if Task.isCancelled { state.withLock { $0.canceled += 1 } }
            try Task.checkCancellation()
            return try await answer(to: request, again: true)
        }
    }

    private func answer(to request: URLRequest, again: Bool) async throws -> (Data, HTTPURLResponse) {
        guard case .answer(let status, let headers, let body) = state.withLock({ $0.steps.removeFirst() }) else {
            throw URLError(.cancelled)
        }
        return (Data(body.utf8), try response(status, headers, request))
    }

    func open(_ request: URLRequest) async throws -> (HTTPURLResponse, AsyncThrowingStream<Data, any Error>) {
        let (chunks, more) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
        switch take(request) {
        case .answer(let status, let headers, let body):
            more.yield(Data(body.utf8))
            more.finish()
            return (try response(status, headers, request), chunks)
        case .cut: throw URLError(.networkConnectionLost)
        case .hold:
            state.withLock { $0.streams.append(more) }
            return (try response(200, ["Content-Type": "text/event-stream"], request), chunks)
        }
    }

    private func take(_ request: URLRequest) -> Step {
        let (step, ready) = state.withLock { state in
            state.requests.append(request)
            let ready = state.watchers.filter { $0.count <= state.requests.count }
            state.watchers.removeAll { $0.count <= state.requests.count }
            return (state.steps.isEmpty ? .hold : state.steps.removeFirst(), ready)
        }
        for (_, waiter) in ready { waiter.resume() }
        return step
    }

    private func response(
        _ status: Int, _ headers: [String: String], _ request: URLRequest
    ) throws -> HTTPURLResponse {
        guard let url = request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        else { throw URLError(.badURL) }
        return response
    }
}

/// A clock that tests move, and the pauses that a client made. No pause lasts.
final class ManualTiming: Sendable {
    private let state = Mutex<(now: Double, pauses: [Double])>((0, []))

    var pauses: [Double] { state.withLock(\.pauses) }

    func advance(by seconds: Double) { state.withLock { $0.now += seconds } }

    var timing: Timing {
        Timing(
            now: { self.state.withLock(\.now) }, date: { Date(timeIntervalSince1970: 0) },
            sleep: { seconds in
                self.state.withLock { $0.pauses.append(seconds) }
                try Task.checkCancellation()
            },
            random: { 0 })
    }
}
