import Formats
import Telemetry
import WorkerConfiguration

@testable import Worker

extension StatusReporter {
    /// A reporter of a worker with nothing in its configuration but `keys` and `group`, which started `age` seconds ago.
    convenience init(
        status: WorkerStatus = WorkerStatus(), metrics: WorkerMetrics = WorkerMetrics(),
        keys: [Configuration.Key] = [], build: BuildInfo = BuildInfo(), group: String? = nil,
        age: Int64 = 0
    ) {
        var configuration = Configuration()
        configuration.keys = keys
        if let group { configuration.kafka.group = group }
        self.init(
            configuration, status: status, metrics: metrics, build: build,
            started: Events.now.advanced(bySeconds: -age), now: { Events.now })
    }
}
