import AdapterKit
import Kafka
import Logging
import Pipeline
import Telemetry
import Worker
import WorkerConfiguration

/// Reads what the token topic held before it was followed, newest first, until the memory for tokens is full or the rest is older than
/// is wanted: beside the calls, with a consumer of its own.
final class TopicPast: Sendable {
    /// What a record of the past says of its subject.
    private struct Word: Sendable {
        let key: [UInt8]
        /// The token; nil for an erasure.
        let token: HeldToken?
    }

    /// Partitions, each with the offset from which on it is followed.
    typealias Ends = [TopicPartition: Int64]

    private static let timeout = Duration.seconds(10)
    /// The records that the windows of all partitions hold together.
    private static let records = 8000
    private let configuration: Configuration
    private let age: Duration
    private let brokers: String
    private let desk: TokenDesk
    private let unreadable: UnreadableRecords
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    /// Told how many tokens were read.
    private let noted: @Sendable (Int) -> Void
    private let (wanted, more) = AsyncStream.makeStream(of: Ends.self)

    init(
        _ configuration: Configuration, age: Duration, brokers: String, desk: TokenDesk,
        unreadable: UnreadableRecords, logger: Logger, now: @escaping @Sendable () -> UnixTime,
        noted: @escaping @Sendable (Int) -> Void
    ) {
        self.configuration = configuration
        self.age = age
        self.brokers = brokers
        self.desk = desk
        self.unreadable = unreadable
        self.logger = logger
        self.now = now
        self.noted = noted
    }

    /// Wants partitions read that are followed from these offsets on.
    func add(_ ends: Ends) { more.yield(ends) }

    /// Reads what is wanted, until the task is cancelled; where the brokers fail it goes on where it was.
    func run() async {
        for await ends in wanted {
            var windows = PastWindows<Word>(size: max(500, Self.records / max(1, ends.count)))
            var isBounded = false
            var backoff = Backoff(atMost: .seconds(5))
            while !Task.isCancelled, desk.takesPast {
                do {
                    try await read(ends, &windows, &isBounded)
                    break
                } catch {
                    logger.warning(
                        "the token topic's past cannot be read; it is tried again",
                        metadata: [LogKey.kafkaError: "\(error)"])
                }
                // A cancellation is looked at above.
                try? await Task.sleep(for: backoff.pause())
            }
            desk.pastEnds()
        }
    }

    private func read(_ ends: Ends, _ windows: inout PastWindows<Word>, _ isBounded: inout Bool) async throws {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let reader = try KafkaConsumer(
            properties.reader(group: "\(configuration.kafka.group)-pickup"), reading: [], logger: logger)
        do {
            if !isBounded {
                for (partition, low) in try await lows(ends, reader) {
                    windows.add(partition, low..<max(low, ends[partition] ?? low))
                }
                isBounded = true
            }
            // A reader that knows where the partitions are does not look for them twice.
            _ = try await reader.metadata(of: configuration.topics.tokens, within: Self.timeout)
            let starts = windows.open.compactMap { partition in
                windows.begin(partition).map { PartitionOffset(partition, offset: $0) }
            }
            if !starts.isEmpty { try await reader.read(starts) }
            while !windows.isEmpty, !Task.isCancelled, desk.takesPast { try await step(reader, &windows) }
            await reader.close(within: .seconds(1))
        } catch {
            await reader.close(within: .seconds(1))
            throw error
        }
    }

    /// The first offset of each partition that is wanted.
    private func lows(_ ends: Ends, _ reader: KafkaConsumer) async throws -> [TopicPartition: Int64] {
        let partitions = Array(ends.keys)
        let bounds = try await reader.bounds(of: partitions, within: Self.timeout)
        // What is older than the longest life has ended.
        let longest = configuration.apps.map(\.lifetime).max() ?? 0
        let seconds = min(age.components.seconds, longest + 60)
        let since = now().milliseconds - seconds * 1000
        // A broker that does not know times is read from the beginning.
        let known = (try? await reader.offsets(of: partitions, notBefore: since, within: Self.timeout)) ?? [:]
        return bounds.reduce(into: [:]) { lows, entry in
            let (partition, bounds) = entry
            // Where the newest record is older there is nothing to read.
            lows[partition] = known[partition] ?? (known.isEmpty ? bounds.lowerBound : bounds.upperBound)
        }
    }

    private func step(_ reader: KafkaConsumer, _ windows: inout PastWindows<Word>) async throws {
        var moved: Set<TopicPartition> = []
        for event in await reader.events(limit: 2000, within: .milliseconds(500)) {
            switch event {
            case .record(let record):
                let partition = TopicPartition(record.position)
                guard !moved.contains(partition) else { continue }
                let finding = windows.append(word(record), at: record.position.offset, of: partition)
                if finding == .ended { learn(windows.end(partition)) }
                if finding != .reading { moved.insert(partition) }
            case .endOfPartition(let partition, _):
                // One that belongs to a window which has ended came together with the window's last record.
                guard moved.insert(partition).inserted else { continue }
                learn(windows.end(partition))
            case .error(let error): if error.isFatal { throw error }
            case .rebalance: break
            }
        }
        var starts: [PartitionOffset] = []
        for partition in moved {
            if let start = windows.begin(partition) {
                starts.append(PartitionOffset(partition, offset: start))
            } else {
                try await reader.pause([partition])
            }
        }
        try await reader.seek(to: starts)
    }

    private func word(_ record: ConsumedRecord) -> Word? {
        guard let key = record.body.key else { return nil }
        guard record.body.hasValue else { return Word(key: key, token: nil) }
        do throws(RecordFault) { return Word(key: key, token: try HeldToken(record.body, at: now())) } catch {
            unreadable.count(error, .tokens, at: record.position)
            return nil
        }
    }

    private func learn(_ words: [Word]) {
        for word in words {
            if let token = word.token { desk.recalled(token, for: word.key) } else { desk.erasedBefore(word.key) }
        }
        noted(words.count { $0.token != nil })
    }
}
