import AdapterKit
import AsyncTestSupport
import Pipeline
import Testing

@Suite("Batches")
struct BatchProcessorTests {
    /// The intended outcome of a record.
    private enum Kind: CaseIterable {
        case braze, challenge, bloomreach, reissue, anonymous, garbage, truncated, null, unknownApp, expired, hopeless

        func record(_ user: String, _ offset: Int64, _ generator: inout SeededGenerator) -> InputRecord {
            switch self {
            case .braze: .raw(SampleReport.braze(user: user), app: "shop-ios", offset: offset)
            case .challenge: .raw(SampleReport.challenge(user: user, nonce: "n\(offset)"), app: "push", offset: offset)
            case .bloomreach: .raw(SampleReport.bloomreach(id: user), app: "web", offset: offset)
            case .reissue:
                .sample(#"{"app":"web","reissue":{"ids":{"registered":"\#(user)"}}}"#, offset: offset)
            case .anonymous: .raw(#"{"errorCode":22,"userId":null}"#, app: "shop-ios", offset: offset)
            case .garbage:
                .sample(
                    (0..<Int.random(in: 1...200, using: &generator)).map { _ in .random(in: 0...255, using: &generator)
                    }, offset: offset)
            case .truncated:
                .raw(
                    String(SampleReport.braze(user: user).dropLast(.random(in: 1...60, using: &generator))),
                    app: "shop-ios", offset: offset)
            case .null: .sample(nil, offset: offset)
            case .unknownApp: .raw(SampleReport.braze(user: user), app: "nobody's", offset: offset)
            case .expired:
                .raw(
                    SampleReport.challenge(user: user), app: "push", offset: offset,
                    [RecordHeader("remint-observed-at", "2020-01-01T00:00:00Z")])
            case .hopeless: .raw(SampleReport.braze(user: user, code: 25), app: "shop-ios", offset: offset)
            }
        }

        var outcome: String {
            switch self {
            case .braze, .challenge, .bloomreach, .reissue: "minted"
            case .anonymous: "skipped"
            default: "dead_lettered"
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `records of every kind have one end each, in their order`() async throws {
        let bench = try TestBench()
        var processor = bench.processor()
        var generator = SeededGenerator(seed: 2026)
        var offset: Int64 = 0
        var versions: [Int64] = []
        let count = Int64(Scale.rounds(10_000))
        while offset < count {
            var kinds: [Kind] = []
            var records: [InputRecord] = []
            for _ in 0..<Int.random(in: 1...700, using: &generator) where offset < count {
                var kind = try #require(Kind.allCases.randomElement(using: &generator))
                // RSA is slow in a debug build's company: a tenth of it tells as much.
                if kind == .braze, offset % 5 != 0 { kind = .bloomreach }
                kinds.append(kind)
                records.append(kind.record("user-\(offset)", offset, &generator))
                offset += 1
            }
            bench.clock.now = bench.clock.now.advanced(bySeconds: .random(in: -3...3, using: &generator))
            let settlements = await processor.process(records)
            try #require(settlements.count == records.count)
            for (index, settlement) in settlements.enumerated() {
                #expect(settlement.origin == records[index].origin)
                #expect(settlement.outcome.name == kinds[index].outcome, "\(kinds[index]): \(settlement.detail ?? "")")
                try check(settlement, of: records[index], &versions)
            }
        }
        #expect(versions.count > Scale.rounds(1000))
        #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 })
    }

    private func check(_ settlement: Settlement, of record: InputRecord, _ versions: inout [Int64]) throws {
        switch settlement.outcome {
        case .minted:
            let output = try #require(settlement.output)
            versions.append(try #require(try output.json["version"]?.integer))
            let key = String(decoding: output.key ?? [], as: UTF8.self)
            #expect(key.contains("user-\(record.origin.offset)"))
        case .skipped: #expect(settlement.output == nil)
        case .deadLettered(let code):
            let output = try #require(settlement.output)
            #expect(output.destination == .deadLetters)
            #expect(output.value == record.value)
            #expect(output.key == record.key)
            #expect(output.values("remint-error-code") == [code.rawValue])
            #expect(output.values("remint-origin-offset") == [String(record.origin.offset)])
        case .superseded, .deferred: Issue.record("\(settlement.outcome)")
        }
    }

    @Test func `the same batch comes to the same end twice`() async throws {
        let bench = try TestBench()
        var first = bench.processor(), second = bench.processor()
        let records =
            Poison.all.map(\.record) + [
                .raw(SampleReport.braze(), app: "shop-ios"), .raw(SampleReport.bloomreach(), app: "web"),
            ]
        let one = await first.process(records), two = await second.process(records)
        #expect(one.map(\.output) == two.map(\.output))
        #expect(one.map(\.outcome) == two.map(\.outcome))
    }

    @Test func `random bytes in any form never trap`() async throws {
        let bench = try TestBench()
        var processor = bench.processor()
        var generator = SeededGenerator(seed: 7)
        let names = [
            "content-type", "ce_specversion", "ce_app", "ce_time", "remint-app", "remint-observed-at", "traceparent",
        ]
        let texts = [
            "application/cloudevents+json", "1.0", "shop-ios", "push", "web", "", "2025-11-20T12:00:00Z", "\u{0}",
        ]
        let seeds = [
            SampleReport.braze(), SampleReport.challenge(), SampleReport.bloomreach(),
            #"{"app":"web","reissue":{}}"#,
        ]
        let records = (0..<Scale.rounds(3000)).map { offset -> InputRecord in
            var value = Array((seeds.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                let index = Int.random(in: 0..<value.count, using: &generator)
                value[index] = .random(in: 0...255, using: &generator)
            }
            let headers = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                RecordHeader(names.randomElement(using: &generator) ?? "", texts.randomElement(using: &generator) ?? "")
            }
            return .sample(value, headers: headers, offset: Int64(offset))
        }
        let settlements = await processor.process(records)
        #expect(settlements.map(\.origin) == records.map(\.origin))
    }
}
