import AdapterKit
import AsyncTestSupport
import Kafka
import Pipeline
import Synchronization
import Testing

@testable import Pickup

/// The token topic's past where partitions were added to the topic, so that a subject's tokens are in several.
@Suite(.timeLimit(.minutes(5))) struct PastReachTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    private static func partition(_ number: Int) -> TopicPartition {
        TopicPartition(topic: "t", partition: Int32(number))
    }

    private static func key(_ subject: Int) -> [UInt8] { Array("shop/user-\(subject)".utf8) }

    private static func token(_ version: Int64, endsAt end: Int64 = now.seconds + 600) -> HeldToken {
        HeldToken(text: [1, 2, 3], version: version, expiresAt: end)
    }

    private static func reach(_ count: Int) -> PastReach { PastReach(of: (0..<count).map(partition)) }

    @Test func `a partition that was read further back than another one waits for it`() {
        var reach = Self.reach(2)
        func read(_ version: Int64, of number: Int) {
            reach.read([.token(Self.token(version), key: Self.key(number))], of: Self.partition(number))
        }
        read(2 * PastReach.disorder, of: 0)
        let both: Set = [Self.partition(0), Self.partition(1)]
        // Nothing was read of the other one.
        #expect(reach.ahead(among: both) == [Self.partition(0)])
        read(3 * PastReach.disorder, of: 1)
        #expect(reach.ahead(among: both).isEmpty)
        read(2 * PastReach.disorder - 1, of: 0)
        #expect(reach.ahead(among: both) == [Self.partition(0)] && reach.ahead(among: [Self.partition(1)]).isEmpty)
        reach.end(Self.partition(1), isWhole: true)
        #expect(!reach.ahead(among: both).contains(Self.partition(0)))
    }

    // MARK: Any history

    /// The records published before a gateway began: tokens and erasures of some subjects, by workers whose clocks differ and whose
    /// deliveries are slow now and then, on a topic to which partitions were added at any time.
    private struct History {
        struct Entry {
            let subject: Int
            let version: Int64
            /// The token's end, in seconds since 1970; nil for an erasure.
            let end: Int64?
        }

        static let subjects = 40
        private(set) var partitions: [[Entry]] = []
        /// The latest record of each subject.
        private(set) var newest: [Int: Entry] = [:]
        /// The subjects whose every token lives, so that nothing keeps the newest one from being found.
        private(set) var simple = Set(0..<subjects)

        init(_ random: inout Seeded) {
            var logs: [[(at: Int64, entry: Entry)]] = []
            var count = Int.random(in: 1...3, using: &random)
            var (before, stale) = (count, 0)
            let skews = (0..<4).map { _ in Int64.random(in: -7_000_000...7_000_000, using: &random) }
            var time = PastReachTests.now.microseconds - 5_000_000_000
            while time < PastReachTests.now.microseconds - 60_000_000 {
                time += Int64.random(in: 0...15_000_000, using: &random)
                if Int.random(in: 0..<80, using: &random) == 0 {
                    (before, stale) = (count, 30)
                    count += Int.random(in: 1...3, using: &random)
                }
                stale -= 1
                let subject = Int.random(in: 0..<Self.subjects, using: &random)
                let clock = time + skews[Int.random(in: 0..<4, using: &random)]
                let version = max(clock, (newest[subject]?.version ?? 0) + 1000) / 1000 * 1000
                // Erasures and ends of some subjects alone: the others show that the past is found.
                let isErased = subject % 4 == 0 && Int.random(in: 0..<6, using: &random) == 0
                let life = subject % 4 == 1 ? Int64.random(in: 1...6000, using: &random) : 10_000
                let entry = Entry(
                    subject: subject, version: version, end: isErased ? nil : version / 1_000_000 + life)
                newest[subject] = entry
                if isErased || (entry.end ?? 0) <= PastReachTests.now.seconds { simple.remove(subject) }
                // A producer that has not heard of the new partitions goes on with the old ones for a while.
                let known = stale > 0 && Int.random(in: 0..<3, using: &random) == 0 ? before : count
                let number = Int((UInt64(subject) &* 0x9E37_79B9_7F4A_7C15) >> 33) % known
                while logs.count < count { logs.append([]) }
                let delay: Int64 = Int.random(in: 0..<10, using: &random) == 0 ? 25_000_000 : 100_000
                logs[number].append((time + Int64.random(in: 0...delay, using: &random), entry))
            }
            partitions = logs.map { log in log.sorted { $0.at < $1.at }.map(\.entry) }
        }
    }

    @Test(arguments: 0..<UInt64(Scale.rounds(60)))
    func
        `no answer is older than the newest token at the start, whatever partitions were added`(
            _ seed: UInt64
        )
    {
        var random = Seeded(state: (seed &+ 1) &* 0x9E37_79B9_7F4A_7C15 | 1)
        let history = History(&random)
        let store = TokenStore(capacity: 4 << 20) { Self.now }
        store.tailBegins()
        var newest = history.newest
        var reach = Self.reach(history.partitions.count)
        var left = history.partitions.map(\.count)
        // One that is read last of all.
        let late = Int.random(in: 0..<left.count * 2, using: &random)
        for number in left.indices where left[number] == 0 { reach.end(Self.partition(number), isWhole: true) }
        var published: Int64 = 0
        var answers = 0
        while let last = left.indices.last(where: { left[$0] > 0 }) {
            let open = left.indices.filter { left[$0] > 0 && $0 != late }
            let number = open.randomElement(using: &random) ?? last
            let from = max(0, left[number] - Int.random(in: 1...12, using: &random))
            let records = history.partitions[number][from..<left[number]].reversed().map { entry -> PastRecord in
                guard let end = entry.end else {
                    return .erasure(key: Self.key(entry.subject), at: entry.version / 1000)
                }
                return .token(Self.token(entry.version, endsAt: end), key: Self.key(entry.subject))
            }
            for record in records { record.tell(store) }
            reach.read(records, of: Self.partition(number))
            left[number] = from
            if from == 0 { reach.end(Self.partition(number), isWhole: true) }
            store.pastReached(reach.certain)
            if Int.random(in: 0..<30, using: &random) == 0 {
                published += 1
                let subject = Int.random(in: 0..<History.subjects, using: &random)
                let version = Self.now.microseconds + published
                let isErased = Int.random(in: 0..<4, using: &random) == 0
                let end = isErased ? nil : Self.now.seconds + 600
                newest[subject] = .init(subject: subject, version: version, end: end)
                if isErased {
                    store.erased(Self.key(subject))
                } else {
                    store.published(Self.token(version), for: Self.key(subject))
                }
            }
            for subject in 0..<History.subjects {
                guard let answer = store.live(Self.key(subject), life: 0) else { continue }
                answers += 1
                let expected = newest[subject]
                #expect(
                    expected?.end != nil && answer.version == expected?.version,
                    "user-\(subject) gets \(answer.version), the newest is \(expected?.version ?? 0)")
            }
        }
        #expect(reach.certain == .min && answers > 0)
        for subject in history.simple where newest[subject]?.end != nil {
            #expect(store.live(Self.key(subject), life: 0)?.version == newest[subject]?.version, "user-\(subject)")
        }
    }

    // MARK: How far it was read

    @Test func `the partition that was read least decides from where on the past counts`() {
        var reach = Self.reach(3)
        let base = Self.now.microseconds
        #expect(reach.certain == .max)
        for (number, version) in [(0, base - 1), (1, base - 9)] {
            reach.read([.token(Self.token(version), key: [1])], of: Self.partition(number))
        }
        #expect(reach.certain == .max, "nothing is known of the third")
        reach.read([.token(Self.token(base - 5), key: [1])], of: Self.partition(2))
        #expect(reach.certain == base - 1 + PastReach.disorder)
        reach.end(Self.partition(0), isWhole: true)
        #expect(reach.certain == base - 5 + PastReach.disorder)
        for number in 1...2 { reach.end(Self.partition(number), isWhole: true) }
        #expect(reach.certain == .min)
    }

    @Test func `one version that is much too low proves nothing of the records before it`() {
        var reach = Self.reach(1)
        let base = Self.now.microseconds
        reach.read(
            [.token(Self.token(base), key: [1]), .token(Self.token(1), key: [2]), .erasure(key: [3], at: nil)],
            of: Self.partition(0))
        #expect(reach.certain == base + PastReach.disorder)
        reach.read([.erasure(key: [3], at: .max), .erasure(key: [3], at: nil)], of: Self.partition(0))
        #expect(reach.certain == base + PastReach.disorder)
    }

    @Test func `records too old to be wanted are not read, and no older token counts`() {
        var reach = Self.reach(2)
        let base = Self.now.microseconds
        reach.since = base
        #expect(!reach.isEnough(of: Self.partition(0)))
        reach.read([.token(Self.token(base - PastReach.disorder), key: [1])], of: Self.partition(0))
        #expect(!reach.isEnough(of: Self.partition(0)))
        reach.read([.token(Self.token(base - PastReach.disorder - 1), key: [1])], of: Self.partition(0))
        #expect(reach.isEnough(of: Self.partition(0)))
        reach.end(Self.partition(0), isWhole: false)
        reach.end(Self.partition(1), isWhole: true)
        #expect(reach.certain == base + PastReach.disorder)
    }

    // MARK: Who waits

    @Test func `a call and a stream hear of a token of the past once it counts`() async throws {
        let store = TokenStore(capacity: 1 << 20) { Self.now }
        store.tailBegins()
        let arrivals = Mutex<[Int64]>([])
        store.waiters.wait(
            for: [1], after: 0, until: .now + .seconds(3600), unless: { store.newest([1]).map(Arrival.token) }
        ) { arrival in
            if case .token(let token) = arrival { arrivals.withLock { $0.append(token.version) } }
        }
        let subject = Subject(user: "user")
        let (_, tokens) = store.listen(to: [1], of: subject)
        store.recalled(Self.token(100), for: [1])
        store.pastReached(101)
        #expect(store.newest([1]) == nil && store.streamed.isEmpty && store.waiters.count == 1)
        #expect(store.unseen(of: [1]) >= 100)
        // The newer one is in another partition.
        store.recalled(Self.token(200), for: [1])
        #expect(arrivals.withLock { $0 } == [200] && store.newest([1])?.version == 200)
        var iterator = tokens.makeAsyncIterator()
        #expect(await iterator.next()?.version == 200)
        // Of one that counts as soon as the rest was read, whoever waits hears then.
        store.recalled(Self.token(50), for: [2])
        store.waiters.wait(
            for: [2], after: 0, until: .now + .seconds(3600), unless: { store.newest([2]).map(Arrival.token) }
        ) { arrival in
            if case .token(let token) = arrival { arrivals.withLock { $0.append(token.version) } }
        }
        #expect(arrivals.withLock { $0 } == [200])
        store.pastReached(50)
        #expect(arrivals.withLock { $0 } == [200, 50])
    }
}
