import AdapterKit
import Kafka
import Pipeline
import Signing
import WorkerConfiguration

/// Commits at least once: it delivers all outputs, and commits their offsets while it delivers the next ones. After a
/// crash between the two an event is answered twice, the second time with a newer version.
///
/// The committer itself retries a topic that cannot be written, and only the refused records: to give the events back
/// would publish the other tokens once more each time.
struct AtLeastOnceCommitter: Committer {
    let producer: KafkaProducer
    let configuration: Configuration
    let now: @Sendable () -> UnixTime
    /// Taken away when there is no more time to wait.
    let window: CommitWindow
    /// Called with the blockage of a topic, and with nil when the topic can be written again.
    let isBlocked: @Sendable (Blockage?) -> Void
    private let offsets: OffsetCommits

    init(
        producer: KafkaProducer, consumers: PerLane<KafkaConsumer>, configuration: Configuration,
        now: @escaping @Sendable () -> UnixTime, window: CommitWindow,
        isBlocked: @escaping @Sendable (Blockage?) -> Void,
        isRefused: @escaping @Sendable (Lane, KafkaError) -> Void
    ) {
        self.producer = producer
        self.configuration = configuration
        self.now = now
        self.window = window
        self.isBlocked = isBlocked
        offsets = OffsetCommits(isGivingUp: { window.isOver }) {
            await Self.commit($0, $1, at: now(), consumers, isRefused)
        }
    }

    func commit(_ unit: CommitUnit, _ additions: Additions) async -> CommitResult {
        var unit = unit
        if let result = await deliver(&unit) { return result }
        while var addition = additions.takeOrClose() {
            if let result = await deliver(&addition) { return result }
            unit.add(addition)
        }
        await offsets.add(
            unit.offsets,
            OffsetCommits.Note(version: unit.highestVersion, marks: unit.marks))
        return .committed(unit)
    }

    func commitOffsets() async { await offsets.commit() }

    func commitLeftOffsets() async { await offsets.commitLeft() }

    var hasOpenOffsets: Bool { get async { await offsets.areOpen } }

    /// - Returns: the offsets that were refused. Those of partitions that are no longer this member's are passed over.
    private static func commit(
        _ open: OffsetCommits.Offsets, _ note: OffsetCommits.Note, at time: UnixTime,
        _ consumers: PerLane<KafkaConsumer>, _ isRefused: @Sendable (Lane, KafkaError) -> Void
    ) async -> OffsetCommits.Offsets {
        var refused = OffsetCommits.Offsets { _ in [:] }
        for lane in Lane.allCases where !open[lane].isEmpty {
            let offsets = open[lane].map {
                let metadata = CommitMetadata(version: note.version, mark: note.marks[$0], committedAt: time)
                return PartitionOffset($0, offset: $1, metadata: metadata.text)
            }
            do throws(KafkaError) { try await consumers[lane].commitAssigned(offsets) } catch {
                // If the partitions go first, another member repeats these events.
                refused[lane] = open[lane]
                isRefused(lane, error)
            }
        }
        return refused
    }

    /// Delivers all records of the unit.
    ///
    /// - Returns: nil; or the result of the attempt, where the producer is of no further use or the time limit is over.
    private func deliver(_ unit: inout CommitUnit) async -> CommitResult? {
        let all = Deliveries(unit, configuration).records
        var open = all.map { (place: $0.place, record: $0.record) }
        var backoff = Backoff()
        var wasBlocked = false
        while !open.isEmpty {
            let errors = await producer.deliver(open.map(\.record))
            if let error = errors.compactMap({ $0 }).first(where: { $0.isFatal || $0.isFenced }) {
                return CommitResult(ended: error)
            }
            var failed: [(place: Int, record: ProducerRecord)] = []
            var refused: Blockage?
            for (delivery, error) in zip(open, errors) {
                guard let error else { continue }
                switch await secondTry(delivery, error, &unit) {
                case .delivered: continue
                case .smaller(let record): failed.append((delivery.place, record))
                case .refused(let error):
                    failed.append(delivery)
                    refused = refused ?? Blockage(error, [delivery.record])
                }
            }
            open = failed
            guard let refused else { continue }
            // The tokens are dated by a wrong clock as well: once it is set, their events need others.
            guard refused.error.code != .invalidTimestamp else { return .aborted(refused.error) }
            wasBlocked = true
            isBlocked(refused)
            guard await backoff.wait(while: { !window.isOver }) else { return .aborted(refused.error) }
        }
        if wasBlocked { isBlocked(nil) }
        return nil
    }

    private enum SecondTry {
        case delivered
        case smaller(ProducerRecord)
        case refused(KafkaError)
    }

