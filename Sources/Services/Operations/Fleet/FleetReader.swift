package import AdapterKit
import Glibc
import JOSE
package import Kafka
import Keyring
package import Logging
package import Pipeline
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

    /// The most waiting offsets of a lane that are read, to count the records among them.
    static let mostRead: Int64 = 1000

    /// Returns `lag` in records where few offsets wait. A transaction ends with a mark, which has an offset and which no group
    /// commits, so that a lane without work would never reach zero. The figures stay as they are where the topics cannot be read.
    ///
    /// Also returns the time of the oldest waiting record; nil where none was read.
    func withoutMarks(
        _ lag: [TopicPartition: Int64], _ lane: Lane
    ) async -> (lag: [TopicPartition: Int64], oldest: UnixTime?) {
        let behind = lag.filter { $0.value > 0 }
        guard !behind.isEmpty, behind.values.reduce(0, +) <= Self.mostRead,
            let bounds = try? await consumers[lane].bounds(of: Array(behind.keys), within: Self.timeout)
        else { return (lag, nil) }
        var (result, oldest) = (lag, Int64?.none)
        for (topic, partitions) in Dictionary(grouping: behind.keys, by: \.topic) {
            guard let starts = Self.starts(of: partitions, behind, bounds),
                let found = try? await records(in: topic, partitions, from: starts)
            else { continue }
            result.merge(found.counts) { _, count in count }
            oldest = [oldest, found.oldest].compactMap(\.self).min()
        }
        return (result, oldest.map { UnixTime(milliseconds: $0) })
    }

    /// Returns the offsets from which the last ones of `partitions` are read, `behind` of each, in the order of the partitions; nil if
    /// the brokers returned no bounds of one of them, which would be read from its beginning.
    static func starts(
        of partitions: [TopicPartition], _ behind: [TopicPartition: Int64], _ bounds: [TopicPartition: Range<Int64>]
    ) -> [Int64]? {
        var starts = Array(repeating: Int64(0), count: Int(partitions.map(\.partition).max() ?? 0) + 1)
        for partition in partitions {
            guard let bounds = bounds[partition] else { return nil }
            starts[Int(partition.partition)] = bounds.upperBound - (behind[partition] ?? 0)
        }
        return starts
    }

    /// Returns the number of committed records of `partitions`, each from its place in `starts` on, and the oldest one's time.
    private func records(
        in topic: String, _ partitions: [TopicPartition], from starts: [Int64]
    ) async throws -> (counts: [TopicPartition: Int64], oldest: Int64?) {
        let reader = try await TopicReader(
            topic, from: starts, configuration, brokers: brokers, maxWait: .zero, maxStall: Self.maxStall,
            logger: logger)
        var counts = Dictionary(partitions.map { ($0, Int64(0)) }) { first, _ in first }
        var oldest: Int64?
        let hidden = try await reader.readVisible(partitions) { record, _, _ in
            counts[TopicPartition(record.position), default: 0] += 1
            oldest = [oldest, record.timestamp].compactMap(\.self).min()
        }
        // Behind an open transaction, the number of records is unknown.
        if let hidden { throw hidden }
        return (counts, oldest)
    }

    /// Returns the problems of active versions that no listing shows: the key's file is missing, or an app's vendor
    /// does not accept the algorithm.
    func problems(of rings: [RingReport]) -> [String] {
        let active = Dictionary(
            rings.compactMap { ring in ring.versions.first { $0.state == .active }.map { (ring.name, $0) } }
        ) { first, _ in first }
        let missing = configuration.keys.compactMap { key -> String? in
            guard let folder = key.path, let version = active[key.name], !version.file.isEmpty else { return nil }
            let file = version.file.hasPrefix("/") ? version.file : "\(folder)/\(version.file)"
            guard access(file, F_OK) != 0, errno == ENOENT else { return nil }
            return "the key of \(version.id) of the key ring \(key.name) is missing: put the file \(file) back"
        }
        let misfits = configuration.apps.compactMap { app -> String? in
            guard let version = active[app.key], version.algorithm != app.adapter.algorithm else { return nil }
            return
                "the app \(app.name) needs \(app.adapter.algorithm.rawValue), and the key ring \(app.key) signs with \(version.algorithm.rawValue)"
        }
        return missing + misfits
    }
}

