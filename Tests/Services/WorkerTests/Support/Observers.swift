import Formats
import Logging
import Telemetry
import WorkerConfiguration
import WorkerTestSupport

@testable import Worker

extension SessionObserver {
    /// An observer that shows `status`.
    convenience init(_ status: WorkerStatus, metrics: WorkerMetrics = WorkerMetrics(), logger: Logger = silent) {
        self.init(status: status, metrics: metrics, logger: logger, topic: { _ in "t" })
    }
}

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
