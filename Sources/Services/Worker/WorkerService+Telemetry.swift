import OTLP
import Pipeline
import Spans
import Telemetry
import WorkerConfiguration

// MARK: Traces

extension WorkerService {
    var tracing: EventTracing? {
        telemetry.map {
            EventTracing(
                to: $0.spans, share: configuration.telemetry.sample,
                maximumEventBytes: configuration.worker.maximumEventBytes, now: now)
        }
    }

    /// Returns the watch of the ends of the keys that `signer` signs with.
    func keyEnds(
        _ running: RunningConfiguration, _ signer: any SigningPort, _ metrics: WorkerMetrics
    ) -> KeyEndWatch {
        KeyEndWatch(
            { running.provided }, signer: signer, status: status, metrics: metrics, logger: logger, now: now)
    }

    /// Starts the export of spans, in a task that does not see the graceful shutdown; nil where there is no
    /// collector.
    func startExport(_ metrics: WorkerMetrics) -> Task<Void, Never>? {
        guard let telemetry else { return nil }
        let exporter = Exporter(
            to: telemetry.collector, queue: telemetry.spans, metrics: metrics.export,
            resource: { [status] in
                let instance = status.name
                let name = EndedSpan.Attribute("service.name", .text("remint"))
                return instance.isEmpty ? [name] : [name, EndedSpan.Attribute("service.instance.id", .text(instance))]
            }, logger: logger, now: now,
            answered: { [status] trouble in
                status.degradations.set(.telemetry, trouble.map { "the collector does not accept traces: \($0)" })
            })
        return Task.detached { await exporter.run() }
    }

    static func end(_ export: Task<Void, Never>?) async {
        export?.cancel()
        await export?.value
    }
}
