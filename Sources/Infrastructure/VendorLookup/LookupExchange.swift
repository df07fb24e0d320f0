import AdapterKit
import Formats
import HTTPTransport
import JOSE
import Pipeline

/// A request and its answer.
struct LookupExchange: Sendable {
    let account: LookupDestination
    let transport: HTTPTransport
    let signer: any SigningPort
    let maximumBodyBytes: Int
    let now: @Sendable () -> UnixTime

    /// Sends `call` and reads the answer. Ends when the task is canceled, and at `deadline` once it has been sent.
    func perform(
        _ call: LookupCall, until deadline: ContinuousClock.Instant
    ) async -> Result<LookupAnswer, LookupFailure> {
        do throws(LookupFailure) {
            guard let url = account.url.appending(call.request.path) else {
                throw LookupFailure(.misconfigured, "the request's path is not as a URL must have it")
            }
            var headers = [(name: "Accept", value: "application/json")]
            if call.request.body != nil { headers.append((name: "Content-Type", value: "application/json")) }
            if let proof = try await authorization(of: call) {
                headers.append((name: "Authorization", value: proof))
            }
            let request = TransportRequest(
                call.request.method.rawValue, url: url, host: account.url.authority, headers: headers,
                body: call.request.body,
                reading: .body(upTo: maximumBodyBytes))
            return .success(try await answer(to: request, until: deadline))
        } catch { return .failure(error) }
    }

    private func authorization(of call: LookupCall) async throws(LookupFailure) -> String? {
        guard let bearer = call.bearer else {
            return account.authorization.map { $0.withBytes { String(decoding: $0, as: UTF8.self) } }
        }
        switch await signer.sign([bearer], urgency: .live).first {
        case .success(let signature) where !signature.isEmpty:
            return "Bearer " + String(decoding: bearer.input.token(signature: signature), as: UTF8.self)
        case .failure(let rejection):
            throw LookupFailure(
                .unavailable, "the token for the question could not be signed: \(rejection.code.rawValue)")
        case .success, nil: throw LookupFailure(.unavailable, "the signer gave no signature for the question's token")
        }
    }

    private func answer(
        to request: TransportRequest, until deadline: ContinuousClock.Instant
    ) async throws(LookupFailure) -> LookupAnswer {
        do throws(TransportError) {
            let response = try await transport.send(request, within: deadline - .now)
            let now = now()
            let headers = RetryHeaders(response.headers, now: now)
            return LookupAnswer(
                response: LookupResponse(status: response.status, body: response.body),
                retryAfter: headers.retryAfter, exhaustedFor: headers.exhaustedFor, date: response.date(now: now))
        } catch {
            // Of the call's whole time; some of it may have gone by before the request.
            guard case .overdue = error.reason else { throw LookupFailure(error) }
            throw LookupFailure(TransportError(error.host, .overdue(account.timeout)))
        }
    }
}
