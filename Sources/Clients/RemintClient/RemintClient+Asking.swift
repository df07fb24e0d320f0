import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension RemintClient {
    /// The seconds after which a call has failed. The gateway answers each call within 30 seconds.
    private static let timeout = 45.0

    /// Returns whether another try cannot change an answer of `status`.
    static func isFinal(_ status: Int) -> Bool {
        400...499 ~= status && ![408, 425, 429].contains(status)
    }

    /// Calls until there is an answer.
    ///
    /// - Throws: `RemintError` if the gateway refuses the call, or `CancellationError`.
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
                    // Another body is the page of a network that asks its users to sign in.
                    if let answer = try? JSONDecoder().decode(Answer.self, from: body) { return answer }
                case 202:
                    if let next = GatewayCall(pending: body) { (call, polls, tries) = (next, 0, 0) }
                case 204:
                    // No token came: the worker may have answered the event with a token that this gateway did not read.
                    polls += 1
                    if polls > 1 { call = first }
                    // A server that waits for a token is well. One that answers at once gets longer and longer pauses.
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

    /// Returns a request with the present session, which is in a header alone: addresses get into logs.
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
