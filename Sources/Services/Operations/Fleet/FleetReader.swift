package import AdapterKit
package import Kafka
import Keyring
package import Logging
import Pipeline
import Wiring
package import WorkerConfiguration

/// Reads a fleet's status from brokers, control topic and key rings. It joins no group, writes nothing and needs no
/// worker's admin server; it keeps its clients from one reading to the next.
package actor FleetReader {
    static let timeout = Duration.seconds(10)
    /// The longest time in which a reading of few records gets on with none.
    static let maxStall = Duration.seconds(2)
    /// The time limit for group coordinators, which answer at once or not at all.
    private static let groupTimeout = Duration.seconds(5)

    let configuration: Configuration
    private let properties: KafkaProperties
    let brokers: String
    let logger: Logger
    private let control: ControlStates
    private let rings: RingReader
    private let now: @Sendable () -> UnixTime
    private let commitTime: @Sendable (String) -> UnixTime?
    private let producer: KafkaProducer
    /// A client for groups alone: brokers that do not describe groups delay nothing else.
    private let groups: KafkaProducer
    /// The reason why the groups were not described last time, and the time before which they are not asked about
    /// again.
    private var silence: (problem: KafkaError, until: ContinuousClock.Instant)?
    /// The states of letters, and the offsets of the parked letters' topic from which they were read.
    private var letters: (states: LetterStates, bounds: [TopicPartition: Range<Int64>]) = (LetterStates(), [:])
    /// The letters that are counted so far.
    private var counted: LetterCount
    /// The log of the dead letters' topic, and the time of the next look at it.
    private var watch: (topic: TopicWatch, next: ContinuousClock.Instant)
    /// Clients that read nothing and only ask in the name of the lanes' groups.
    let consumers: PerLane<KafkaConsumer>

    /// A reader of the fleet of `configuration` at `brokers`.
    ///
    /// - Parameters:
    ///   - mostLetters: the most dead letters that are read for a count.
    ///   - commitTime: reads the time of a commit in the metadata of its offset.
    /// - Throws: `KafkaError` where no client can be made.
    package init(
        _ configuration: Configuration, brokers: String, mostLetters: Int = LetterCount.most, logger: Logger,
        commitTime: @escaping @Sendable (String) -> UnixTime? = { _ in nil }, now: @escaping @Sendable () -> UnixTime
    ) throws(KafkaError) {
        counted = LetterCount(most: mostLetters)
        self.configuration = configuration
        self.now = now
        self.commitTime = commitTime
        self.brokers = brokers
        self.logger = logger
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        self.properties = properties
        control = ControlStates(configuration, brokers: brokers, logger: logger)
        watch = (
            TopicWatch(properties, group: configuration.kafka.group, logger: logger, now: now),
            .now + TopicWatch.interval
        )
        rings = RingReader { configuration.ringPlaces }
        producer = try KafkaProducer(properties.producer, logger: logger)
        groups = try KafkaProducer(properties.producer, logger: logger)
        consumers = try PerLane { lane throws(KafkaError) in
            try KafkaConsumer(properties.consumer(of: lane), reading: [], logger: logger)
        }
    }

    /// Returns the fleet's present status. Whatever is unknown is among its problems.
    ///
    /// - Throws: `KafkaError` where no broker answers, or the task is canceled.
    package func read() async throws(KafkaError) -> FleetStatus {
        try Self.checkCancellation()
        async let described = describeGroups()
        let listed = try await producer.topics(within: Self.timeout)
        // Some brokers list a topic that is deleted, or that the account may not use, with its error.
        let usable = listed.filter { $0.error?.code.isAboutReading != true }
        let partitions = Dictionary(usable.map { ($0.name, $0.partitionCount) }) { first, _ in first }
        let time = now()
        var (problems, missing): ([String], [String]) = ([], [])
        var commits: [TopicPartition: UnixTime] = [:]
        var holds = ControlHolds()
        do { holds = try await control.read(at: time, within: Self.groupTimeout, maxStall: Self.maxStall) } catch {
            problems.append("suspensions and pauses are unknown: \(error)")
        }
        var lanes: [FleetStatus.LaneState] = []
        for lane in Lane.allCases {
            try Self.checkCancellation()
            let places = configuration.topics(of: lane).flatMap { Self.partitions(of: $0, partitions) }
            let work = await work(of: lane, places, &problems)
            let topics = configuration.topics(of: lane).map { topic(called: $0, partitions, work.lag, &missing) }
            lanes.append(
                FleetStatus.LaneState(
                    lane: lane, group: properties.group(of: lane), pause: holds.lanes[lane], topics: topics,
                    members: nil, committed: work.commits.values.max(), oldest: work.oldest))
            commits.merge(work.commits) { $1 }
        }
        try Self.checkCancellation()
        let parked = await parkedLetters(partitions, &problems)
        try Self.checkCancellation()
        let letters = await deadLetters(partitions, &problems, &missing)
        missing += [configuration.topics.tokens, configuration.topics.control].filter { partitions[$0] == nil }
        switch await described {
        case .success(let groups):
            for place in lanes.indices {
                guard let group = groups[lanes[place].group] else { continue }
                let strangers = properties.strangers(among: group.members, of: lanes[place].lane)
                problems += strangers.map { $0.strangerText(in: group.name) }
                lanes[place].members = ConsumerGroup(
                    name: group.name, state: group.state,
                    members: group.members.filter { member in !strangers.contains { $0.id == member.id } })
            }
        case .failure(let error): problems.append("the workers are unknown: \(error)")
        }
        let reports = rings.read()
        let apps = configuration.apps.map { app in
            FleetStatus.AppState(
                name: app.name, adapter: app.adapter.name, keyRing: app.key, suspension: holds.apps[app.name])
        }
        return FleetStatus(
            at: time, group: configuration.kafka.group, lanes: lanes, deadLetters: letters, parkedLetters: parked,
            apps: apps, rings: reports, problems: problems, missing: missing, keyProblems: self.problems(of: reports),
            commits: commits)
    }

    /// Refuses another question for a canceled task: each may take ten seconds, and a worker that stops waits for the reading.
    private static func checkCancellation() throws(KafkaError) {
        guard !Task.isCancelled else { throw .canceled("reading the fleet's status") }
    }

    /// Closes the clients.
    package func close() async {
        for lane in Lane.allCases { await consumers[lane].close(within: .seconds(1)) }
        await producer.close(within: .seconds(1))
        await groups.close(within: .zero)
    }

    private func describeGroups() async -> Result<[String: ConsumerGroup], KafkaError> {
        if let silence, .now < silence.until { return .failure(silence.problem) }
        do throws(KafkaError) {
            let found = try await groups.consumerGroups(
                Lane.allCases.map(properties.group), within: Self.groupTimeout)
            silence = nil
            return .success(found)
        } catch {
            silence = (error, .now + .seconds(60))
            return .failure(error)
        }
    }

    /// The waiting events of a lane by partition, the time of the oldest, and the time of each partition's last commit.
    private func work(
        of lane: Lane, _ partitions: [TopicPartition], _ problems: inout [String]
    ) async -> (lag: [TopicPartition: Int64], oldest: UnixTime?, commits: [TopicPartition: UnixTime]) {
        guard !partitions.isEmpty else { return ([:], nil, [:]) }
        do throws(KafkaError) {
            let committed = try await consumers[lane].committedOffsets(partitions, within: Self.timeout)
            let offsets = Dictionary(committed.map { ($0.partition, $0.offset) }) { first, _ in first }
            let lag = try await consumers[lane].lag(of: partitions, after: offsets, within: Self.timeout)
            let (records, oldest) = await withoutMarks(lag, lane)
            let times = committed.compactMap { offset in
                offset.metadata.flatMap(commitTime).map { (offset.partition, $0) }
            }
            return (records, oldest, Dictionary(times) { $1 })
        } catch {
            problems.append("the waiting events of the \(lane.rawValue) lane are unknown: \(error)")
            return ([:], nil, [:])
        }
    }

    private func deadLetters(
        _ counts: [String: Int], _ problems: inout [String], _ missing: inout [String]
    ) async -> FleetStatus.Topic {
        let name = configuration.topics.deadLetters
        let partitions = Self.partitions(of: name, counts)
        var held: [TopicPartition: Int64] = [:]
        var isExact = true
        await forgetReplacedLetters(name)
        do {
            let bounds = try await consumers[.live].bounds(of: partitions, within: Self.timeout)
            // An account that may not read the letters still learns how many they are at most.
            try? await count(in: name, bounds)
            isExact = counted.isExact(in: bounds)
            held = counted.waiting(in: bounds, letters.states).mapValues { Int64($0) }
        } catch { problems.append("how many dead letters there are is unknown: \(error)") }
        var topic = topic(called: name, counts, held, &missing)
        topic.isUpperBound = !isExact
        return topic
    }

    /// Forgets the counted letters of a topic that was created again under its name. A single reading has none.
    private func forgetReplacedLetters(_ topic: String) async {
        guard .now >= watch.next else { return }
        var looking = watch.topic
        let isReplaced = !(await looking.look(at: [topic])).isEmpty
        watch = (looking, .now + TopicWatch.interval)
        if isReplaced { counted.forget() }
    }

    /// Reads the letters of `bounds` that are not counted yet, unless they are too many for a glance.
    private func count(in topic: String, _ bounds: [TopicPartition: Range<Int64>]) async throws {
        guard let starts = counted.begin(bounds) else { return }
        let reader = try await TopicReader(
            topic, from: starts, configuration, brokers: brokers, maxWait: Self.groupTimeout, maxStall: Self.maxStall,
            logger: logger)
        var found = counted
        let hidden = try await reader.readVisible(Array(counted.partitions)) { record, _, _ in
            found.add(InputRecord(deadLetter: record))
        }
        if hidden == nil { found.finish(reader.bounds) }
        counted = found
    }

    /// Returns the parked letters' topic with the number of parked letters. The topic is read again only after
    /// something was written to it.
    private func parkedLetters(_ counts: [String: Int], _ problems: inout [String]) async -> FleetStatus.Topic? {
        let name = configuration.topics.parkedLetters
        let partitions = Self.partitions(of: name, counts)
        guard !partitions.isEmpty else {
            letters = (LetterStates(), [:])
            return nil
        }
        do {
            let bounds = try await consumers[.live].bounds(of: partitions, within: Self.timeout)
            if bounds != letters.bounds {
                letters.states =
                    try await LetterStates.read(
                        configuration, brokers: brokers, within: Self.groupTimeout, maxStall: Self.maxStall,
                        logger: logger) ?? LetterStates()
                letters.bounds = bounds
            }
            return FleetStatus.Topic(
                name: name, partitions: partitions.count, waiting: Int64(letters.states.parked))
        } catch {
            problems.append("how many dead letters are parked is unknown: \(error)")
            return FleetStatus.Topic(name: name, partitions: partitions.count, waiting: nil)
        }
    }

    private func topic(
        called name: String, _ counts: [String: Int], _ waiting: [TopicPartition: Int64], _ missing: inout [String]
    ) -> FleetStatus.Topic {
        let partitions = Self.partitions(of: name, counts)
        if partitions.isEmpty { missing.append(name) }
        let known = partitions.compactMap { waiting[$0] }
        // Without each partition's figure there is no sum.
        let isWhole = !partitions.isEmpty && known.count == partitions.count
        return FleetStatus.Topic(
            name: name, partitions: partitions.count, waiting: isWhole ? known.reduce(0, +) : nil)
    }

    private static func partitions(of topic: String, _ counts: [String: Int]) -> [TopicPartition] {
        (0..<(counts[topic] ?? 0)).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
    }
}
