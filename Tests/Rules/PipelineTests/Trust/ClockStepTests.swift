import AdapterKit
import AsyncTestSupport
import Testing

@testable import Pipeline

@Suite("Clocks that are set while everything runs", .timeLimit(.minutes(10)))
struct ClockStepTests {
    @Test(arguments: 0..<10)
    func `events are answered by tokens that every reader accepts once clocks agree`(_ part: UInt64) async throws {
        for seed in 0..<UInt64(Scale.rounds(1000)) {
            var walk = try ClockWalk(seed: part << 32 | seed)
            for _ in 0..<24 { try await walk.step() }
            try await walk.agree()
            #expect(walk.unanswered.isEmpty, "seed \(part << 32 | seed)")
        }
    }

    /// The brokers refuse every record of that time, so no reader knows of it.
    @Test func `versions of a clock that was far ahead go with their transaction`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: .off)
        bench.clock.now = TestBench.now.advanced(bySeconds: 400 * 86_400)
        #expect(await processor.process([Self.report], batch: 1).map(\.outcome) == [.minted])
        // A commit of what was settled before does not carry them either.
        #expect(processor.highestVersion(throughBatch: 0) == 0)
        processor.rollBack()
        bench.clock.now = TestBench.now
        let settled = await processor.process([Self.report], batch: 2)
        #expect(try settled.first?.output?.json["version"]?.integer == TestBench.now.microseconds)
    }

    @Test func `no token is minted with a version that readers refuse`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: .off)
        processor.raiseVersions(above: TestBench.now.microseconds)
        bench.clock.now = TestBench.now.advanced(bySeconds: -86_400)
        #expect(await processor.process([Self.report], batch: 1).map(\.outcome.name) == ["deferred"])
        bench.clock.now = TestBench.now.advanced(bySeconds: -86_399)
        #expect(await processor.process([Self.report], batch: 2).map(\.outcome) == [.minted])
        bench.clock.now = TestBench.now.advanced(bySeconds: -400 * 86_400)
        processor.forgetVersions()
        #expect(await processor.process([Self.report], batch: 3).map(\.outcome) == [.minted])
    }

    private static var report: InputRecord { .raw(SampleReport.bloomreach(), app: "web") }
}

/// Two workers, two readers of the token topic and two producers, each with a clock of its own, and brokers.
private struct ClockWalk {
    private struct Worker {
        let bench: TestBench
        var processor: BatchProcessor
        var batch = 0
    }

    private static let users = ["ann", "bob", "cid"]
    private static let steps: [Int64] = [
        0, 50, -50, 3000, -3000, 7200, -7200, 172_800, -172_800, 34_560_000, -34_560_000,
    ]

