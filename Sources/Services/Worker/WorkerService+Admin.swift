import Formats
import NIOCore
import Serving
import Telemetry
import Wiring
import WorkerConfiguration

extension WorkerService {
    /// Starts the admin server, in a task of its own; nil where the configuration has none.
    ///
    /// - Parameter onListening: called once it listens.
    func startAdminServer(
        _ metrics: WorkerMetrics, _ running: RunningConfiguration, onListening: @escaping @Sendable () -> Void
    ) throws(WorkerError) -> Task<Void, any Error>? {
        guard let address = configuration.admin else { return nil }
        let reporter = StatusReporter(
            configuration, status: status, metrics: metrics, keys: { running.current.keys }, build: build, now: now)
        status.degradations.watch(.events) { [weak reporter] in reporter?.deadLetterExcess }
        var server = AdminServer(
            address: address, status: status, metrics: metrics.registry, reporter: reporter, logger: logger)
        server.fleet = FleetView(
            { running.numbered }, brokers: { [status] in status.brokers }, logger: logger, now: now)
        server.token = adminToken
        server.onListening = onListening
        server.tls = try address.certificate.map { (files) throws(WorkerError) in
            let certificate = try ServerCertificate.load(files, named: "admin.tls")
            metrics.set(adminCertificateEnd: certificate.end)
            return certificate.configuration
        }
        return Task.detached {
            do { try await server.run() } catch is CancellationError {} catch {
                let problem = (error as? IOError)?.listeningProblem(named: "admin.listen") ?? "\(error)"
                let place = HostAndPort(host: address.host, port: address.port)
                throw WorkerError("the admin server cannot listen at \(place): \(problem)")
            }
        }
    }
}
