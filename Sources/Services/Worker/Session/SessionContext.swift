import AdapterKit
import Kafka
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
    let observer: SessionObserver
    let requests: SessionRequests
    let unreadable: UnreadableRecords
    let reachability: Reachability
    /// The brokers' quota for the worker, which outlives a session.
    let quota = BrokerQuota()
    let clock: ClockWatch
    /// The log of the Kafka clients. A session itself has none: its observer logs.
    let clientLogger: Logger
    let now: @Sendable () -> UnixTime
    /// The tracing of events; nil for none.
    var tracing: EventTracing?
    /// The source of new configurations; nil for none.
    var reloader: Reloader?

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

    var isQuiet: Bool { status.isQuiet }

    var isRenewalWanted: Bool { status.isRenewalWanted }

    func takeRenewal() -> Bool { status.takeRenewal() }
}

/// The reason why a worker closes its Kafka clients.
enum SessionEnd: Sendable {
    case stopped
    /// New ones are wanted: the files of their certificates changed. All that was ready is committed, and the partitions are given
    /// back.
    case renewed
    /// A partition's log is not the one that was read; the next session decides where to read from.
    case reopened
    /// The clients are of no further use; new ones start from the broker's committed offsets.
    case unusable(KafkaError)
    /// Another worker has this one's transactional id, or its places in the groups.
    case fenced(KafkaError)
    /// An error in the program: the worker must stop.
    case broken(String)

    /// Whether no session follows, because the worker was asked to stop.
    var isStop: Bool { if case .stopped = self { true } else { false } }

    /// The end of a session one of whose clients failed with `error`.
    init(failed error: KafkaError) { self = error.isFenced ? .fenced(error) : .unusable(error) }
}
