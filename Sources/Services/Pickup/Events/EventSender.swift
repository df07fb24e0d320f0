import AdapterKit
import JOSE
import Kafka
import Logging
import Pipeline
import Synchronization
import WorkerConfiguration

/// Puts events on their topics, as the edge that vouches for their users.
///
/// No header of a caller reaches the record: the gateway itself writes the caller, the user and the app.
struct EventSender: Sendable {
    let producer: ProducerPlace
    let store: TokenStore
    let now: @Sendable () -> UnixTime

    enum Body {
        /// The SDK's report, as it came.
        case report([UInt8])
        /// A request for a token, without a failure.
        case reissue(Subject)
    }

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
        if isVouched(body, app) { headers.append(RecordHeader("ce_vouched", asker.vouched)) }
        if let device = asker.device { headers.append(RecordHeader("ce_subject", device)) }
        return ProducerRecord(
            topic: app.topic, key: asker.subject.key(app: app.name), value: value, headers: headers)
    }

    /// Returns whether the event of `body` vouches for its user. A request without a report names the user itself, and vouches for
    /// the members that the app's tokens need.
    private func isVouched(_ body: Body, _ app: PickupApp) -> Bool {
        switch body {
        case .report: true
        case .reissue: app.needsMembers
        }
    }

    /// Returns the record as the worker will read it, for a forecast.
    func input(_ record: ProducerRecord) -> InputRecord {
        InputRecord(
            origin: RecordPosition(topic: record.topic, partition: 0, offset: 0), timestamp: now(), body: record.body)
    }

    /// Sends `asks`. Every call that shares an ask is notified if the brokers do not accept its event.
    func send(_ asks: [OutgoingAsk]) {
        Task {
            let results = await producer.current.deliverPlaced(asks.map(\.record))
            for (ask, result) in zip(asks, results) {
                switch result {
                case .success(let place): store.delivered(ask, .taken(at: place))
                case .failure(let error):
                    note(error, of: ask.record)
                    store.delivered(ask, .refused(Problem.unavailable("the event was not taken: \(error.code)")))
                }
            }
        }
    }

    /// Notes that the brokers refused `record`. While no broker answers, that is known by itself.
    private func note(_ error: KafkaError, of record: ProducerRecord) {
        guard store.tail.silentSince == nil, error.code != .closed else { return }
        let body = record.body
        let length = (body.key?.count ?? 0) + (body.value?.count ?? 0)
        store.refusals.withLock {
            $0.refused(
                record.topic, code: error.code.description, isForLength: error.code == .messageTooLarge,
                length: length, at: now())
        }
    }
}

/// Makes the ids of the gateway's events. A caller who sees some ids cannot guess another one: with a guessed id, an
/// event could end another caller's wait.
struct EventIDs: Sendable {
    /// 32 random bytes, known to this process alone.
    private let secret: [UInt8]

    /// Ids under a secret from `random`.
    init(random: some RandomNumberGenerator = SystemRandomNumberGenerator()) {
        var random = random
        secret = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// Returns the id of an event with `report`. The same report of the same device has the same id, so that a lost
    /// answer is not asked for twice.
    func id(of report: [UInt8], subjectKey: [UInt8], device: String?) -> String {
        let text = subjectKey + [0] + Array((device ?? "").utf8) + [0] + report
        // Hashed twice, as HMAC does, so that the first hash's end reveals nothing about longer texts.
        let digest = SHA256.hash(secret + SHA256.hash(secret + text))
        return "pickup-" + Base64.url.encode(Array(digest.prefix(18)))
    }

    /// Returns a unique id: 122 random bits.
    func fresh() -> String {
        var random = SystemRandomNumberGenerator()
        return "pickup-" + RandomUUID.make(using: &random)
    }
}

/// The present producer. When the files of its certificates change, a new producer replaces it.
final class ProducerPlace: Sendable {
    /// The time for the records that the old producer still has; a record gives up earlier.
    private static let closeTimeout = Duration.seconds(35)

    private let producer: Mutex<KafkaProducer>
    private let make: @Sendable () throws(KafkaError) -> KafkaProducer

    /// - Parameter make: makes a producer with the present files.
    /// - Throws: `KafkaError` when librdkafka refuses a property.
    init(_ make: @escaping @Sendable () throws(KafkaError) -> KafkaProducer) throws(KafkaError) {
        self.make = make
        producer = Mutex(try make())
    }

    var current: KafkaProducer { producer.withLock { $0 } }

    /// Replaces the producer by a new one. The old one delivers the records that it has accepted, and closes.
    ///
    /// - Throws: `KafkaError` where no producer can be made; the old one stays.
    func renew() throws(KafkaError) {
        let new = try make()
        let old = producer.withLock { producer in
            defer { producer = new }
            return producer
        }
        Task { await old.close(within: Self.closeTimeout) }
    }

    func close(within limit: Duration) async { await current.close(within: limit) }
}
