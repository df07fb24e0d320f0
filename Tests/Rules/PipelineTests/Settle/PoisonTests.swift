import AdapterKit
import Pipeline
import Testing

/// A record that cannot be answered, and how it must end.
struct Poison: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let record: InputRecord
    let code: ErrorCode
    let stage: Stage
    /// The event's app, if it is known and configured.
    let app: String?

    init(_ name: String, _ record: InputRecord, _ code: ErrorCode, _ stage: Stage, app: String? = nil) {
        testDescription = name
        self.record = record
        self.code = code
        self.stage = stage
        self.app = app
    }

    /// Every way to die.
    static let all: [Poison] = {
        var generator = SeededGenerator(seed: 42)
        var noise: [UInt8] = []
        while noise.count < 2 << 20 { withUnsafeBytes(of: generator.next()) { noise.append(contentsOf: $0) } }
        let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        let late = TestBench.now.advanced(bySeconds: -400).description
        return [
            Poison("empty", .raw("", app: "shop-ios"), .malformedEvent, .decode),
            Poison("null", .sample(nil, headers: [RecordHeader("remint-app", "shop-ios")]), .malformedEvent, .decode),
            Poison(
                "2 MB of noise", .sample(noise, headers: [RecordHeader("remint-app", "shop-ios")]), .eventTooLarge,
                .decode),
            Poison(
                "truncated JSON", .raw(String(SampleReport.braze().dropLast()), app: "shop-ios"), .malformedEvent,
                .decode),
            Poison("JSON 10,000 levels deep", .raw(deep, app: "shop-ios"), .malformedEvent, .decode),
            Poison(
                "objects 10,000 levels deep", .raw(String(repeating: "{\"a\":", count: 10_000), app: "web"),
                .malformedEvent, .decode),
            Poison(
                "invalid UTF-8",
                .sample(
                    Array(#"{"userId":""#.utf8) + [0xFF] + Array("\"}".utf8),
                    headers: [RecordHeader("remint-app", "push")]),
                .malformedEvent, .decode),
            Poison("an unknown app", .raw(SampleReport.braze(), app: "Shop-iOS"), .unknownApp, .decode),
            Poison(
                "another vendor's report", .raw(SampleReport.bloomreach(), app: "shop-ios"), .malformedReport, .decode,
                app: "shop-ios"),
            Poison(
                "Braze's report at Dotdigital", .raw(SampleReport.braze(), app: "push"), .malformedReport, .decode,
                app: "push"),
            Poison(
                "Braze's report at Bloomreach", .raw(SampleReport.braze(), app: "web"), .malformedReport, .decode,
                app: "web"),
            Poison(
                "a report that is no object", .raw("[1]", app: "shop-ios"), .malformedReport, .decode, app: "shop-ios"),
            Poison(
                "a missing user", .raw(#"{"errorCode":22}"#, app: "shop-ios"), .missingUser, .decode, app: "shop-ios"),
            Poison(
                "a challenge without a user", .raw(#"{"nonce":"n"}"#, app: "push"), .missingUser, .decode, app: "push"),
            Poison(
                "a challenge without a nonce", .raw(#"{"userId":"u"}"#, app: "push"), .missingChallenge, .decode,
                app: "push"),
            Poison(
                "a nonce past its deadline",
                .raw(SampleReport.challenge(), app: "push", [RecordHeader("remint-observed-at", late)]),
                .challengeExpired, .admit, app: "push"),
            Poison(
                "a challenge that is over by its own time", .raw(SampleReport.challenge(expiresOn: late), app: "push"),
                .challengeExpired, .admit,
                app: "push"),
            Poison(
                "a failure no token repairs", .raw(SampleReport.braze(code: 25), app: "shop-ios"), .notFixableByToken,
                .resolve,
                app: "shop-ios"),
        ]
    }()
}

@Suite("Poison records")
struct PoisonTests {
    private static let own = [
        "remint-error-code", "remint-error-stage", "remint-error-detail", "remint-origin-topic",
        "remint-origin-partition",
        "remint-origin-offset", "remint-origin-timestamp", "remint-attempts", "remint-failed-at", "remint-redrives",
    ]

    /// The headers of a letter besides its own, where a report blames the key.
    private static func refused(_ code: ErrorCode) -> [String] {
        code == .notFixableByToken ? ["remint-refused-key-ring", "remint-refused-subject"] : []
    }

    @Test(arguments: Poison.all)
    func `a poison record becomes a dead letter byte for byte, and the records around it are minted`(_ poison: Poison)
        async throws
    {
        let bench = try TestBench()
        var processor = bench.processor()
        let settlements = await processor.process([
            .raw(SampleReport.braze(user: "before"), app: "shop-ios", offset: 6), poison.record,
            .raw(SampleReport.challenge(user: "after"), app: "push", offset: 8),
        ])
        try #require(settlements.count == 3)
        #expect(settlements[0].outcome == .minted)
        #expect(settlements[2].outcome == .minted)

        let settlement = settlements[1]
        #expect(settlement.outcome == .deadLettered(poison.code))
        #expect(settlement.origin == poison.record.origin)
        #expect(settlement.app == poison.app)
        let output = try #require(settlement.output)
        #expect(output.destination == .deadLetters)
        #expect(output.key == poison.record.key)
        #expect(output.value == poison.record.value)
        #expect(Array(output.headers.prefix(poison.record.headers.count)) == poison.record.headers)
        #expect(
            output.headers.dropFirst(poison.record.headers.count).map(\.name) == Self.own + Self.refused(poison.code))
        #expect(output.values("remint-error-code") == [poison.code.rawValue])
        #expect(output.values("remint-error-stage") == [poison.stage.rawValue])
        #expect(output.values("remint-error-detail") == [settlement.detail])
        #expect(settlement.detail?.isEmpty == false)
        #expect(settlement.detail?.contains { $0.isNewline } == false)
        #expect(output.values("remint-origin-topic") == ["remint.invalidations"])
        #expect(output.values("remint-origin-partition") == ["3"])
        #expect(output.values("remint-origin-offset") == ["7"])
        #expect(output.values("remint-origin-timestamp") == ["1763639999500"])
        #expect(output.values("remint-attempts") == ["1"])
        #expect(output.values("remint-redrives") == ["0"])
        #expect(output.values("remint-failed-at") == ["2025-11-20T12:00:00.123456Z"])
    }

    @Test(arguments: Poison.all)
    func `the details of a poison record show nothing of its report or secrets`(_ poison: Poison) async throws {
        let settlement = try await TestBench().settle(poison.record)
        let output = try #require(settlement.output)
        let said =
            (settlement.detail ?? "")
            + output.headers.filter { $0.name.hasPrefix("remint-error") }.compactMap(\.text).joined()
        for secret in [SampleReport.signature, "user-42", "nonce-1", "ann@example.com", "Shop-iOS", "c2VjcmV0"] {
            #expect(!said.contains(secret))
            #expect(!String(describing: settlement.outcome).contains(secret))
        }
    }

    @Test func `a whole batch of poison mints nothing and asks for no signature`() async throws {
        let bench = try TestBench()
        var processor = bench.processor()
        let settlements = await processor.process(Poison.all.map(\.record))
        #expect(settlements.map(\.outcome) == Poison.all.map { .deadLettered($0.code) })
        #expect(bench.signing.calls.allSatisfy { $0 == 0 })
    }

    @Test func `an empty batch is no trouble`() async throws {
        let bench = try TestBench()
        var processor = bench.processor()
        #expect(await processor.process([]).isEmpty)
    }
}
