import AdapterKit
import Testing

@testable import Pipeline

/// The events of a session, and the machine's next step wherever it is asked, written out.
struct SessionStory: CustomTestStringConvertible, Sendable {
    enum Act: Sendable {
        /// Records with these offsets come in, of partition 0 unless the step names another.
        case take(Lane, ClosedRange<Int64>, partition: Int32 = 0)
        /// A record of the first retry tier comes in that is due the given number of milliseconds after the start.
        case takeRetry(Int64, due: Int64, partition: Int32 = 0)
        case ask(Lane, SessionStateMachine.Rebalance)
        /// Partition 0 is assigned, and its start must be looked up first.
        case assign(Lane)
        /// The start was found.
        case prepared(Lane)
        /// Partition 0 is read from this offset on.
        case begin(Lane, Int64)
        /// Partition 0 was read up to this offset.
        case reach(Lane, Int64)
        case processed
        /// The batch in work ends but for these offsets, which wait in their places for a number of milliseconds.
        case parked([Int64], for: Int64)
        /// Answers came that events may wait for.
        case answers
        /// The end of a batch comes in that is not in work any more.
        case processedLate(Int)
        case committed
        /// The step that the machine named was added to the open transaction.
        case added
        /// It was too late to add it.
        case addedLate
        case aborted
        case blocked
        case unblocked
        /// The topic was looked at, and cannot be written.
        case stillBlocked
        case quiet(Bool)
        /// These lanes rest, and no others.
        case rest(Set<Lane>)
        case openOffsets(Bool)
        case stop
        /// Milliseconds pass.
        case pass(Int64)
        /// The machine names this step, as `SessionTeller` puts it.
        case next(String)
    }

    let testDescription: String
    let linger: Duration
    let rest: Duration
    /// After an abort, and between two looks at a topic; grows to four times as much.
    let pause: Duration
    let acts: [Act]

    init(_ name: String, linger: Duration = .zero, rest: Duration = .zero, pause: Duration = .zero, _ acts: [Act]) {
        testDescription = name
        self.linger = linger
        self.rest = rest
        self.pause = pause
        self.acts = acts
    }

    /// The steps that the machine must name, in order.
    var expected: [String] { acts.compactMap { if case .next(let step) = $0 { step } else { nil } } }

    static func revoked(_ partitions: [Int32] = [0], of topic: String = "live") -> SessionStateMachine.Rebalance {
        .revoked(partitions.map { .init(topic: topic, partition: $0) })
    }

    static func lost(_ partitions: [Int32] = [0], of topic: String = "live") -> SessionStateMachine.Rebalance {
        .lost(partitions.map { .init(topic: topic, partition: $0) })
    }
}

/// Plays a story to a machine with batches of four, and returns its steps in words.
struct SessionTeller {
    private var machine: SessionStateMachine
    private var now = TestBench.now
    private var batch: Batch?
    private var addition: CommitUnit?

    init(_ story: SessionStory) {
        machine = SessionStateMachine(
            SessionStateMachine.Settings(
                shares: LaneShares(batchEvents: 4, bulkShare: 0.1), linger: story.linger, rest: story.rest,
                retries: .standard, backoff: Backoff(from: story.pause, atMost: story.pause * 4)))
    }

    /// Returns the steps that the machine named, act by act, wherever it was asked.
    mutating func tell(_ acts: [SessionStory.Act]) -> [String] {
        acts.compactMap { act in
            if case .next = act { return step() }
            perform(act)
            return nil
        }
    }

