import AdapterKit
import StubServer

/// A vendor that knows everybody, counts its answers and repeats what it was asked.
struct EchoStub: VendorStub {
    private var answers = 0

    mutating func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
        answers += 1
        var json = JSONWriter()
        json.beginObject()
        json.member("answer", Int64(answers))
        json.member("method", request.method)
        json.member("target", request.target)
        json.member("body", String(decoding: request.body, as: UTF8.self))
        json.member("time", time.description)
        json.endObject()
        return StubResponse(
            status: 200, headers: [("x-echo", request.header("x-echo") ?? "none")],
            json: String(decoding: json.bytes, as: UTF8.self))
    }
}

/// Runs a test on a server of its own.
func withServer<Result>(
    _ misbehaviour: Misbehaviour = .none, tls: StubServer.TLS? = nil, _ body: (StubServer) async throws -> Result
) async throws -> Result {
    let server = try await StubServer.start(
        EchoStub(), now: { UnixTime(seconds: 1_800_000_000) }, tls: tls)
    server.misbehaviour = misbehaviour
    do {
        let result = try await body(server)
        await server.stop()
        return result
    } catch {
        await server.stop()
        throw error
    }
}
