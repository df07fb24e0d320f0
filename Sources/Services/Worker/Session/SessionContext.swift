import AdapterKit
import Logging
import Pipeline
import Wiring
import WorkerConfiguration

/// The parts that all sessions of a worker share.
struct SessionContext: Sendable {
    /// The configuration that the worker was started with: brokers, topics, delivery guarantee.
    let configuration: Configuration
    let signer: any SigningPort
    /// The client of the vendors' look-ups; nil if no app has look-ups.
    let lookups: (any LookupPort)?
    /// The receiver of everything that happens in a session.
    let observer: SessionObserver
    let requests: SessionRequests
    /// Counts records that were read back and are not valid.
    let unreadable: UnreadableRecords
    let reachability: Reachability
    /// The brokers' quota for the worker, which outlives a session.
    let quota = BrokerQuota()
    /// The comparison of this machine's clock with others.
    let clock: ClockWatch
    /// The log of the Kafka clients. A session itself has none: its observer logs.
    let clientLogger: Logger
    let now: @Sendable () -> UnixTime
    /// The tracing of events; nil for none.
    var tracing: EventTracing?
    /// The source of new configurations; nil for none.
    var reloader: Reloader?

    /// The effective configuration.
    var running: Configuration { reloader?.running.current ?? configuration }

    /// Shows the effective configuration's apps as `processor` and the signer have them.
    func showApps(_ processor: BatchProcessor) {
        let suspensions = Dictionary(processor.suspensions.map { ($0.app, $0) }) { first, _ in first }
        let apps = running.apps.map { app in
            var status = WorkerStatus.AppStatus(
                name: app.name, adapter: app.adapter.name, keyRing: app.key,
                keyVersion: signer.activeKey(of: app.key)?.version, suspension: suspensions[app.name])
            status.nextProbe = suspensions.isEmpty ? nil : processor.nextProbe(of: app.name)
            return status
        }
        observer.show(apps, memory: processor.memory)
    }
}

/// The requests of operators, signals and watchers to a session. It shows nothing else of the status.
struct SessionRequests: Sendable {
    private let status: WorkerStatus

    /// The requests that come to `status`.
    init(_ status: WorkerStatus) { self.status = status }

    /// Whether the worker is to take nothing new.
    var isQuiet: Bool { status.isQuiet }

    /// Whether new clients are requested, and no session has taken the request.
    var isRenewalWanted: Bool { status.isRenewalWanted }

    /// Returns whether new clients were requested since the last call.
    func takeRenewal() -> Bool { status.takeRenewal() }
}
