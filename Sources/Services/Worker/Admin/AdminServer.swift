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

    private static func page(_ content: AdminPage) -> Response {
        var page = OperatorServer.response(.ok, "text/html; charset=utf-8", content.html)
        page.headers[.contentSecurityPolicy] = content.policy
        for (name, value) in [("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin")] {
            if let name = HTTPField.Name(name) { page.headers[name] = value }
        }
        return page
    }
}

/// A page of the admin server: one document with its style and its script in it. It holds no figure: the status page asks `/status`
/// and `/fleet` for them, with the token where the server requires one.
private struct AdminPage: Sendable {
    let html: [UInt8]
    /// The page's Content-Security-Policy (W3C CSP, level 3): this style, this script and requests to this server, and
    /// nothing else.
    let policy: String

    /// The page at `/`.
    static let status = AdminPage(
        frame: PackageResources.status_html, style: PackageResources.status_css,
        script: PackageResources.status_view_js + PackageResources.status_chart_js + PackageResources.status_fleet_js
            + PackageResources.status_js)

    /// The page at `/codes`: the meaning of each code of a dead letter.
    static let codes = AdminPage(
        frame: PackageResources.codes_html, style: PackageResources.status_css,
        lines: ErrorCode.allCases.map(section).joined(separator: "\n"))

    /// A page of `frame`, with `style`, `script` and `lines` in place of its lines `{style}`, `{script}` and `{codes}`.
    init(frame: [UInt8], style: [UInt8], script: [UInt8] = [], lines: String = "") {
        var html: [UInt8] = []
        for line in frame.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.elementsEqual("{style}".utf8) {
                html += Array("<style>".utf8) + style + Array("</style>".utf8)
            } else if line.elementsEqual("{script}".utf8) {
                html += Array("<script>".utf8) + script + Array("</script>".utf8)
            } else if line.elementsEqual("{codes}".utf8) {
                html += Array(lines.utf8)
            } else {
                html += line
            }
            html.append(UInt8(ascii: "\n"))
        }
        self.html = html
        let script = script.isEmpty ? "'none'" : Self.source(of: script)
        policy = [
            "default-src 'none'", "script-src \(script)", "style-src \(Self.source(of: style))", "connect-src 'self'",
            "img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }

    /// Returns the section of `code`, to which `/codes#CODE` leads.
    private static func section(_ code: ErrorCode) -> String {
        let command = "remint dead-letters list --code \(code.rawValue)"
        return
            "<section id=\"\(code.rawValue)\"><h2>\(code.rawValue)</h2><p>\(text(code.summary))</p><p class=\"soft\"><code>\(command)</code></p></section>"
    }

    /// Returns `words` as HTML. Commands and keys are between backticks in it.
    private static func text(_ words: String) -> String {
        let escaped = words.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        return escaped.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index.isMultiple(of: 2) ? String(part) : "<code>\(part)</code>"
        }.joined()
    }

    private static func source(of text: [UInt8]) -> String {
        "'sha256-\(Base64.standard.encode(SHA256.hash(text)))'"
    }
}
