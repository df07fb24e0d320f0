import AdapterKit
import JOSE
import Logging
import StubServer
import Synchronization
import Testing
import VendorLookup

@testable import Pipeline

/// A vendor that keeps what it was asked, headers included, with scripted answers.
final class RecordingVendor: Sendable {
    private let asked = Mutex<[StubRequest]>([])
    private let reply: @Sendable (StubRequest) -> StubResponse

    init(_ reply: @escaping @Sendable (StubRequest) -> StubResponse = { _ in StubResponse(status: 200, json: "{}") }) {
        self.reply = reply
    }

    var requests: [StubRequest] { asked.withLock { $0 } }
    var stub: any VendorStub { Stub(vendor: self) }

    private struct Stub: VendorStub {
        let vendor: RecordingVendor

        mutating func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
            vendor.asked.withLock { $0.append(request) }
            return vendor.reply(request)
        }
    }
}

/// Signs with nothing, or not at all.
struct StubSigner: SigningPort {
    enum Way: Sendable {
        case signs
        case fails(Rejection)
        case says([Result<[UInt8], Rejection>])
        /// Not even when the task is canceled, before this stream ends.
        case hangs(AsyncStream<Void>)
    }

    var way = Way.signs

    func activeKey(of ring: String) -> SigningKeyReference? { nil }

    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        switch way {
        case .signs: return requests.map { _ in .success(Array("signature".utf8)) }
        case .fails(let rejection): return requests.map { _ in .failure(rejection) }
        case .says(let results): return results
        case .hangs(let stream):
            await Task.detached { for await _ in stream {} }.value
            return []
        }
    }
}

/// A client at work, and its replies.
struct LookupBench {
    static let time = UnixTime(seconds: 1_800_000_000)
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    let client: LookupClient
    private var signals: AsyncStream<Void>.AsyncIterator
    private var lastID = 0

    private init(_ client: LookupClient) {
        self.client = client
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        client.onReply { continuation.yield() }
        signals = stream.makeAsyncIterator()
    }

    /// Runs `body` while a client with these endpoints runs.
    static func with<Result>(
        _ endpoints: [LookupEndpoint], signer: any SigningPort = StubSigner(), maximumBodyBytes: Int = 1 << 20,
        logger: Logger = silent, now: @escaping @Sendable () -> UnixTime = { time },
        _ body: (inout LookupBench) async throws -> Result
    ) async throws -> Result {
        let client = try LookupClient(
            endpoints, signer: signer, maximumBodyBytes: maximumBodyBytes, logger: logger, now: now)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await client.run() }
            defer { group.cancelAll() }
            var bench = LookupBench(client)
            return try await body(&bench)
        }
    }

    /// An endpoint of `server` that needs no credentials.
    static func endpoint(
        _ server: StubServer, account: String = "shop", path: String = "",
        authorization: LookupTerms.Authorization = .mintedToken, credentials: LookupEndpoint.Credentials = .none,
        timeout: Duration = .seconds(240), authority: String? = nil, concurrency: Int = 8
    ) -> LookupEndpoint {
        LookupEndpoint(
            account: account, url: server.url + path, authorization: authorization, credentials: credentials,
            timeout: timeout, certificateAuthority: authority, concurrency: concurrency)
    }

    /// A call with a number of its own.
    mutating func call(
        _ path: String = "/users/1", account: String = "shop", body: String? = nil, bearer: SigningRequest? = nil
    ) -> LookupCall {
        lastID += 1
        let request = LookupRequest(
            method: body == nil ? .get : .post, path: path, body: body.map { Array($0.utf8) }, subjects: 0..<1)
        return LookupCall(id: lastID, account: account, request: request, bearer: bearer)
    }

    /// The next `count` replies, in the order they came.
    mutating func replies(_ count: Int) async -> [LookupReply] {
        var replies = client.takeReplies()
        while replies.count < count, await signals.next(isolation: #isolation) != nil {
            replies += client.takeReplies()
        }
        return replies
    }

    mutating func ask(_ call: LookupCall) async throws -> Result<LookupAnswer, LookupFailure> {
        client.ask([call])
        let replies = await replies(1)
        #expect(replies.map(\.id) == [call.id])
        return try #require(replies.first).result
    }
}

extension StubServer {
    /// Runs `body` on a server of its own.
    static func with<Result>(
        _ vendor: RecordingVendor = RecordingVendor(), _ misbehaviour: Misbehaviour = .none, tls: TLS? = nil,
        _ body: (StubServer) async throws -> Result
    ) async throws -> Result {
        let server = try await start(vendor.stub, now: { LookupBench.time }, tls: tls)
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
}

extension Result where Success == LookupAnswer, Failure == LookupFailure {
    var answer: LookupAnswer? { try? get() }
    var status: Int? { answer?.response.status }
    var failure: LookupFailure? { if case .failure(let failure) = self { failure } else { nil } }
}
