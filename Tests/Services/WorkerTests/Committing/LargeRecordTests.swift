import AdapterKit
import Kafka
import Pipeline
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Worker

@Suite(.timeLimit(.minutes(5))) struct LargeRecordTests {
    /// Tests records that the client itself refuses.
    @Test func `only the large ones of many records become smaller`() async throws {
        try await CommitBench.with(kafka: ["message.max.bytes: 2000"]) { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let unit = try await events.unit([
                    events.challenge(1), events.garbage(), events.garbage(bytes: 5000), events.garbage(),
                    events.longChallenge(user: 900), events.challenge(2),
                    events.longChallenge(user: 900, padding: 3100),
                    events.garbage(bytes: 6000),
                ])
                let result = await bench.committer(producer).commit(unit)
                guard case .committed(let committed) = result else {
                    Issue.record("\(Ended(result))")
                    return
                }
                #expect(
                    committed.ends.map(\.settlement.outcome) == [
                        .minted, .deadLettered(.malformedEvent), .deadLettered(.malformedEvent),
                        .deadLettered(.malformedEvent), .deadLettered(.mintFailed), .minted,
                        .deadLettered(.mintFailed), .deadLettered(.malformedEvent),
                    ])
                // A dead letter that is too large only refers to its event; a token's is kept whole where it can be.
                #expect(
                    committed.ends.map { $0.settlement.output?.value == nil } == [
                        false, false, true, false, false, false, true, true,
                    ])
                #expect(committed.offsets[.live] == unit.offsets[.live])
                #expect(Ended(await bench.committer(producer).commit(committed)) == .committed)
            }
        }
    }

    /// Tests records that the broker refuses: librdkafka makes the transaction after each refusal fail once more.
    @Test(arguments: [
        (refusals: 1, isReference: false), (refusals: 2, isReference: true),
    ])
    func `a record the broker refuses alone becomes smaller`(refusals: Int, isReference: Bool) async throws {
        try await CommitBench.with { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let committer = bench.committer(producer)
                let before = try await events.unit([events.garbage()])
                #expect(Ended(await committer.commit(before)) == .committed)
                let unit = try await events.unit([events.garbage()])
                let errors = Array(repeating: EmbeddedBroker.ResponseError.messageTooLarge, count: refusals)
                try await bench.broker.inject(.errors(.produce, errors))
                let result = await committer.commit(unit)
                guard case .committed(let committed) = result else {
                    Issue.record("\(Ended(result))")
                    return
                }
                #expect((committed.ends[0].settlement.output?.value == nil) == isReference)
                #expect(Ended(await committer.commit(before)) == .committed)
            }
        }
    }

    @Test func `records that are refused together and accepted alone stay as they are`() async throws {
        try await CommitBench.with { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let unit = try await events.unit((0..<20).map { _ in events.garbage() })
                try await bench.broker.inject(.errors(.produce, [.messageTooLarge]))
                let result = await bench.committer(producer).commit(unit)
                guard case .committed(let committed) = result else {
                    Issue.record("\(Ended(result))")
                    return
                }
                #expect(committed.ends.allSatisfy { $0.settlement.output?.value != nil })
            }
        }
    }

    @Test func `a topic that refuses even the smallest record is blocked`() async throws {
        try await CommitBench.with { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let committer = bench.committer(producer)
                let unit = try await events.unit([events.garbage()])
                try await bench.broker.inject(.errors(.produce, Array(repeating: .messageTooLarge, count: 3)))
                let result = await committer.commit(unit)
                #expect(Ended(result) == .blocked(bench.configuration.topics.deadLetters, "MSG_SIZE_TOO_LARGE"))
                guard case .blocked(let blockage) = result else { return }
                try await bench.broker.inject(.errors(.produce, [.messageTooLarge]))
                #expect(await committer.isCleared(blockage).blockedCode == .messageTooLarge)
                #expect(await committer.isCleared(blockage).isCleared)
                #expect(Ended(await committer.commit(unit)) == .committed)
            }
        }
    }

    /// Forty large ones among a hundred: found, and fixed together.
    @Test func `many large records are made smaller together`() async throws {
        try await CommitBench.with(kafka: ["message.max.bytes: 2000"]) { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                var records: [InputRecord] = []
                for number in 0..<100 {
                    records.append(
                        number % 5 < 2 ? events.garbage(bytes: 4000 + number) : events.challenge(number))
                }
                let unit = try await events.unit(records)
                let result = await bench.committer(producer).commit(unit)
                guard case .committed(let committed) = result else {
                    Issue.record("\(Ended(result))")
                    return
                }
                let ends = committed.ends.map(\.settlement)
                #expect(ends.count { $0.outcome == .minted } == 60)
                #expect(ends.count { $0.outcome == .deadLettered(.malformedEvent) && $0.output?.value == nil } == 40)
            }
        }
    }

    /// Whatever the broker calls too large, in whatever company, the search ends: each answer names a new suspect or a
    /// culprit, and each culprit becomes smaller twice at most.
    @Test(arguments: 0..<200 as Range<UInt64>) func `the search for the large ones ends`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...30, using: &random)
        var sizes = (0..<count).map { _ in Int.random(in: 0...2, using: &random) }
        var large = LargeRecords()
        var attempts = 0
        while true {
            attempts += 1
            let together = sizes.indices.filter { sizes[$0] > 0 && !large.suspects.contains($0) }
            let alone = sizes.indices.first { sizes[$0] > 0 && large.suspects.contains($0) }
            guard !together.isEmpty || alone != nil else { break }
            // A large one takes some of the small ones with it.
            let others = together.isEmpty ? [] : sizes.indices.filter { !large.suspects.contains($0) && $0 % 3 == 0 }
            let places = Array(Set(together + others + (alone.map { [$0] } ?? [])))
            if let culprit = large.culprit(among: places) {
                #expect(sizes[culprit] > 0, "a small one is never taken for large")
                sizes[culprit] -= 1
            }
            guard attempts < 4 * count + 4 else { break }
        }
        #expect(sizes.allSatisfy { $0 == 0 })
        #expect(attempts < 4 * count + 4)
    }
}

extension Events {
    /// An event of a user whose name is long, and as long again by its other contents.
    fileprivate mutating func longChallenge(user: Int, padding: Int = 0) -> InputRecord {
        let name = String(repeating: "u", count: user)
        let rest = String(repeating: "r", count: padding)
        return record(Array(#"{"provider":"jsonWebToken","nonce":"n","userId":"\#(name)","rest":"\#(rest)"}"#.utf8))
    }
}
