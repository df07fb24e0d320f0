import AdapterKit
import Formats
import HTTPTypes
import Hummingbird
import HummingbirdCore
import JOSE
import Logging
import NIOCore
import NIOSSL
import Pipeline
import Serving
import Telemetry
import WorkerConfiguration

/// The admin server: a page with the worker's status, metrics, health, and the apps' suspensions.
///
/// It listens at `admin.listen`, accepts requests from no page but its own, and requires a token where
/// `admin.token_file` names one. It shows no secret, and changes nothing.
struct AdminServer: Sendable {
    let address: Configuration.Admin
    var token: SecretBytes?
    /// The certificate and key of the server; nil for plain text.
    var tls: TLSConfiguration?
    let status: WorkerStatus
    let metrics: MetricsRegistry
    let reporter: StatusReporter
    /// The fleet's status; nil for none.
    var fleet: FleetView?
    let logger: Logger
    /// Called once the server listens.
    var onListening: @Sendable () -> Void = {}

    /// Serves until the task is canceled.
    ///
    /// - Throws: The error that prevents it from listening.
    func run() async throws {
        async let _: Void = reporter.run()
        async let _: Void? = fleet?.run()
        try await server.run(router) { [logger, onListening] channel in
            logger.notice(
                "admin.listening", "the admin server listens",
                metadata: [LogKey.adminAddress: "\(Self.text(channel.localAddress))"])
            onListening()
        }
    }

    private var server: OperatorServer {
        OperatorServer(
            host: address.host, port: address.port, hosts: address.hosts, token: token, tls: tls, logger: logger)
    }

    private static func text(_ address: SocketAddress?) -> String {
        guard let address, let host = address.ipAddress, let port = address.port else { return "" }
        return "\(HostAndPort(host: host, port: port))"
    }

    private var router: Router<BasicRequestContext> {
        let router = server.router
        router.get("/") { _, _ in Self.page(.status) }
        router.get("/codes") { _, _ in Self.page(.codes) }
        router.get("/status") { _, _ in
            OperatorServer.response(.ok, "application/json", reporter.json + [UInt8(ascii: "\n")])
        }
        router.get("/fleet") { _, _ in await fleetStatus() }
        router.get("/metrics") { _, _ in OperatorServer.metrics(metrics.exposition()) }
        router.get("/health/live") { _, _ in live }
        router.get("/health/ready") { _, _ in ready }
        router.get("/keys/{ring}/jwks.json") { _, context in keySet(context.parameters.get("ring") ?? "") }
        router.get("/apps") { _, _ in
            OperatorServer.json(.ok) { $0.array("apps", status.apps) { app, json in app.write(to: &json) } }
        }
        return router
    }

    // MARK: Answers

    private var live: Response {
        let (age, isAlive) = (status.sinceHeartbeat, status.isAlive)
        return OperatorServer.json(isAlive ? .ok : .serviceUnavailable) { json in
            json.member("status", isAlive ? "alive" : "stuck")
            json.member("seconds_since_heartbeat", Int64(age.components.seconds))
        }
    }

    private var ready: Response {
        let problems = status.problems
        return OperatorServer.json(problems.isEmpty ? .ok : .serviceUnavailable) { json in
            json.member("status", problems.isEmpty ? "ready" : "not_ready")
            json.name("dependencies")
            json.beginObject()
            for dependency in WorkerStatus.Dependency.allCases {
                let isUnknown = dependency == .clock && !status.isClockCompared
                json.member(dependency.rawValue, problems[dependency] ?? (isUnknown ? "not compared" : "ok"))
            }
            json.endObject()
            json.object("degraded") { json in
                for (part, reason) in status.degradations.reasons().sorted(by: { $0.key < $1.key }) {
                    json.member(part.rawValue, reason)
                }
            }
        }
    }

    private func fleetStatus() async -> Response {
        switch await fleet?.answer() {
        case .known(let json): OperatorServer.response(.ok, "application/json", json + [UInt8(ascii: "\n")])
        case .unknown(let reason): OperatorServer.problem(.serviceUnavailable, reason)
        case nil: OperatorServer.response(.noContent, "application/json", [])
        }
    }

    private func keySet(_ ring: String) -> Response {
        guard let set = status.keySet(of: ring) else {
            return OperatorServer.json(.notFound) {
                $0.member("error", "no key ring of that name is read by this worker")
            }
        }
        return OperatorServer.response(.ok, "application/jwk-set+json", Array((set + "\n").utf8))
    }

    /// Returns a page, which no other page may frame, and whose links send no referrer.
    private static func page(_ content: AdminPage) -> Response {
        var page = OperatorServer.response(.ok, "text/html; charset=utf-8", content.html)
        page.headers[.contentSecurityPolicy] = content.policy
        for (name, value) in [("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin")] {
            if let name = HTTPField.Name(name) { page.headers[name] = value }
        }
        return page
    }
}