    /// Delivers a record alone whose producer batch was too large: alone, the record may be accepted. If the record
    /// alone is too large, its settlement becomes a smaller one.
    private func secondTry(
        _ delivery: (place: Int, record: ProducerRecord), _ error: KafkaError, _ unit: inout CommitUnit
    ) async -> SecondTry {
        guard error.code == .messageTooLarge else { return .refused(error) }
        guard let alone = await producer.deliver([delivery.record]).first ?? nil else { return .delivered }
        let end = unit.ends[delivery.place]
        guard alone.code == .messageTooLarge, let smaller = end.settlement.byReference(end.record, at: now()),
            let output = smaller.output
        else { return .refused(alone) }
        unit.replace([delivery.place: smaller])
        return .smaller(ProducerRecord(output, configuration))
    }

    /// Returns `cleared`. It is never called, because `commit` itself waits for the end of a blockage.
    func isCleared(_ blockage: Blockage) async -> BlockageCheck { .cleared }
}

/// The offsets of events that were answered at least once, on their way to the broker.
///
/// A broker gathers commits for some milliseconds before it answers (`group.coordinator.append.linger.ms`, 5 by
/// default), and no event has to wait for that: the next request commits all events answered meanwhile. Offsets that a
/// broker refuses stay, and are sent again until it commits them.
actor OffsetCommits {
    /// The next record to read, by lane and partition.
    typealias Offsets = PerLane<[TopicPartition: Int64]>

    struct Note: Sendable {
        /// The highest version among the added events.
        var version: Int64 = 0
        var marks: [TopicPartition: LogMark] = [:]
    }

    /// The most transactions that are published ahead of their offsets: all of them are repeated after a crash.
    private static let lead = 16
    private let send: @Sendable (Offsets, Note) async -> Offsets
    private let isGivingUp: @Sendable () -> Bool
    private let backoff: Backoff
    private var open = Offsets { _ in [:] }
    private var note = Note()
    private var ahead = 0
    private var isSending = false
    private var isAsking = false
    /// Whether partitions were to be given up when the broker refused the last time: they are not kept for that.
    private var isHopeless = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - backoff: the pauses between requests that are refused.
    ///   - isGivingUp: whether partitions are to be given up, so that a refused request has one more try.
    ///   - send: one request with offsets and their note, and its answer: the offsets that were refused. It is called for one after
    ///     another.
    init(
        backoff: Backoff = Backoff(), isGivingUp: @escaping @Sendable () -> Bool,
        _ send: @escaping @Sendable (Offsets, Note) async -> Offsets
    ) {
        self.backoff = backoff
        self.isGivingUp = isGivingUp
        self.send = send
    }

    /// Whether partitions are to be kept for offsets of which the broker has not given its word.
    var areOpen: Bool { isAsking || ahead > 0 && !isHopeless }

    /// Adds a transaction's offsets to the next commit. Waits where too many offsets are before them.
    func add(_ offsets: Offsets, _ note: Note = Note()) async {
        while ahead >= Self.lead, !isHopeless, !Task.isCancelled { await commit() }
        for lane in Lane.allCases { open[lane].merge(offsets[lane]) { $1 } }
        self.note = Note(version: max(self.note.version, note.version), marks: note.marks)
        ahead += 1
        isHopeless = false
    }

    /// Commits the offsets that were added until now, and sends them again where the broker refuses them, until the
    /// partitions must be given up.
    func commit() async {
        // Whoever comes while a request is under way shares the next one with all who do.
        while isSending { await withCheckedContinuation { waiting.append($0) } }
        guard ahead > 0 else { return }
        isSending = true
        isHopeless = false
        var backoff = backoff
        repeat {
            let isLastTry = isGivingUp()
            if await ask() { break }
            isHopeless = isLastTry
            if !isLastTry { _ = await backoff.wait(while: { [isGivingUp] in !isGivingUp() }) }
        } while !isHopeless && !Task.isCancelled
        isSending = false
        for waiter in waiting { waiter.resume() }
        waiting = []
    }

    /// Commits the offsets left when partitions are given up, unless a request is under way.
    func commitLeft() async {
        if !isSending { await commit() }
    }

    /// - Returns: whether everything was committed.
    private func ask() async -> Bool {
        let (offsets, count) = (open, ahead)
        open = Offsets { _ in [:] }
        ahead = 0
        isAsking = true
        let refused = await send(offsets, note)
        isAsking = false
        guard Lane.allCases.contains(where: { !refused[$0].isEmpty }) else { return true }
        // The offsets added meanwhile are further on.
        for lane in Lane.allCases { open[lane].merge(refused[lane]) { newer, _ in newer } }
        ahead += count
        return false
    }
}
