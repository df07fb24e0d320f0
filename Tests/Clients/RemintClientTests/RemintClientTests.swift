import AsyncTestSupport
import Foundation
import RemintClient
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The client before a gateway that refuses, is cut off and returns older tokens.
@Suite(.timeLimit(.minutes(5))) struct RemintClientTests {
    private let time = ManualTiming()

    private func client(_ gateway: ScriptedGateway, session: @escaping RemintClient.Session = { "s-1" }) throws
        -> RemintClient
    {
        RemintClient(
            url: try #require(URL(string: "https://tokens.example/")), app: "shop/ios", device: "d-1",
            exchange: gateway, timing: time.timing, session: session)
    }

    private func error(_ body: () async throws -> Void) async -> RemintError? {
        do { try await body() } catch { return error as? RemintError }
        return nil
    }

    @Test func `a report gets its token after 429, 503, a cut, a sign-in page and a place to ask`() async throws {
        let pending = #"{"event_id":"e","after":4,"token_url":"/v1/apps/shop%2Fios/token?after=4"}"#
        let gateway = ScriptedGateway([
            .answer(429, ["Retry-After": "7"], "<html>"),
            .answer(503, ["Retry-After": "Thu, 01 Jan 1970 00:00:09 GMT"]), .cut, .answer(200, [:], "<html>"),
            .answer(502), .answer(408), .answer(425), .answer(202, [:], pending), .answer(204), .answer(204),
            .answer(202, [:], pending), .answer(200, [:], ScriptedGateway.token(5)),
        ])
        let client = try client(gateway)
        let answer = try await client.report(["errorCode": 22, "userId": NSNull()])
        #expect(answer.version == 5 && answer.token == "e.secret.5")
        #expect(time.pauses[0] == 7 && time.pauses[1] == 9 && time.pauses.count == 11)
        let report = "/v1/apps/shop/ios/reports?"
        let poll = "/v1/apps/shop/ios/token?after=4&wait=25"
        #expect(gateway.paths == Array(repeating: report, count: 8) + [poll, poll, report, poll])
        let first = try #require(gateway.requests.first)
        #expect(first.httpBody == Data(#"{"errorCode":22,"userId":null}"#.utf8) && first.httpMethod == "POST")
        #expect(first.url?.absoluteString == "https://tokens.example/v1/apps/shop%2Fios/reports")
        #expect(first.value(forHTTPHeaderField: "Authorization") == "Bearer s-1")
        #expect(first.value(forHTTPHeaderField: "Remint-Device") == "d-1")
        #expect(first.value(forHTTPHeaderField: "Prefer") == "wait=10")
    }

    @Test func `a thousand refusals in a row are no reason to give up`() async throws {
        let refusals = (0..<1000).map { $0 % 2 == 0 ? ScriptedGateway.Step.answer(429) : .answer(503) }
        let gateway = ScriptedGateway(refusals + [.answer(200, [:], ScriptedGateway.token(1))])
        #expect(try await client(gateway).token().version == 1)
        #expect(time.pauses.count == 1000)
    }

    @Test(arguments: [400, 401, 403, 404, 405, 409, 410, 413, 415, 422])
    func `a refusal for good is an error with the gateway's code, and no call follows`(_ status: Int) async throws {
        let problem = #"{"type":"urn:remint:problem:a_code","title":"A","status":1,"code":"a_code","detail":"why"}"#
        let gateway = ScriptedGateway(Array(repeating: .answer(status, [:], problem), count: 3))
        let client = try client(gateway)
        let expected = RemintError(app: "shop/ios", status: status, code: "a_code", detail: "why")
        #expect(await error { _ = try await client.token() } == expected)
        #expect(await error { try await client.report(["a": 1]) } == expected)
        #expect(await error { for try await _ in client.tokens() {} } == expected)
        #expect(gateway.requests.count == 3 && time.pauses.isEmpty)
        #expect(expected.description.hasPrefix("shop/ios: \(status) a_code: why: "))
    }

    @Test func `a refusal by another server has no text of it`() async throws {
        let client = try client(ScriptedGateway([.answer(403, [:], #"{"code":"<s-1>","detail":"s-1"}"#)]))
        let found = try #require(await error { _ = try await client.token() })
        #expect(found.code == "refused" && found.detail == nil && !found.description.contains("s-1"))
    }

    @Test func `a session that fails is asked for again, and no session is an error`() async throws {
        let gateway = ScriptedGateway([.cut, .answer(200, [:], ScriptedGateway.token(1))])
        let failing = try client(gateway) {
            if gateway.requests.isEmpty { _ = try await gateway.answer(to: URLRequest(url: URL(filePath: "/"))) }
            return "s-2"
        }
        #expect(try await failing.token().version == 1)
        #expect(gateway.requests.last?.value(forHTTPHeaderField: "Authorization") == "Bearer s-2")
        let nobody = try client(ScriptedGateway([])) { nil }
        #expect(await error { _ = try await nobody.token() }?.code == "no_session")
        #expect(await error { try await nobody.report(["a": .infinity as Double]) }?.code == "invalid_report")
    }

    @Test func `callers at the same time share one call, and one of them leaves alone`() async throws {
        let gateway = ScriptedGateway([.hold, .answer(200, [:], ScriptedGateway.token(3))])
        let client = try client(gateway)
        let leaving = Task { try await client.token() }
        await gateway.calls(1)
        let others = (0..<10).map { _ in Task { try await client.token() } }
        try await eventually("eleven callers") { await client.callers == 11 }
        leaving.cancel()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        gateway.releaseOne()
        for other in others { #expect(try await other.value.version == 3) }
        #expect(gateway.requests.count == 1 && gateway.canceled == 0)
    }

    @Test func `the last caller who leaves cancels the call`() async throws {
        let gateway = ScriptedGateway([.hold, .answer(200, [:], ScriptedGateway.token(3))])
        let client = try client(gateway)
        let leaving = Task { try await client.report(["a": 1]) }
        await gateway.calls(1)
        leaving.cancel()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        // The next caller makes a call of its own.
        #expect(try await client.token().version == 3)
        #expect(gateway.requests.count == 2)
    }

    @Test func `a closed client cancels its calls and streams and forgets its tokens`() async throws {
        let gateway = ScriptedGateway([.answer(200, [:], ScriptedGateway.token(3)), .hold, .hold])
        let client = try client(gateway)
        _ = try await client.token()
        let held = Task { try await client.report(["a": 1]) }
        await gateway.calls(2)
        let stream = Task { for try await _ in client.tokens() {} }
        await gateway.calls(3)
        await client.close()
        #expect(await error { _ = try await held.value }?.code == "closed")
        try await stream.value
        #expect(await error { _ = try await client.token() }?.code == "closed")
        #expect(gateway.requests.count == 3)
    }

    @Test func `no older token follows a newer one`() async throws {
        let tokens = [5, 4, 6].map { ScriptedGateway.Step.answer(200, [:], ScriptedGateway.token($0)) }
        let client = try client(ScriptedGateway(tokens))
        #expect(try await client.report(["a": 1]).version == 5)
        #expect(try await client.report(["a": 2]).version == 5)
        #expect(try await client.report(["a": 3]).version == 6)
    }

    @Test func `a challenge's token is no token of the user`() async throws {
        let gateway = ScriptedGateway([
            .answer(200, [:], ScriptedGateway.token(9, challenge: "n")), .answer(200, [:], ScriptedGateway.token(5)),
        ])
        let client = try client(gateway)
        #expect(try await client.report(["nonce": "n"]).version == 9)
        #expect(try await client.token().version == 5)
        #expect(try await client.token().version == 5)
        #expect(gateway.requests.count == 2)
    }

    @Test func `a token is renewed in the background before it expires, and asked for once it is old`() async throws {
        let gateway = ScriptedGateway([
            .answer(200, [:], ScriptedGateway.token(1, life: 1000)),
            .answer(200, [:], ScriptedGateway.token(2, life: 1000)),
            .answer(200, [:], ScriptedGateway.token(3, life: 1000)),
        ])
        let client = try client(gateway)
        #expect(try await client.token().version == 1)
        time.advance(by: 899)
        #expect(try await client.token().version == 1)
        #expect(gateway.requests.count == 1)
        time.advance(by: 2)
        #expect(try await client.token().version == 1)
        await gateway.calls(2)
        #expect(gateway.paths[1] == "/v1/apps/shop/ios/token?min_life=100")
        try await eventually("the next token") { try await client.token().version != 1 }
        time.advance(by: 950)
        #expect(try await client.token().version == 3)
    }

    @Test func `a token is asked for after a report named it, and a report's answer is the next token`() async throws {
        let gateway = ScriptedGateway([
            .answer(200, [:], ScriptedGateway.token(1)), .hold, .answer(200, [:], ScriptedGateway.token(2)),
        ])
        let client = try client(gateway)
        _ = try await client.token()
        let report = Task { try await client.report(["a": 1]) }
        await gateway.calls(2)
        let token = Task { try await client.token() }
        gateway.releaseOne()
        #expect(try await report.value.version == 2)
        #expect(try await token.value.version == 2)
        #expect(gateway.requests.count == 2)
    }

    @Test func `a stream goes on after the newest token, through cuts and refusals`() async throws {
        let stream = ["Content-Type": "text/event-stream"]
        func event(_ version: Int) -> String {
            "id: \(version)\nevent: token\ndata: \(ScriptedGateway.token(version))\n\n"
        }
        let gateway = ScriptedGateway([
            .answer(503, ["Retry-After": "4"]), .cut,
            .answer(200, stream, "retry: 1500\nevent: ready\ndata: {\"after\":0}\n\n" + event(5) + event(4)),
            .answer(200, ["Content-Type": "text/html"], "<html>"),
            .answer(200, stream, "event: ready\ndata: {\"after\":5}\n\nevent: problem\ndata: {}\n\n" + event(6)),
            .answer(401, [:], #"{"code":"invalid_session"}"#),
        ])
        let client = try client(gateway)
        let found = try #require(await error { for try await _ in client.tokens() {} })
        #expect(found.code == "invalid_session")
        let versions = gateway.requests.map { $0.value(forHTTPHeaderField: "Last-Event-ID") }
        #expect(versions == ["0", "0", "0", "5", "5", "6"])
        #expect(time.pauses == [4, 0, 0.75, 0, 0.75])
        #expect(try await client.token().version == 6)
        #expect(gateway.requests.count == 6)
    }

    @Test func `a log of an answer has no token`() async throws {
        let client = try client(ScriptedGateway([.answer(200, [:], ScriptedGateway.token(1))]))
        let answer = try await client.token()
        var dumped = ""
        dump(answer, to: &dumped)
        for text in ["\(answer)", String(reflecting: answer), dumped, "\([answer])"] {
            #expect(!text.contains("secret"), "\(text)")
        }
    }
}
