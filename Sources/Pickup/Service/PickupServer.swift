import AdapterKit
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
@_spi(Decryption) import JOSE
import Logging
import NIOCore
import NIOSSL
import Telemetry
import WorkerConfiguration

/// A request's context: where it comes from.
struct PickupContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let address: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        address = source.channel.remoteAddress
    }
}

/// The HTTP side of the gateway.
struct PickupServer: Sendable {
    /// More headers are no device's, in bytes.
    private static let headerLimit = 16 << 10
    /// How long a connection may say nothing.
    private static let idle = TimeAmount.seconds(90)
    /// The longest report, in bytes.
    static let reportLimit = 64 << 10
    /// How long a call for a token waits where it does not say.
    private static let patience = Duration.seconds(10)

    let pickup: Configuration.Pickup
    let apps: [String: PickupApp]
    let access: AskerAccess
    let asks: TokenAsks
    let keys: [JWEDecryptionKey]
    let follower: TokenFollower
    let metrics: PickupMetrics
    let now: @Sendable () -> UnixTime
    let logger: Logger
    /// Told the address once it listens.
    let isReady: @Sendable (String) -> Void

    /// Serves until a graceful shutdown.
    ///
    /// - Throws: what keeps it from listening.
    func run() async throws {
        var quiet = logger
        quiet.logLevel = .critical
        let limits = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: Self.headerLimit, maxHeaderListSize: Self.headerLimit, maxHeaderFieldCount: 100)
        let http = HTTPServerBuilder.http1(
            configuration: .init(idleTimeout: Self.idle, httpDecoderConfiguration: limits))
        let application = Application(
            router: router, server: try tls.map { try .tls(http, tlsConfiguration: $0) } ?? http,
            // A thousand devices may call in the same moment.
            configuration: .init(address: .hostname(pickup.host, port: pickup.port), backlog: 4096),
            onServerRunning: { channel in
                let address = Self.text(channel.localAddress)
                logger.notice("the gateway listens", metadata: [LogKey.adminAddress: "\(address)"])
                isReady(address)
            }, logger: quiet)
        try await application.run()
    }

    private var tls: TLSConfiguration? {
        get throws {
            guard let files = pickup.certificate else { return nil }
            let chain = try NIOSSLCertificate.fromPEMFile(files.chain)
            return TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem)))
        }
    }

    private static func text(_ address: SocketAddress?) -> String {
        guard let address, let host = address.ipAddress, let port = address.port else { return "" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private var router: Router<PickupContext> {
        let router = Router(context: PickupContext.self)
        router.add(middleware: PickupFrame(origins: Set(pickup.origins), metrics: metrics))
        router.post("/v1/apps/{app}/reports") { request, context in try await report(request, context) }
        router.get("/v1/apps/{app}/token") { request, context in try await token(request, context) }
        router.get("/v1/apps/{app}/token/stream") { request, context in try await stream(request, context) }
        router.get("/health/live") { _, _ in Self.json(.ok) { $0.member("status", "alive") } }
        router.get("/health/ready") { _, _ in ready }
        router.get("/openapi.json") { _, _ in Self.file(.openAPI, "application/json") }
        router.get("/remint.js") { _, _ in Self.file(.client, "text/javascript; charset=utf-8") }
        return router
    }

    // MARK: Calls

    private func report(_ request: Request, _ context: PickupContext) async throws -> Response {
        let start = ContinuousClock.now
        let app = try app(context)
        let asker = try await access.asker(of: request, for: app, from: context.address)
        _ = try app.subject(vouchedBy: asker.vouched)
        let body: ByteBuffer
        do { body = try await request.body.collect(upTo: Self.reportLimit) } catch is NIOTooManyBytesError {
            throw Problem(.eventTooLarge, "a report has at most \(Self.reportLimit) bytes")
        }
        let wait = CallParameters.preferredWait(request)
        let outcome = try await asks.answer(
            Array(buffer: body), of: asker, app, within: .seconds(wait ?? 0))
        if case .token = outcome { metrics.recovered(app.name, after: .now - start) }
        var response = try answer(outcome, app)
        if let wait, let name = HTTPField.Name("Preference-Applied") { response.headers[name] = "wait=\(wait)" }
        return response
    }

    private func token(_ request: Request, _ context: PickupContext) async throws -> Response {
        let app = try app(context)
        let asker = try await access.asker(of: request, for: app, from: context.address)
        let subject = try app.subject(vouchedBy: asker.vouched)
        let parameters = try CallParameters(request)
        // More than half of a life would ask for a new token at every call.
        let life = min(parameters.life, app.lifetime / 2)
        let outcome: TokenAsks.Outcome
        if parameters.after != nil || parameters.challenge != nil {
            let key = parameters.challenge.map { Subject(user: subject.user ?? "", challenge: $0) } ?? subject
            outcome = try await asks.newer(
                than: parameters.after ?? 0, key.key(app: app.name), within: parameters.wait ?? .zero)
        } else {
            outcome = try await asks.token(for: asker, app, life: life, within: parameters.wait ?? Self.patience)
        }
        if case .token(let token) = outcome, let tag = request.headers[.ifNoneMatch],
            tag == TokenAnswer.tag(token.version) || tag == "*"
        {
            return Response(
                status: .notModified, headers: [.eTag: TokenAnswer.tag(token.version), .cacheControl: "no-store"])
        }
        return try answer(outcome, app)
    }

    private func stream(_ request: Request, _ context: PickupContext) async throws -> Response {
        let app = try app(context)
        let asker = try await access.asker(of: request, for: app, from: context.address, allowsQuery: true)
        _ = try app.subject(vouchedBy: asker.vouched)
        let parameters = try CallParameters(request)
        return TokenStream(
            asker: asker, app: app, asks: asks, keys: keys, now: now, lastEvent: parameters.lastEvent ?? 0
        ).response
    }

    private func app(_ context: PickupContext) throws(Problem) -> PickupApp {
        guard let app = apps[context.parameters.get("app") ?? ""] else { throw Problem(.unknownApp) }
        return app
    }

    // MARK: Answers

    private func answer(_ outcome: TokenAsks.Outcome, _ app: PickupApp) throws -> Response {
        switch outcome {
        case .token(let token):
            guard token.expiresAt > now().seconds else { throw Problem.unavailable("no live token came") }
            return try TokenAnswer(token, for: app, opening: keys, at: now()).response
        case .nothing: return Response(status: .noContent, headers: [.cacheControl: "no-store"])
        case .accepted(let event, let after, let challenge):
            var url = "/v1/apps/\(PercentEncoding.encoded(app.name))/token?after=\(after)"
            if let challenge { url += "&challenge=\(PercentEncoding.encoded(challenge))" }
            var response = Self.json(.accepted) { json in
                json.member("event_id", event)
                json.member("after", after)
                json.member("token_url", url)
            }
            response.headers[.location] = url
            return response
        }
    }

    private var ready: Response {
        let behind = follower.behind
        let isReady = behind == 0
        return Self.json(isReady ? .ok : .serviceUnavailable) { json in
            json.member("status", isReady ? "ready" : "not_ready")
            json.name("dependencies")
            json.beginObject()
            json.member("brokers", behind == nil ? "the topics cannot be followed" : "ok")
            json.member("tokens", behind.map { $0 == 0 ? "ok" : "\($0) partitions are still being read" } ?? "unknown")
            json.endObject()
            json.member("followed_records", Int64(follower.records))
        }
    }

    private static func json(_ code: HTTPResponse.Status, _ body: (inout JSONWriter) -> Void) -> Response {
        var json = JSONWriter()
        json.beginObject()
        body(&json)
        json.endObject()
        return Response(
            status: code, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.bytes)))
    }

    private static func file(_ resource: PickupResources, _ type: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: type, HTTPField.Name("X-Content-Type-Options") ?? .via: "nosniff"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: resource.bytes)))
    }
}
