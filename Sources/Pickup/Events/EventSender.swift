import AdapterKit
import Kafka
import Logging
import Pipeline
import WorkerConfiguration

/// Puts events on their topics, as the edge that vouches for them.
///
/// Nothing of a caller's headers reaches the record: who asks, for whom and which app stands in what the gateway writes itself.
struct EventSender: Sendable {
    let producer: ProducerPlace
    let desk: TokenDesk
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

    /// Sends `asks`. Every call that shares one of them is told where the brokers do not take its event.
    func send(_ asks: [OutgoingAsk]) {
        Task {
            let errors = await producer.current.deliver(asks.map(\.record))
            for (ask, error) in zip(asks, errors) {
                desk.delivered(
                    ask, error.map { .refused(Problem.unavailable("the event was not taken: \($0.code)")) } ?? .taken)
            }
        }
    }
}
