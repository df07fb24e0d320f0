package import Foundation

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// The HTTP that a client needs, which tests replace.
package protocol HTTPExchange: Sendable {
    /// Sends `request` and returns the whole answer.
    func answer(to request: URLRequest) async throws -> (Data, HTTPURLResponse)
    /// Sends `request` and returns the answer's head, and its body as it arrives.
    func open(_ request: URLRequest) async throws -> (HTTPURLResponse, AsyncThrowingStream<Data, any Error>)
}

/// HTTP by `URLSession`, without caches, cookies or files.
package final class URLSessionExchange: HTTPExchange {
    private let session: URLSession

    package init() {
        session = URLSession(configuration: Self.configuration, delegate: NoRedirects(), delegateQueue: nil)
    }

    // A session keeps its delegate until then.
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

/// Follows no redirect: another server must not get the session.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

/// One connection of a stream. `URLSession.bytes` does not exist on Linux, so a delegate forwards the chunks.
///
/// `@unchecked Sendable`: `lock` guards `head` and `isOver`, and the rest never changes. `Mutex`, with which the compiler would
/// check this, needs iOS 18.
private final class StreamConnection: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Not the chunks: the session keeps its delegate, and the stream ends once its reader has let go of it.
    private let more: AsyncThrowingStream<Data, any Error>.Continuation
    private let lock = NSLock()
    private var head: CheckedContinuation<HTTPURLResponse, any Error>?
    /// Whether the connection is closed or was canceled, perhaps before anybody waited for the head.
    private var isOver = false

    init(_ more: AsyncThrowingStream<Data, any Error>.Continuation) {
        self.more = more
    }

    /// Sends the request and returns the answer's head. The connection closes once nobody reads its chunks.
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

    /// Ends the wait for the head, also one that begins later.
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
