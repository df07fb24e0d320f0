import Logging
import WorkerTestSupport

@testable import Worker

extension SessionObserver {
    /// An observer that shows `status`.
    convenience init(_ status: WorkerStatus, metrics: WorkerMetrics = WorkerMetrics(), logger: Logger = silent) {
        self.init(status: status, metrics: metrics, logger: logger, topic: { _ in "t" })
    }
}
