import Kafka
import Pipeline
import Wiring
import WorkerConfiguration

/// The records to produce for a transaction, and the result of each.
struct Deliveries {
    /// The records, each with its event's place among the transaction's ends.
    let records: [(place: Int, record: ProducerRecord)]
    private var errors: [KafkaError?]

    /// The deliveries of `unit`, whose first event has the place `first`.
    init(_ unit: CommitUnit, from first: Int = 0, _ configuration: Configuration) {
        var records: [(place: Int, record: ProducerRecord)] = []
        records.reserveCapacity(unit.eventCount)
        var place = first
        for batch in unit.batches {
            for settlement in batch.settlements {
                if let output = settlement.output { records.append((place, ProducerRecord(output, configuration))) }
                place += 1
            }
        }
        self.records = records
        errors = Array(repeating: nil, count: records.count)
    }

    /// Produces them. Those at `single` go one by one, so that a record that is too large does not take the rest of its
    /// producer batch with it.
    mutating func deliver(by producer: KafkaProducer, oneByOne single: Set<Int>) async {
        let together = records.indices.filter { !single.contains(records[$0].place) }
        let answers = await producer.deliver(together.map { records[$0].record })
        for (index, answer) in zip(together, answers) { errors[index] = answer }
        // The smallest first: what is larger than one that is refused need not be tried.
        let bySize = records.indices.filter { single.contains(records[$0].place) }
            .sorted { records[$0].record.body.bytes.count < records[$1].record.body.bytes.count }
        for index in bySize {
            errors[index] = await producer.deliver([records[index].record]).first ?? nil
            if errors[index] != nil { return }
        }
    }

    /// Returns those of `places` whose records go to the same topic as the one at `culprit` and are at least as large.
    func atLeastAsLarge(as culprit: Int, among places: Set<Int>) -> [Int] {
        guard let smallest = records.first(where: { $0.place == culprit })?.record else { return [] }
        return records.filter { place, record in
            places.contains(place) && record.topic == smallest.topic
                && record.body.bytes.count >= smallest.body.bytes.count
        }.map(\.place)
    }

    var tooLarge: [Int] { failures { $0.code == .messageTooLarge }.map { records[$0].place } }

    /// Returns the topics that refuse records, and the error. An error without a topic may concern any record's topic:
    /// a record that timed out may have waited for the topic of another record. `cause` is the library's error for the
    /// whole transaction, and `topics` has those that it may not write, if the library names them.
    func refused(because cause: KafkaError, _ topics: Set<String>) -> Blockage? {
        let named = records.map(\.record).filter { topics.contains($0.topic) }
        if hasOnlyConsequences, !named.isEmpty { return Blockage(cause, named) }
        let refused = failures { $0.code.isAboutTopic && $0.code != .messageTooLarge }
        guard let first = refused.first, let error = errors[first] else {
            let isMeant = hasOnlyConsequences && cause.code.isAboutTopic && cause.code != .messageTooLarge
            return isMeant ? Blockage(cause, records.map(\.record)) : nil
        }
        let isVague = error.code == .messageTimedOut
        return Blockage(error, isVague ? records.map(\.record) : refused.map { records[$0].record })
    }

    /// Whether each record's error only follows from the error of the transaction.
    var hasOnlyConsequences: Bool {
        let all = errors.compactMap { $0 }
        return !all.isEmpty && all.allSatisfy { Self.consequences.contains($0.code) }
    }

    /// The first error, those that only follow from another one last.
    var error: KafkaError? {
        let all = errors.compactMap { $0 }
        return all.first { $0.isFenced || $0.isFatal } ?? all.first { !Self.consequences.contains($0.code) }
            ?? all.first
    }

    private func failures(_ isMeant: (KafkaError) -> Bool) -> [Int] {
        errors.indices.filter { errors[$0].map(isMeant) ?? false }
    }

    /// The errors of records that only follow from an error of the transaction.
    static let consequences: Set<KafkaError.Code> = [.purged, .purgedInFlight, .invalidState]
}

/// The outcomes of a transaction that must become smaller, because their topics refuse records of that size.
///
/// A producer sends records together, and a broker refuses a whole request: one record that is too large fails all
/// records of the request. So the suspects are sent one by one before any counts as too large.
struct LargeRecords {
    /// To be sent one by one.
    private(set) var suspects: Set<Int> = []

    /// Records at `places` were refused for their size.
    ///
    /// - Returns: the one to make smaller; nil where they are to be sent one by one first.
    mutating func culprit(among places: [Int]) -> Int? {
        guard places.count == 1, let place = places.first else {
            suspects.formUnion(places)
            return nil
        }
        // Alone among many that went together it may be the first of them that was answered.
        guard suspects.contains(place) else {
            suspects.insert(place)
            return nil
        }
        return place
    }
}

extension ProducerRecord {
    init(_ record: OutputRecord, _ configuration: Configuration) {
        self.init(topic: configuration.topic(for: record.destination), body: record.body)
    }
}
