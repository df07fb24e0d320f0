import AsyncTestSupport
import Telemetry
import WorkerTestSupport

@testable import Worker
@testable import WorkerConfiguration

extension PageStory {
    /// Serves the page of the story, with the address for `body`.
    func serving(_ body: (String) async throws -> Void) async throws {
        let log = RecordingLog()
        let folder = try WorkerTestSupport.TemporaryFolder()
        let status = status, metrics = WorkerMetrics()
        var server = AdminServer(
            address: .init(host: "127.0.0.1", port: 0), status: status, metrics: MetricsRegistry(),
            reporter: try reporter(status, metrics, rings: folder.path), logger: log.logger())
        server.fleet = view
        let running = Task { [server] in try await server.run() }
        // The worker works on, so that its rates are those of a worker and not of one that has just stopped.
        let working = Task {
            while !Task.isCancelled {
                work(metrics)
                // The page shows the work of each second.
                try await Task.sleep(for: .seconds(1))
            }
        }
        defer { working.cancel() }
        let address = await log.line(event: "admin.listening").metadata["remint.admin.address"] ?? ""
        do { try await body(address) } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        _ = await running.result
    }
}
