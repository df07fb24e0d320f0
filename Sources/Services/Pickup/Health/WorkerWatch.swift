import AdapterKit
import Kafka
import Logging
import Pipeline
import Synchronization
import Telemetry
import Wiring
import WorkerConfiguration

/// Asks the coordinator of the workers' group regularly whether the group has members, and what it committed of the
/// events that this gateway sent.
final class WorkerWatch: Sendable {
    private static let interval = Duration.seconds(4)
    /// The interval between two questions about committed offsets.
    private static let commitInterval = Duration.seconds(1)
    private static let timeout = Duration.seconds(5)
    /// The pause after a question without an answer: the brokers are away, or they describe no groups.
    private static let pauseAfterFailure = Duration.seconds(15)

    private let properties: KafkaProperties
    private let liveTopic: String
    private let tokenTopic: String
    private let store: TokenStore
    private let eventTopics: @Sendable () -> Set<String>
    /// Gets each topic of events that exists.
    private let found: @Sendable (_ topic: String) -> Void
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    private let state = Mutex(WorkerPresence())
    private let isRenewalDue = Atomic(false)
    private let isReaderRenewalDue = Atomic(false)

    init(
        _ configuration: Configuration, brokers: String, store: TokenStore,
        eventTopics: @escaping @Sendable () -> Set<String>, found: @escaping @Sendable (_ topic: String) -> Void,
        logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        properties = KafkaProperties(configuration, bootstrapServers: brokers)
        liveTopic = configuration.topics.invalidations
        tokenTopic = configuration.topics.tokens
        self.store = store
        self.eventTopics = eventTopics
        self.found = found
        self.logger = logger
        self.now = now
    }

    /// The moment from which no worker is in the group; nil while one is, or while it is unknown.
    var absentSince: UnixTime? { state.withLock { $0 }.absentSince(at: now()) }

    var isGroupUnknown: Bool { state.withLock { !$0.isKnown } }

    /// Replaces the clients, because the files of their certificates changed.
    func renew() {
        isRenewalDue.store(true, ordering: .relaxed)
        isReaderRenewalDue.store(true, ordering: .relaxed)
    }

