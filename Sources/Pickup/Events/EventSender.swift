import AdapterKit
import Kafka
import Logging
import Pipeline
import Synchronization
import Worker
import WorkerConfiguration

/// Puts events on their topics, as the edge that vouches for them.
///
/// Nothing of a caller's headers reaches the record: who asks, for whom and which app stands in what the gateway writes itself.
struct EventSender: Sendable {
    let producer: ProducerPlace
    let now: @Sendable () -> UnixTime

    /// What an event is about.
    enum Body {
        /// The SDK's report, as it came.
        case report([UInt8])
        /// A token is wanted, without a failure.
        case reissue(Subject)
    }

    /// The event of `asker` for `app`, called `id`.
    func record(_ body: Body, id: String, _ asker: Asker, _ app: PickupApp) -> ProducerRecord {
        let (value, type): ([UInt8], String)
        switch body {
        case .report(let report): (value, type) = (report, "remint.report.v1")
        case .reissue(let subject): (value, type) = (PickupApp.request(for: subject), "remint.reissue.requested.v1")
        }
        var headers = [
            RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", id),
            RecordHeader("ce_source", "/remint/pickup"), RecordHeader("ce_type", type),
            RecordHeader("ce_app", app.name),
            RecordHeader("ce_time", now().description), RecordHeader("content-type", "application/json"),
        ]
        if case .report = body { headers.append(RecordHeader("ce_vouched", asker.vouched)) }
        if let device = asker.device { headers.append(RecordHeader("ce_subject", device)) }
        return ProducerRecord(
            topic: app.topic, key: asker.subject.key(app: app.name), value: value, headers: headers)
    }

    /// The record as the worker will read it, for a forecast.
    func input(_ record: ProducerRecord) -> InputRecord {
        InputRecord(
            origin: RecordPosition(topic: record.topic, partition: 0, offset: 0), timestamp: now(), body: record.body)
    }

    /// Sends `record`, and waits for the brokers' word for as long as its caller does.
    ///
    /// - Throws: `Problem` where the brokers did not take it, or did not answer in time.
    func send(_ record: ProducerRecord, within wait: Duration) async throws(Problem) {
        // Who does not wait is told whether the event was taken, which takes a round trip.
        let delivery = Delivery()
        Task { delivery.end(.ended(await producer.current.deliver([record]).first ?? nil)) }
        let waiting = Task {
            try await Task.sleep(for: max(wait, Self.leastWait))
            delivery.end(.late)
        }
        defer { waiting.cancel() }
        switch await delivery.end {
        case .ended(nil): return
        case .ended(let error?): throw Problem.unavailable("the event was not taken: \(error.code)")
        case .late: throw Problem.unavailable("the brokers have not taken the event yet")
        }
    }

    private static let leastWait = Duration.milliseconds(500)
}

/// What comes first of a delivery: the brokers' word, or the end of a wait.
private final class Delivery: Sendable {
    enum End: Sendable {
        case ended(KafkaError?)
        case late
    }

    private enum State {
        case open
        case awaited(CheckedContinuation<End, Never>)
        case ended(End)
    }

    private let state = Mutex(State.open)

    /// Notes an end; only the first counts.
    func end(_ end: End) {
        let waiter = state.withLock { state -> CheckedContinuation<End, Never>? in
            switch state {
            case .open: state = .ended(end)
            case .awaited(let waiter):
                state = .ended(end)
                return waiter
            case .ended: break
            }
            return nil
        }
        waiter?.resume(returning: end)
    }

    /// The end. One task awaits it.
    var end: End {
        get async {
            await withCheckedContinuation { continuation in
                let end = state.withLock { state -> End? in
                    if case .ended(let end) = state { return end }
                    state = .awaited(continuation)
                    return nil
                }
                if let end { continuation.resume(returning: end) }
            }
        }
    }
}
