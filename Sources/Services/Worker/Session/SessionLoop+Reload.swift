import Pipeline
import Wiring
import WorkerConfiguration

extension SessionLoop {
    /// Applies a new configuration, if there is one: between two batches, so that one configuration alone answers each
    /// batch.
    mutating func takeReload() async {
        guard let reloader = context.reloader, let reload = reloader.running.take() else { return }
        await reloader.begin(reload)
        processor.apply(reload.terms(worker: instance, reserved: context.configuration.appTopics))
        machine.apply(Self.settings(reload.plan.configuration, limit: context.quota.limit))
        // Every event that waits for a vendor's answer is looked at again, and asks again where it has to.
        machine.answersCame()
        askVendors()
        context.showApps(processor)
        await reloader.end(reload)
    }

    /// Returns the machine's settings in `configuration`.
    ///
    /// - Parameter limit: the most events to read ahead because of a quota; nil for no limit.
    static func settings(_ configuration: Configuration, limit: Int?) -> SessionStateMachine.Settings {
        let worker = configuration.worker
        return SessionStateMachine.Settings(
            shares: LaneShares(readAhead: min(worker.readAheadEvents, limit ?? .max), bulkShare: worker.bulkShare),
            linger: worker.batchLinger, rest: configuration.delivery == .exactlyOnce ? rest : .zero,
            retries: configuration.retryPolicy, memory: worker.memory)
    }
}