    private var random: SeededGenerator
    private var now = TestBench.now
    /// The leads of the clocks, in seconds.
    private var leads = [Int64](repeating: 0, count: 6)
    private var workers: [Worker]
    private var owner = 0
    private var waiting: [InputRecord] = []
    private var tokens: [RecordBody] = []
    /// The version that is committed with the offsets.
    private var committed: Int64 = 0
    /// The newest token of each user at each reader.
    private var held: [[ArraySlice<UInt8>: TokenRecord]] = [[:], [:]]
    private var offset: Int64 = 0
    /// Whether the brokers refuse records that are dated more than an hour ahead.
    private let areBrokersStrict: Bool
    private let isExactlyOnce: Bool
    private var isOver = false
    /// The events that no accepted token answers.
    private(set) var unanswered: [String] = []

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        (areBrokersStrict, isExactlyOnce) = (seed % 4 != 0, seed % 3 != 0)
        workers = try (0..<2).map { _ in
            let bench = try TestBench()
            return Worker(bench: bench, processor: bench.processor())
        }
    }

    mutating func step() async throws {
        pass(.random(in: 0...1_800_000_000, using: &random))
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: set(Int.random(in: 0..<6, using: &random), to: Self.steps.randomElement(using: &random) ?? 0)
        case 3..<6: produce(Self.users.randomElement(using: &random) ?? "")
        case 6..<9: try await work()
        default: handOver(to: Int.random(in: 0..<2, using: &random))
        }
    }

    /// All clocks are right from now on, and every user's device fails once more.
    mutating func agree() async throws {
        pass(1_000_000)
        for index in leads.indices { set(index, to: 0) }
        pass(120_000_000)
        isOver = true
        for user in Self.users { produce(user) }
        for _ in 0..<3 {
            try await work()
            pass(60_000_000)
        }
        unanswered += waiting.map { "\($0.origin) waits" }
        for (reader, held) in held.enumerated() {
            for user in Self.users {
                let key = Subject(identifiers: [.init(name: "registered", value: user)]).key(app: "web")
                guard let token = held[key[...]], token.expiresAt > now.seconds,
                    ReadBackBound.admits(version: token.version, at: now)
                else {
                    unanswered.append("\(user) at reader \(reader)")
                    continue
                }
            }
        }
    }

    /// Sets a clock. A worker notices that, and begins another session.
    private mutating func set(_ index: Int, to lead: Int64) {
        let step = abs(lead - leads[index])
        leads[index] = lead
        pass(0)
        guard workers.indices.contains(index), step > 300 else { return }
        workers[index].processor.rollBack(isPublished: !isExactlyOnce)
        workers[index].processor.forgetVersions()
        if index == owner { readVersions() }
    }

    private mutating func pass(_ microseconds: Int64) {
        now = now.advanced(byMicroseconds: microseconds)
        for index in workers.indices { workers[index].bench.clock.now = now.advanced(bySeconds: leads[index]) }
    }

    private mutating func produce(_ user: String) {
        offset += 1
        let lead = leads[4 + Int.random(in: 0..<2, using: &random)]
        waiting.append(
            .sample(
                SampleReport.bloomreach(id: user), headers: [RecordHeader("remint-app", "web")], offset: offset,
                timestamp: now.advanced(bySeconds: lead)))
    }

    private mutating func work() async throws {
        workers[owner].batch += 1
        let number = workers[owner].batch
        let records = waiting
        let settlements = await workers[owner].processor.process(records, batch: number)
        guard leads[owner] <= 3600 || !areBrokersStrict else {
            return workers[owner].processor.rollBack(isPublished: !isExactlyOnce)
        }
        waiting = []
        committed = workers[owner].processor.highestVersion(throughBatch: number)
        for settlement in settlements {
            if let output = settlement.output { try publish(output) }
            if isOver, case .deadLettered(let code) = settlement.outcome { unanswered.append("\(code)") }
        }
        // Sometimes the answer to the commit is lost, and new clients begin from what is committed.
        if Int.random(in: 0..<8, using: &random) == 0 { return handOver(to: owner) }
        workers[owner].processor.confirm(throughBatch: number)
    }

    private mutating func publish(_ output: OutputRecord) throws {
        switch output.destination {
        case .tokens:
            tokens.append(output.body)
            for reader in held.indices {
                let clock = now.advanced(bySeconds: leads[2 + reader])
                guard let token = try? TokenRecord(output.body, at: clock) else { continue }
                if let known = held[reader][token.subjectKey], known.version >= token.version,
                    ReadBackBound.admits(version: known.version, at: clock)
                {
                    continue
                }
                held[reader][token.subjectKey] = token
            }
        case .retries:
            offset += 1
            waiting.append(try output.fromTier(at: now.advanced(bySeconds: leads[owner]), offset: offset))
        case .deadLetters: break
        }
    }

    private mutating func handOver(to next: Int) {
        workers[owner].processor.rollBack(isPublished: !isExactlyOnce)
        owner = next
        readVersions()
    }

    private mutating func readVersions() {
        let clock = workers[owner].bench.clock.now
        if ReadBackBound.admits(version: committed, at: clock) {
            workers[owner].processor.raiseVersions(above: committed)
        }
        for body in tokens.suffix(20) {
            guard let token = try? TokenRecord(body, at: clock) else { continue }
            workers[owner].processor.raiseVersions(above: token.version)
        }
    }
}
