import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// The end of an exchange before the answer's.
enum ResponseRefusal: Error {
    /// The request asked for the head alone.
    case headIsEnough(TransportResponse)
    case reason(TransportError.Reason)
}

/// Reads one answer, and refuses it as soon as it is known that it cannot be used.
final class ResponseReader: HTTPClientResponseDelegate {
    typealias Response = TransportResponse

    private struct State {
        var response: TransportResponse?
        /// A body that nobody could read, of an answer that is an error anyway.
        var isSkipped = false
    }

    private let reading: TransportRequest.Reading
    private let state = Mutex(State())

    init(_ reading: TransportRequest.Reading) { self.reading = reading }

    func didReceiveHead(
        task: HTTPClient.Task<TransportResponse>, _ head: HTTPResponseHead
    ) -> EventLoopFuture<Void> {
        let response = TransportResponse(status: Int(head.status.code), headers: head.headers)
        if let refusal = refusal(of: response) { return task.eventLoop.makeFailedFuture(refusal) }
        state.withLock { state in
            state.response = response
            state.isSkipped = Self.isEncoded(response)
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    private func refusal(of response: TransportResponse) -> ResponseRefusal? {
        guard case .body(let limit) = reading else { return .headIsEnough(response) }
        if (300...399).contains(response.status) { return .reason(.redirected(status: response.status)) }
        if Self.isEncoded(response), (200...299).contains(response.status) {
            return .reason(.encoded(status: response.status))
        }
        if let length = response.header("content-length").flatMap({ Int($0) }), length > limit {
            return .reason(.tooLong(status: response.status, limit: limit))
        }
        return nil
    }

    /// Returns whether the body has a content coding (RFC 9110, section 8.4).
    private static func isEncoded(_ response: TransportResponse) -> Bool {
        response.headers[canonicalForm: "content-encoding"].contains { !$0.isEmpty && $0.lowercased() != "identity" }
    }

    func didReceiveBodyPart(
        task: HTTPClient.Task<TransportResponse>, _ buffer: ByteBuffer
    ) -> EventLoopFuture<Void> {
        guard case .body(let limit) = reading else { return task.eventLoop.makeSucceededVoidFuture() }
        let refusal = state.withLock { state -> ResponseRefusal? in
            guard let response = state.response, !state.isSkipped else { return nil }
            guard buffer.readableBytes <= limit - response.body.count else {
                return .reason(.tooLong(status: response.status, limit: limit))
            }
            state.response?.body.append(contentsOf: buffer.readableBytesView)
            return nil
        }
        return refusal.map { task.eventLoop.makeFailedFuture($0) } ?? task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<TransportResponse>) throws -> TransportResponse {
        guard let response = state.withLock({ $0.response }) else { throw ResponseRefusal.reason(.cutOff) }
        return response
    }
}
