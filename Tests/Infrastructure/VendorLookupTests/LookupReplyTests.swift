import AdapterKit
import AsyncTestSupport
import NIOCore
import NIOPosix
import Pipeline
import StubServer
import Testing
import WorkerTestSupport

@testable import HTTPTransport
@testable import VendorLookup

@Suite(.timeLimit(.minutes(5))) struct LookupReplyTests {
    /// The vendor's behavior, and the result of a call.
    struct Case: Sendable, CustomTestStringConvertible {
        let misbehaviour: Misbehaviour
        var status: Int?
        var body: String?
        var failure: LookupFailure.Kind?
        var detail = ""
        var testDescription: String { "\(misbehaviour)" }
    }

    private static let statuses = [
        200, 201, 202, 204, 400, 401, 403, 404, 408, 422, 429, 500, 502, 503, 504,
    ]
    private static let cutOff = "the connection was closed before the answer was whole"

    static let cases: [Case] =
        statuses.map { Case(misbehaviour: .status($0), status: $0) }
        + [301, 302, 304].map {
            Case(misbehaviour: .status($0), failure: .misconfigured, detail: "status \($0), a redirect")
        } + [
            Case(misbehaviour: .none, status: 200, body: "{}"),
            Case(misbehaviour: .latency(.milliseconds(20)), status: 200, body: "{}"),
            Case(misbehaviour: .throttled(retryAfter: 7), status: 429),
            Case(misbehaviour: .wrongJSON, status: 200, body: #"{"weather":{"outlook":["rain",null,17.5]}}"#),
            Case(misbehaviour: .webPage, status: 200, body: "<!doctype html><title>Sign in</title>"),
            Case(misbehaviour: .garbage, failure: .unreadable, detail: "is not HTTP"),
            Case(misbehaviour: .oversizedHead(bytes: 3 << 20), failure: .unreadable, detail: "is not HTTP"),
            Case(misbehaviour: .slowHead, failure: .unavailable, detail: "no answer within 1500 ms"),
            Case(misbehaviour: .slowLoris, failure: .unavailable, detail: "no answer within 1500 ms"),
            Case(misbehaviour: .silence, failure: .unavailable, detail: "no answer within 1500 ms"),
            Case(misbehaviour: .latency(.seconds(900)), failure: .unavailable, detail: "no answer within 1500 ms"),
            Case(misbehaviour: .hangUp, failure: .unavailable, detail: cutOff),
            Case(misbehaviour: .reset, failure: .unavailable, detail: cutOff),
            Case(misbehaviour: .truncated, failure: .unavailable, detail: cutOff),
            Case(misbehaviour: .truncatedChunks, failure: .unavailable, detail: cutOff),
            Case(
                misbehaviour: .oversized, failure: .unreadable,
                detail: "status 200 with a body of more than 1048576 bytes"),
            Case(
                misbehaviour: .oversized(bytes: 10 << 20, declared: true), failure: .unreadable,
                detail: "status 200 with a body of more than 1048576 bytes"),
        ]

    @Test(arguments: cases) func `the reply is the vendor's answer, or the reason for none`(expected: Case) async throws
    {
        try await StubServer.with(RecordingVendor(), expected.misbehaviour) { server in
            // Long for what answers, short for what never does.
            let isSlow = expected.detail.hasPrefix("no answer")
            let endpoint = LookupBench.endpoint(server, timeout: isSlow ? .milliseconds(1500) : .seconds(240))
            try await LookupBench.with([endpoint]) { bench in
                let start = ContinuousClock.now
                let reply = try await bench.ask(bench.call())
                #expect(reply.status == expected.status)
                if let body = expected.body { #expect(reply.answer?.response.body == Array(body.utf8)) }
                #expect(reply.failure?.kind == expected.failure)
                #expect(reply.failure?.detail.contains(expected.detail) ?? true, "\(reply)")
                if isSlow { #expect(.now - start >= .milliseconds(1500) && .now - start < .seconds(240)) }
                // Whatever it was, those after it are answered; where the time is short, the machine may be too slow at first.
                server.misbehaviour = .none
                try await eventually("an answer") { try await bench.ask(bench.call()).status == 200 }
            }
        }
    }

    @Test func `the failure where nobody listens is a refused connection`() async throws {
        let port = try #require(DeafPort())
        let endpoint = LookupEndpoint(
            account: "shop", url: "http://127.0.0.1:\(port.number)", authorization: .mintedToken, credentials: .none,
            timeout: .seconds(240), certificateAuthority: nil, concurrency: 8)
        try await LookupBench.with([endpoint]) { bench in
            let failure = try #require(await bench.ask(bench.call()).failure)
            #expect(failure == LookupFailure(.unavailable, "127.0.0.1:\(port.number): the connection is refused"))
        }
        withExtendedLifetime(port) {}
    }

    @Test func `the failure of an unknown host's name names the host`() async throws {
        let host = "vendor.invalid"
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let bootstrap = ClientBootstrap(group: loop).resolver(NoNames(loop))
        let error = await #expect(throws: NIOConnectionError.self) {
            try await bootstrap.connect(host: host, port: 443).get()
        }
        let reason = TransportError.Reason(try #require(error), limit: .seconds(1))
        let failure = LookupFailure(TransportError(host, reason))
        #expect(failure == LookupFailure(.unavailable, "\(host): the host's name is not known"))
    }

    @Test func `the failure for an account without an endpoint is misconfigured`() async throws {
        try await LookupBench.with([]) { bench in
            let reply = try await bench.ask(bench.call(account: "other"))
            #expect(reply.failure?.kind == .misconfigured)
        }
    }

    @Test func `the answer has the vendor's wait and exhausted limit`() async throws {
        let vendor = RecordingVendor { _ in
            StubResponse(
                status: 429,
                headers: [
                    ("Retry-After", "17"), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1800000005"),
                ])
        }
        try await StubServer.with(vendor) { server in
            try await LookupBench.with([LookupBench.endpoint(server)]) { bench in
                let answer = try #require(await bench.ask(bench.call()).answer)
                #expect(answer.retryAfter == 17_000_000)
                #expect(answer.exhaustedFor == 5_000_000)
            }
        }
    }
}

/// A resolver that knows nobody, without asking anybody.
private final class NoNames: Resolver, Sendable {
    private struct Unknown: Error {}

    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeFailedFuture(Unknown())
    }
    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeFailedFuture(Unknown())
    }
    func cancelQueries() {}
}
