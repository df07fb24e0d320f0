import Telemetry
import WorkerConfiguration

@testable import Worker

extension StatusReporter {
    /// A reporter of a worker with nothing in its configuration but `keys`.
    convenience init(
        status: WorkerStatus = WorkerStatus(), metrics: WorkerMetrics = WorkerMetrics(),
        keys: [Configuration.Key] = [], build: BuildInfo = BuildInfo()
    ) {
        var configuration = Configuration()
        configuration.keys = keys
        self.init(configuration, status: status, metrics: metrics, build: build, now: { Events.now })
    }
}