/// The dead letters of a topic, counted as records: a topic's offsets also count the marks of transactions.
package struct LetterCount: Sendable {
    /// The most offsets that a command reads for a count.
    package static let most = 200_000

    private struct Place: Sendable {
        /// The offset up to which letters are counted.
        var end: Int64
        /// The name of the letter at each offset; nil for a record that no worker wrote.
        var letters: [Int64: LetterName?] = [:]
    }

    private var places: [TopicPartition: Place] = [:]
    /// The partitions of the present reading. The brokers may not have returned the bounds of the others.
    package private(set) var partitions: Set<TopicPartition> = []

    /// The most offsets that are read and letters that are kept. Above it, offsets are counted instead.
    private let most: Int

    /// A count of nothing.
    package init(most: Int = Self.most) { self.most = most }

    /// Prepares for the letters of `bounds`, and returns the first offset to read in each partition; nil where there is nothing to
    /// read, or more than is read for a count. Only `partitions` are to be read.
    package mutating func begin(_ bounds: [TopicPartition: Range<Int64>]) -> [Int64]? {
        for (partition, bounds) in bounds {
            var place = places[partition] ?? Place(end: bounds.lowerBound)
            // A topic that was created again starts at its first offset.
            if place.end > bounds.upperBound { place = Place(end: bounds.lowerBound) }
            place.end = max(place.end, bounds.lowerBound)
            place.letters = place.letters.filter { bounds.contains($0.key) }
            places[partition] = place
        }
        partitions = Set(bounds.keys)
        let (unread, kept) = (unread(in: bounds), places.values.reduce(0) { $0 + $1.letters.count })
        guard unread > 0, unread <= most - kept else { return nil }
        let last = bounds.keys.map(\.partition).max() ?? 0
        var starts = Array(repeating: Int64(0), count: Int(last) + 1)
        for partition in bounds.keys { starts[Int(partition.partition)] = places[partition]?.end ?? 0 }
        return starts
    }

    /// Begins again, because the topic was created again under its name.
    package mutating func forget() {
        places = [:]
        partitions = []
    }

    /// Counts `letter`.
    package mutating func add(_ letter: InputRecord) {
        places[TopicPartition(letter.origin)]?.letters[letter.origin.offset] = .some(LetterName(letter))
    }

    /// Notes that the present reading has everything in `bounds` that is of its partitions.
    package mutating func finish(_ bounds: [TopicPartition: Range<Int64>]) {
        for (partition, bounds) in bounds where partitions.contains(partition) {
            places[partition]?.end = bounds.upperBound
        }
    }

    /// Returns whether every letter in `bounds` is counted.
    package func isExact(in bounds: [TopicPartition: Range<Int64>]) -> Bool { unread(in: bounds) == 0 }

    /// Returns the number of letters in `bounds` that need attention, by partition. Offsets that were not read count as letters.
    package func waiting(
        in bounds: [TopicPartition: Range<Int64>], _ states: LetterStates
    ) -> [TopicPartition: Int] {
        bounds.reduce(into: [:]) { waiting, next in
            guard let place = places[next.key] else { return waiting[next.key] = next.value.count }
            let letters = place.letters.values.count { name in name.map { states[$0] == nil } ?? true }
            guard place.end < next.value.upperBound else { return waiting[next.key] = letters }
            let rest = place.end..<next.value.upperBound
            let handled = states.count(within: [next.key: rest])
            let beyond = place.letters.filter { rest.contains($0.key) && $0.value.map { states[$0] == nil } ?? true }
            waiting[next.key] = letters - beyond.count + max(0, rest.count - handled)
        }
    }

    private func unread(in bounds: [TopicPartition: Range<Int64>]) -> Int {
        bounds.reduce(0) { sum, next in
            sum + max(0, Int(next.value.upperBound - max(places[next.key]?.end ?? 0, next.value.lowerBound)))
        }
    }
}
