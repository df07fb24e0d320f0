import Access
import AdapterKit
import AsyncTestSupport
import BrokerTokens
import CertificateTestSupport
import Formats
import Foundation
import HTTPTransport
import JOSE
import Kafka
import Logging
import Spans
import Synchronization
import Telemetry
import Testing
import VendorLookup
import WorkerConfiguration

@testable import OTLP
@testable import Pickup
@testable import Pipeline

/// Somebody who fetches by the transport, with the loop that tries again.
enum TransportUser: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case lookups, brokerTokens, collector, sessionKeys

    var testDescription: String { rawValue }

    /// The ids of the log lines of a failure and of its end.
    var events: (failed: String, recovered: String) {
        switch self {
        case .lookups: ("vendor.unavailable", "vendor.available")
        case .brokerTokens: ("broker-tokens.unavailable", "broker-tokens.available")
        case .collector: ("collector.unavailable", "collector.available")
        case .sessionKeys: ("session-keys.unavailable", "session-keys.available")
        }
    }

    var body: String {
        switch self {
        case .lookups, .collector: "{}"
        case .brokerTokens: #"{"access_token":"token-1","token_type":"Bearer","expires_in":3600}"#
        case .sessionKeys:
            #"{"keys":[{"kty":"EC","crv":"P-256","kid":"k1","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#
        }
    }

    /// Fetches from `server` again and again until the task is canceled.
    ///
    /// - Parameter limit: the longest time of one exchange.
    func run(
        _ server: FaultyServer, _ certificates: TestCertificates, limit: Duration, _ log: RecordingLog
    ) async throws {
        let authority = certificates.path("authority.pem")
        switch self {
        case .lookups: try await ask(server, authority, limit, log)
        case .brokerTokens:
            var settings = Configuration.OAuth.ClientCredentials()
            settings.endpoint = "\(server.url)/token"
            settings.host = server.host
            settings.clientID = "remint"
            settings.secretFile = certificates.path("secret")
            settings.certificateAuthority = authority
            let supplier = TokenSupplier(
                source: ClientCredentials(settings: settings, timeout: limit), tally: TokenTally(), now: Self.clock,
                draw: { 0.5 })
            await supplier.run(BearerTokenProvider { _, _ in }, log.logger())
        case .collector:
            let queue = SpanQueue(capacity: 1000)
            let collector = try Collector(
                EndpointURL(parsing: server.url), headers: [], certificateAuthority: authority, timeout: limit)
            let exporter = Exporter(
                to: collector, queue: queue, metrics: ExportMetrics(MetricsRegistry()), resource: { [] },
                logger: log.logger(), now: Self.clock)
            await withDiscardingTaskGroup { group in
                group.addTask { await exporter.run() }
                // Spans that are refused do not come again: each look adds one.
                try? await eventually("the end of the task", within: .seconds(240)) {
                    let time = Self.clock()
                    queue.ended(EndedSpan("span", queue.context(below: nil), below: nil, from: time, to: time))
                    return Task.isCancelled
                }
            }
        case .sessionKeys:
            var session = Configuration.Pickup.Session()
            session.keySet = "\(server.url)/jwks.json?tenant=1"
            let source = KeySourceFile(
                session, timeout: limit, trusting: try TrustedAuthorities(file: authority), logger: log.logger())
            await source.run()
        }
    }

    private static let clock: @Sendable () -> UnixTime = {
        UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1_000_000))
    }

    /// One look-up after the other, judged as the pipeline judges them.
    private func ask(
        _ server: FaultyServer, _ authority: String, _ limit: Duration, _ log: RecordingLog
    ) async throws {
        let endpoint = LookupEndpoint(
            account: "shop", url: server.url, authorization: .mintedToken, credentials: .none, timeout: limit,
            certificateAuthority: authority)
        let client = try LookupClient([endpoint], signer: NoSigner(), logger: log.logger(), now: Self.clock)
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        client.onReply { signal.yield() }
        await withDiscardingTaskGroup { group in
            group.addTask { await client.run() }
            var breaker = CircuitBreaker()
            var random = SystemRandomNumberGenerator()
            var signals = signals.makeAsyncIterator()
            for id in 1... {
                let request = LookupRequest(method: .get, path: "/users/1", body: nil, subjects: 0..<1)
                client.ask([LookupCall(id: id, account: "shop", request: request, bearer: nil)])
                guard await signals.next(isolation: #isolation) != nil, !Task.isCancelled else { return }
                guard let reply = client.takeReplies().first else { continue }
                // At some pace, as a circuit has one.
                let turn = ContinuousClock.now + .milliseconds(50)
                try? await eventually("the next turn") { .now >= turn }
                let now = Self.clock()
                switch reply.result {
                case .failure(let failure):
                    let isCertain = failure.kind == .misconfigured
                    guard breaker.failed(at: now, isCertain: isCertain, random: &random) else { break }
                    log.logger().error(
                        "no look-up", metadata: [LogKey.event: "\(events.failed)", LogKey.detail: "\(failure.detail)"])
                case .success:
                    guard let length = breaker.succeeded(at: now) else { break }
                    let outage = Outage.text(.microseconds(length))
                    log.logger().notice(
                        "look-ups again", metadata: [LogKey.event: "\(events.recovered)", LogKey.outage: "\(outage)"])
                }
            }
        }
    }
}

private struct NoSigner: SigningPort {
    func activeKey(of ring: String) -> SigningKeyReference? { nil }
    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] { [] }
}