    /// Watches until the task is canceled. Brokers that do not answer change nothing: readiness reports them by
    /// themselves.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.watchMembers() }
            group.addTask { await self.watchCommits() }
        }
    }

    // MARK: Members

    private func watchMembers() async {
        let group = properties.group(of: .live)
        // A client of its own: a question makes the client's other work wait.
        var client: KafkaProducer?
        while !Task.isCancelled {
            var pause = Self.interval
            do throws(KafkaError) {
                if isRenewalDue.exchange(false, ordering: .relaxed) { await Self.end(&client) }
                if client == nil { client = try KafkaProducer(properties.producer, logger: logger) }
                let found = try await client?.consumerGroups([group], within: Self.timeout)[group]
                let reading: WorkerPresence.Reading
                if let found { reading = .members(found.members.count) } else { reading = await unshown() }
                let wasAbsent = absentSince != nil
                state.withLock { $0.record(reading, at: now()) }
                if wasAbsent, absentSince == nil { store.resumeWorkers() }
            } catch { pause = Self.pauseAfterFailure }
            // The loop's condition checks for cancellation.
            try? await Task.sleep(for: pause)
        }
        await Self.end(&client)
    }

    /// Returns the reading of a group that the brokers do not show: an account that may ask for its offsets would also
    /// see it.
    private func unshown() async -> WorkerPresence.Reading {
        guard let reader = try? makeReader() else { return .hidden }
        let offsets = try? await reader.whileOpen { reader in
            try await reader.committed([TopicPartition(topic: liveTopic, partition: 0)], within: Self.timeout)
        }
        return offsets == nil ? .hidden : .none
    }

    private static func end(_ client: inout KafkaProducer?) async {
        await client?.close(within: .zero)
        client = nil
    }

    // MARK: Commits

    /// Asks for committed offsets while events may be unhandled: one question a second, for all calls together. Asks
    /// regularly for the topics of events too.
    private func watchCommits() async {
        var kept: KafkaConsumer?
        var described = ContinuousClock.now - Self.interval
        while !Task.isCancelled {
            var pause = Self.commitInterval
            let partitions = store.openPartitions
            do throws(KafkaError) {
                if isReaderRenewalDue.exchange(false, ordering: .relaxed) { await Self.end(&kept) }
                let reader: KafkaConsumer
                if let kept { reader = kept } else { reader = try makeReader() }
                kept = reader
                if .now - described >= Self.interval {
                    described = .now
                    try await describeTopics(reader)
                }
                if !partitions.isEmpty {
                    let offsets = try await reader.committed(partitions, within: Self.timeout)
                    // Whether workers get on is known even while the tokens cannot be read.
                    store.committed(offsets, of: partitions, isRead: await hasReadTokens(reader))
                }
            } catch { pause = Self.interval }
            // The loop's condition checks for cancellation.
            try? await Task.sleep(for: pause)
        }
        await Self.end(&kept)
    }

    /// Asks whether the topics of events exist. A client that reads creates none.
    private func describeTopics(_ reader: KafkaConsumer) async throws(KafkaError) {
        for topic in eventTopics().sorted() {
            let metadata = try await reader.metadata(of: topic, within: Self.timeout)
            let error = metadata.error.flatMap { $0.code.isAboutReading ? $0 : nil }
            let isMissing = metadata.partitionCount == 0 && metadata.error == nil || error != nil
            if !isMissing { found(topic) }
            let code = error?.code ?? .unknownTopicOrPartition
            store.described(topic, problem: isMissing ? code.description : nil)
        }
    }

    /// Waits until the gateway has read what workers published before this moment: a token and the offset of its event
    /// are committed together, and the token may arrive later.
    ///
    /// - Returns: false where that takes too long, and where the end of any partition is unknown.
    private func hasReadTokens(_ reader: KafkaConsumer) async -> Bool {
        guard let count = store.tail.partitions else { return false }
        let partitions = (0..<Int32(clamping: count)).map { TopicPartition(topic: tokenTopic, partition: $0) }
        let until = ContinuousClock.now + Self.timeout
        guard let ends = try? await reader.offsets(of: partitions, notBefore: -1, within: Self.timeout),
            ends.count == count
        else { return false }
        while !store.tail.hasRead(ends) {
            guard .now < until, !Task.isCancelled else { return false }
            // The follower reads on its own and wakes nobody for a partition's end.
            try? await Task.sleep(for: .milliseconds(50))
        }
        return true
    }

    /// A client that asks for the group's offsets, and is no member of it.
    private func makeReader() throws(KafkaError) -> KafkaConsumer {
        // Offsets in a transaction that is open would not be answered: the ones before count.
        try KafkaConsumer(
            properties.reader(group: properties.group(of: .live)).merging(["isolation.level": "read_uncommitted"]),
            reading: [], logger: logger)
    }

    private static func end(_ reader: inout KafkaConsumer?) async {
        await reader?.close(within: .zero)
        reader = nil
    }
}

/// The presence of workers in the group that answers devices, as its coordinator reports it. A value without a clock.
struct WorkerPresence: Sendable, Equatable {
    enum Reading: Sendable, Equatable {
        case members(Int)
        case none
        /// The brokers do not show the group: it does not exist, or this account may not see it.
        case hidden
    }

    /// The time for which workers may be away before devices are turned away, in microseconds: the time that a call
    /// waits for its token.
    private static let timeout: Int64 = 10_000_000

    private var hadMembers = false
    /// True if the group has existed, so that an empty group means that its workers have left.
    private var existed = false
    private(set) var isKnown = false
    /// The moment from which the group has no member; nil while it has one, or while it is unknown.
    private(set) var emptySince: UnixTime?

    /// Records the description of the group at the time `now`. A group that is hidden counts as empty only where it had
    /// members before.
    mutating func record(_ reading: Reading, at now: UnixTime) {
        switch reading {
        case .members(let count):
            (existed, isKnown) = (true, true)
            if count > 0 { (hadMembers, emptySince) = (true, nil) } else { emptySince = emptySince ?? now }
        case .none:
            isKnown = true
            emptySince = emptySince ?? now
        case .hidden:
            isKnown = hadMembers
            emptySince = hadMembers ? emptySince ?? now : nil
        }
    }

    /// Returns the moment from which no worker is there, at the time `now`; nil while one is, while one may be back in
    /// time, or while it is unknown.
    ///
    /// A group that was empty from the first reading on has no worker that may soon be back. One that never existed may
    /// be about to begin.
    func absentSince(at now: UnixTime) -> UnixTime? {
        guard let emptySince, existed && !hadMembers || now.microseconds(since: emptySince) >= Self.timeout else {
            return nil
        }
        return emptySince
    }
}
