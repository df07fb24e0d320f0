package import AdapterKit
package import Kafka
package import Logging
package import Pipeline
import Worker
package import WorkerConfiguration

/// One redrive: read, publish, commit, batch after batch.
package struct RedriveRun {
    /// What came of it.
    package struct Result {
        /// How many were sent back.
        package var redriven = 0
        /// How many the filter does not mean.
        package var unmatched = 0
        /// How many stay, and why.
        package var refused: [Redrive.Refusal: Int] = [:]
        /// Why not everything could be published.
        package var failure: KafkaError?
    }

    let configuration: Configuration
    let filter: DeadLetterFilter
    let maximumRedrives: Int
    let isDryRun: Bool
    /// Letters a second; 0 for no limit.
    let rate: Int
    let now: UnixTime
    let display: any ProgressDisplay

    /// A redrive of what `filter` means; `rate` letters a second, 0 for no limit.
    package init(
        configuration: Configuration, filter: DeadLetterFilter, maximumRedrives: Int, isDryRun: Bool, rate: Int,
        now: UnixTime, display: any ProgressDisplay
    ) {
        self.configuration = configuration
        self.filter = filter
        self.maximumRedrives = maximumRedrives
        self.isDryRun = isDryRun
        self.rate = rate
        self.now = now
        self.display = display
    }

    /// How many are published together: a tenth of a second's worth where there is a limit.
    private var batch: Int { rate == 0 ? 500 : max(1, min(500, rate / 10)) }

    /// - Throws: `KafkaError`.
    package func run(brokers: String, group: String, logger: Logger) async throws -> Result {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let consumer = try KafkaConsumer(
            properties.reader(group: group), topics: [configuration.topics.deadLetters], logger: logger)
        let producer = try KafkaProducer(properties.producer, logger: logger)
        do {
            let result = try await drive(consumer, producer)
            await consumer.close(within: .seconds(10))
            await producer.close(within: .seconds(10))
            return result
        } catch {
            await consumer.close(within: .seconds(1))
            await producer.close(within: .seconds(1))
            throw error
        }
    }

    private func drive(_ consumer: KafkaConsumer, _ producer: KafkaProducer) async throws -> Result {
        var result = Result()
        var reading: TopicReading?
        var progress = display
        defer { progress.clear() }
        let start = ContinuousClock.now
        while reading.map({ !$0.isDone }) ?? true {
            var records: [ConsumedRecord] = []
            for event in await consumer.events(limit: batch, within: .milliseconds(500)) {
                switch event {
                case .record(let record): if reading?.took(record.position) == true { records.append(record) }
                case .endOfPartition(let partition): reading?.ended(partition)
                case .error(let error): if error.isFatal { throw error }
                case .rebalance(let rebalance):
                    try await consumer.answer(rebalance)
                    reading = rebalance.kind == .assigned ? try await bounds(rebalance.partitions, consumer) : nil
                }
            }
            guard !records.isEmpty else { continue }
            guard try await publish(records, &result, producer, consumer) else { break }
            progress.show(reading?.done ?? 0, of: reading?.total ?? 0, "\(result.redriven) sent back")
            await keepRate(result.redriven, since: start)
        }
        return result
    }

    /// From where the group is to where the topic ends now.
    private func bounds(
        _ partitions: [TopicPartition], _ consumer: KafkaConsumer
    ) async throws -> TopicReading {
        let committed = try await consumer.committed(partitions, within: .seconds(15))
        var bounds: [TopicPartition: Range<Int64>] = [:]
        for partition in partitions {
            let all = try await consumer.bounds(of: partition, within: .seconds(15))
            let start = min(max(committed[partition] ?? all.lowerBound, all.lowerBound), all.upperBound)
            bounds[partition] = start..<all.upperBound
        }
        return TopicReading(bounds)
    }

    /// Publishes what is meant of `records`, then commits all of them.
    ///
    /// - Returns: false where something could not be published: nothing of the batch is committed then.
    private func publish(
        _ records: [ConsumedRecord], _ result: inout Result, _ producer: KafkaProducer, _ consumer: KafkaConsumer
    ) async throws -> Bool {
        let inputs = [configuration.topics.invalidations, configuration.topics.invalidationsBulk]
        let decoder = configuration.deadLetterDecoder
        var sent: [ProducerRecord] = []
        for record in records {
            let input = InputRecord(deadLetter: record)
            let entry = DeadLetterEntry(input, decoder: decoder)
            guard filter.matches(entry, at: now) else {
                result.unmatched += 1
                continue
            }
            do throws(RedriveRefused) {
                let redrive = try Redrive(input, entry, inputs: inputs, maximumRedrives: maximumRedrives)
                sent.append(
                    ProducerRecord(
                        topic: redrive.topic, key: redrive.key, value: redrive.value,
                        headers: redrive.headers))
            } catch { result.refused[error.reason, default: 0] += 1 }
        }
        if !isDryRun {
            let errors = await producer.deliver(sent)
            if let error = errors.compactMap({ $0 }).first {
                result.failure = error
                result.redriven += errors.count { $0 == nil }
                return false
            }
            try await consumer.commit(Self.ends(of: records))
        }
        result.redriven += sent.count
        return true
    }

    /// Behind the last record of each partition.
    private static func ends(of records: [ConsumedRecord]) -> [PartitionOffset] {
        var ends: [TopicPartition: Int64] = [:]
        for record in records {
            ends[TopicPartition(record.position)] =
                record.position.offset + 1
        }
        return ends.map { PartitionOffset($0, offset: $1) }
    }

    private func keepRate(_ count: Int, since start: ContinuousClock.Instant) async {
        guard rate > 0, !isDryRun else { return }
        let due = start + .seconds(Double(count) / Double(rate))
        if due > .now { try? await Task.sleep(until: due, clock: .continuous) }
    }
}
