import AdapterKit
import Kafka
import Synchronization

extension TokenStore {
    /// Notes that the outcome of an event of `topic` is awaited.
    func waits(for place: DeliveredPlace, of topic: String) {
        let (now, partition) = (now(), TopicPartition(topic: topic, partition: place.partition))
        progress.withLock { $0.sent(partition, place.offset, at: now) }
    }

    /// The partitions whose events workers may not have handled yet, so that their committed offsets matter.
    var openPartitions: [TopicPartition] {
        let now = now()
        return progress.withLock { $0.open(at: now) }
    }

    /// Records the offsets that the workers' group committed for `partitions`, and ends the waits for events that
    /// workers are done with.
    ///
    /// - Parameter isRead: whether the tokens that were published before the answer were read.
    func committed(_ offsets: [TopicPartition: Int64], of partitions: [TopicPartition], isRead: Bool) {
        let now = now()
        let handled = progress.withLock { progress in
            progress.committed(offsets, of: partitions, isRead: isRead, at: now)
            return progress.handled
        }
        if !handled.isEmpty { waiters.handled(handled) }
    }

    /// Notes that workers begin now with the events that were sent before: a pause is over, or a worker is back.
    func resumeWorkers() {
        let now = now()
        progress.withLock { $0.resume(at: now) }
    }

    /// Records the description of a topic of events.
    ///
    /// - Parameter problem: the brokers' code; nil where nothing is wrong.
    func described(_ topic: String, problem: String?) {
        let now = now()
        let isNew = refusals.withLock { $0.described(topic, problem: problem, at: now) }
        if isNew { progress.withLock { $0.createdAgain(topic, at: now) } }
    }

    /// The topics of events that take none.
    var eventOutages: [EventRefusals.Outage] {
        let now = now()
        return refusals.withLock { $0.outages(at: now) }
    }

    /// The moment from which no worker answers; nil where one does or it is unknown.
    var unansweredSince: UnixTime? {
        let now = now()
        return progress.withLock { $0.stuckSince(at: now) }
    }

    /// The moment of the workers' last known progress, or of a new start of a topic; nil where there was none.
    var lastProgress: UnixTime? { progress.withLock { $0.lastChange } }

    /// Whether workers handled an event since the start.
    var hasSeenProgress: Bool { progress.withLock { $0.hasMoved } }
}
