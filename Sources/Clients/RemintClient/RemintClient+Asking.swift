import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension RemintClient {
    /// The seconds after which a try has failed: the gateway answers each call within 30 seconds.
    private static let timeout = 45.0

    /// Returns whether an answer with `status` is final: another try cannot change a final answer.
    static func isFinal(_ status: Int) -> Bool {
        400...499 ~= status && ![408, 425, 429].contains(status)
    }

    /// Repeats a call until there is an answer.
    ///
    /// - Throws: `RemintError` if the gateway refuses the call, nobody is signed in, or the client is closed;
    ///   `CancellationError` if the task is canceled.
    func ask(_ first: GatewayCall) async throws -> Answer {
        var call = first
        var (polls, tries) = (0, 0)
        while true {
            var after: Double?
            tries += 1
            let start = timing.now()
            do {
                let (body, response) = try await exchange.answer(to: request(for: call))
                after = retryAfter(response)
                switch response.statusCode {
                case 200:
                    // Any other body is the sign-in page of a network: the client tries again.
                    if let answer = try? JSONDecoder().decode(Answer.self, from: body) { return answer }
                case 202:
                    if let next = GatewayCall(pending: body) { (call, polls, tries) = (next, 0, 0) }
                case 204:
                    // No token came. The worker may have answered the event with a token that this gateway did not
                    // read. At the second 204, the client repeats the first call.
                    polls += 1
                    if polls > 1 { call = first }
                    // A server that waited for a token works. If the server answers at once, the client makes longer
                    // and longer pauses.
                    if timing.now() - start >= 1 { tries = 0 }
                case let status where Self.isFinal(status): throw RemintError(app: app, status: status, body: body)
                default: break
                }
            } catch let refusal as RemintError {
                throw refusal
            } catch {
                try Task.checkCancellation()
            }
            try await pause(after: tries, retryAfter: after)
        }
    }

    private func request(for call: GatewayCall) async throws -> URLRequest {
        var request = try await request(path: call.path, timeout: Self.timeout)
        guard let report = call.report else { return request }
        request.httpMethod = "POST"
        request.httpBody = report
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("wait=10", forHTTPHeaderField: "Prefer")
        return request
    }

    /// Returns a request with the current session. The session is only in a header, because servers log addresses.
    ///
    /// - Throws: `RemintError` with the code `no_session` if nobody is signed in, or the error of the `session`
    ///   function.
    func request(path: String, timeout: Double) async throws -> URLRequest {
        guard let session = try await session() else { throw RemintError(app: app, code: "no_session") }
        guard let url = URL(string: base + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: timeout)
        request.setValue("Bearer \(session)", forHTTPHeaderField: "Authorization")
        if let device { request.setValue(device, forHTTPHeaderField: "Remint-Device") }
        return request
    }

    func retryAfter(_ response: HTTPURLResponse) -> Double? {
        RetryDelay.retryAfter(
            response.value(forHTTPHeaderField: "Retry-After"), served: response.value(forHTTPHeaderField: "Date"),
            now: timing.date())
    }
}