    private mutating func perform(_ act: SessionStory.Act) {
        switch act {
        case .take(let lane, let offsets, let partition):
            machine.received(offsets.map { record(lane, $0, partition) }, on: lane, at: now)
        case .takeRetry(let offset, let due, let partition):
            let headers = [RecordHeader("remint-not-before", String(TestBench.now.milliseconds + due))]
            machine.received([record(.retries, offset, partition, headers)], on: .retries, at: now)
        case .ask(let lane, let rebalance): machine.rebalancing(lane, rebalance)
        case .assign(let lane):
            let partition = TopicPartition(topic: lane.rawValue, partition: 0)
            machine.rebalancing(lane, .assigned([partition]), isPrepared: false)
        case .prepared(let lane): machine.prepared(lane)
        case .begin(let lane, let offset):
            let partition = TopicPartition(topic: lane.rawValue, partition: 0)
            machine.rebalancing(lane, .assigned([partition]))
            machine.answered(lane, from: [partition: offset])
        case .reach(let lane, let end):
            machine.reached(end, of: TopicPartition(topic: lane.rawValue, partition: 0), on: lane)
        case .processed: if let batch { machine.processed(batch.number, settle(batch.records), seconds: 0.0001) }
        case .parked(let offsets, let milliseconds):
            let until = now.advanced(byMicroseconds: milliseconds * 1000)
            if let batch {
                machine.processed(batch.processed(park(batch.records, offsets, until)), seconds: 0.0001)
            }
        case .answers: machine.answersCame()
        case .processedLate(let number):
            machine.processed(number, settle([record(.live, 77, 7)]), seconds: 0.0001)
        case .committed: machine.committed(at: now)
        case .added: machine.added(addition)
        case .addedLate: machine.added(nil)
        case .aborted: machine.aborted(at: now)
        case .blocked: machine.aborted(at: now, isBlocked: true)
        case .unblocked: machine.unblocked()
        case .stillBlocked: machine.stillBlocked(at: now)
        case .quiet(let isQuiet): machine.isQuiet = isQuiet
        case .rest(let lanes): machine.pausedLanes = lanes
        case .openOffsets(let areOpen): machine.hasOpenOffsets = areOpen
        case .stop: machine.stop()
        case .pass(let milliseconds): now = now.advanced(byMicroseconds: milliseconds * 1000)
        case .next: break
        }
    }

    private mutating func step() -> String {
        switch machine.next(at: now) {
        case .process(let batch):
            self.batch = batch
            var manner = batch.urgency == .background ? " in the background" : ""
            switch batch.waiting {
            case .allowed: break
            case .resumed: manner += " again"
            case .over: manner += " to the end"
            }
            return "process \(batch.number)\(manner): \(Self.list(batch.records))"
        case .commit(let unit): return "commit \(Self.list(unit))"
        case .add(let addition):
            self.addition = addition
            return "add \(Self.list(addition))"
        case .rollBack: return "roll back"
        case .check: return "check"
        case .answer(let lane, _):
            // The shell does so at once.
            machine.answered(lane)
            return "answer \(lane.rawValue)"
        case .wait(nil): return "wait"
        case .wait(.some(let moment)):
            return "wait until \((moment.microseconds - TestBench.now.microseconds + 500) / 1000)"
        case .stop: return "stop"
        }
    }

    /// `2+3: live/0=7 bulk/1=4`: the batches, and the offsets.
    private static func list(_ unit: CommitUnit) -> String {
        let batches = unit.batches.map { String($0.number) }.joined(separator: "+")
        let offsets = Lane.allCases.flatMap { lane in
            unit.offsets[lane].map { "\($0.topic)/\($0.partition)=\($1)" }.sorted()
        }
        return "\(batches): \(offsets.joined(separator: " "))"
    }

    /// `live/0 5 6 bulk/1 3`: each partition's offsets as they stand.
    private static func list(_ records: [InputRecord]) -> String {
        var words: [String] = []
        var last = ""
        for record in records {
            let partition = "\(record.origin.topic)/\(record.origin.partition)"
            if partition != last { words.append(partition) }
            last = partition
            words.append(String(record.origin.offset))
        }
        return words.joined(separator: " ")
    }

    private func record(_ lane: Lane, _ offset: Int64, _ partition: Int32, _ headers: [RecordHeader] = [])
        -> InputRecord
    {
        InputRecord(
            origin: RecordPosition(topic: lane.rawValue, partition: partition, offset: offset), timestamp: now,
            key: nil,
            value: nil, headers: headers, lane: lane, tier: lane == .retries ? 0 : nil)
    }

    private func park(_ records: [InputRecord], _ offsets: [Int64], _ until: UnixTime) -> [EventState] {
        zip(records, settle(records)).map { offsets.contains($0.origin.offset) ? .waits(until: until) : .settled($1) }
    }

    private func settle(_ records: [InputRecord]) -> [Settlement] {
        records.map { Settlement(origin: $0.origin, eventID: nil, app: nil, outcome: .minted, output: nil) }
    }
}
