package import Foundation

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// The two HTTP operations that a client needs. Tests replace these operations.
package protocol HTTPExchange: Sendable {
    /// Sends `request` and returns the whole answer.
    func answer(to request: URLRequest) async throws -> (Data, HTTPURLResponse)
    /// Sends `request`. Returns the head of the answer, and the chunks of the body as they arrive.
    func open(_ request: URLRequest) async throws -> (HTTPURLResponse, AsyncThrowingStream<Data, any Error>)
}

/// The HTTP operations by `URLSession`, without caches, cookies or files.
package final class URLSessionExchange: HTTPExchange {
    private let session: URLSession

    package init() {
        session = URLSession(configuration: Self.configuration, delegate: NoRedirects(), delegateQueue: nil)
    }

    // The URL session keeps its delegate in memory until this call.
    deinit { session.finishTasksAndInvalidate() }

    fileprivate static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        return configuration
    }

    package func answer(to request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let (data, response) = try await session.data(for: request)
        guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (data, http)
    }

    package func open(
        _ request: URLRequest
    ) async throws -> (HTTPURLResponse, AsyncThrowingStream<Data, any Error>) {
        let (chunks, more) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
        return (try await StreamConnection(more).start(request, Self.configuration), chunks)
    }
}

/// A delegate that follows no redirect. A redirect must not send the user's session to another server.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

/// One connection of a stream. This delegate forwards the chunks, because `URLSession.bytes` does not exist on Linux.
///
/// `@unchecked Sendable`: `lock` guards `head` and `isOver`, and no other property ever changes. The compiler could
/// check a `Mutex`, but `Mutex` needs iOS 18.
private final class StreamConnection: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // This object keeps only the continuation of the stream of chunks. The stream ends when its reader releases the
    // stream. If this object kept the stream too, the stream would not end, because the URL session keeps this object.
    private let more: AsyncThrowingStream<Data, any Error>.Continuation
    private let lock = NSLock()
    private var head: CheckedContinuation<HTTPURLResponse, any Error>?
    /// Whether the connection has closed or was canceled. This may happen before `start` waits for the head.
    private var isOver = false

    init(_ more: AsyncThrowingStream<Data, any Error>.Continuation) {
        self.more = more
    }

    /// Sends the request and returns the head of the answer. The connection closes once nobody reads the chunks.
    func start(_ request: URLRequest, _ configuration: URLSessionConfiguration) async throws -> HTTPURLResponse {
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        let task = session.dataTask(with: request)
        more.onTermination = { _ in task.cancel() }
        defer { session.finishTasksAndInvalidate() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isLate = lock.withLock {
                    if !isOver { head = continuation }
                    return isOver
                }
                if isLate { continuation.resume(throwing: CancellationError()) }
                task.resume()
            }
        } onCancel: {
            task.cancel()
            end(CancellationError())
        }
    }

    /// Ends the wait for the head with `error`. If the wait begins later, it fails at once with a `CancellationError`.
    private func end(_ error: any Error) {
        lock.withLock { isOver = true }
        takeHead()?.resume(throwing: error)
    }

    private func takeHead() -> CheckedContinuation<HTTPURLResponse, any Error>? {
        lock.withLock {
            defer { head = nil }
            return head
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let http = response as? HTTPURLResponse else { return completionHandler(.cancel) }
        takeHead()?.resume(returning: http)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        more.yield(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(error ?? URLError(.badServerResponse))
        more.finish(throwing: error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
