import AdapterKit
import AsyncHTTPClient
import JOSE
import Logging
import NIOCore
import NIOHTTP1
import Pipeline

/// One request and its answer.
struct LookupExchange: Sendable {
    let account: LookupDestination
    let client: HTTPClient
    let signer: any SigningPort
    let maximumBodyBytes: Int
    let now: @Sendable () -> UnixTime

    private var trouble: LookupErrorText { LookupErrorText(host: account.url.authority, timeout: account.timeout) }

    /// Sends `call` and reads the answer. Ends when the task is cancelled, and takes its time otherwise.
    func perform(_ call: LookupCall) async -> Result<LookupAnswer, LookupFailure> {
        do throws(LookupFailure) {
            guard let url = account.url.appending(call.request.path) else {
                throw LookupFailure(.misconfigured, "the request's path is not as a URL must have it")
            }
            var request = HTTPClientRequest(url: url)
            request.method = HTTPMethod(rawValue: call.request.method.rawValue)
            request.headers = HTTPHeaders([
                ("User-Agent", "remint"), ("Accept", "application/json"), ("Accept-Encoding", "identity"),
            ])
            if let body = call.request.body {
                request.headers.add(name: "Content-Type", value: "application/json")
                request.body = .bytes(ByteBuffer(bytes: body))
            }
            if let proof = try await authorization(of: call) {
                request.headers.add(name: "Authorization", value: proof)
            }
            return .success(try await answer(to: request))
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

    private func answer(to request: HTTPClientRequest) async throws(LookupFailure) -> LookupAnswer {
        do {
            // Whoever waits has a time limit of its own; this one only keeps nothing from lasting for ever.
            let response = try await client.execute(
                request, deadline: .now() + TimeAmount(account.timeout) + .seconds(5), logger: HTTPClient.silence
            )
            let headers = RetryHeaders(response.headers, now: now())
            let status = Int(response.status.code)
            let body = try await body(of: response, status: status)
            // A cancelled body just ends.
            try Task.checkCancellation()
            return LookupAnswer(
                response: LookupResponse(status: status, body: body), retryAfter: headers.retryAfter,
                exhaustedFor: headers.exhaustedFor)
        } catch let failure as LookupFailure { throw failure } catch { throw trouble.failure(error) }
    }

    /// The whole body. The rest of one that is too long is neither read nor kept.
    private func body(of response: HTTPClientResponse, status: Int) async throws -> [UInt8] {
        do {
            return Array(try await response.body.collect(upTo: maximumBodyBytes).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw LookupFailure(.unreadable, "status \(status) with a body of more than \(maximumBodyBytes) bytes")
        }
    }
}
