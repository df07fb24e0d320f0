import AdapterKit
import Kafka
import Operations
import Pipeline
import Testing

/// The table of attacks again, for events that die, are sent back by an operator and arrive once more, with every hop header
/// forged: a redrive is no way around the rules of a topic.
@Suite("Attacks that die and are redriven")
struct RedriveAttackTests {
    @Test func `every hop header is forged in these tests`() {
        for headers in ForgedHops.all { #expect(Set(headers.map(\.name)) == HopHeaders.all) }
    }

    @Test(arguments: AttackTableTests.all)
    func `forged hop headers change nothing of an attack's end`(_ attack: Attack) async throws {
        for forged in ForgedHops.all {
            let bench = try TrustBench()
            var processor = bench.processor()
            let record = try #require(try attack.records(bench).first).adding(forged)
            let settlement = try #require(await processor.process([record]).first)
            try attack.expectEnd(settlement)
            guard case .deadLettered = settlement.outcome else { continue }
            try expectLetter(try #require(settlement.output), of: record)
        }
    }

    @Test(arguments: AttackTableTests.all, WayBack.allCases)
    func `a redriven attack goes back to its topic, and gets nobody else's token there`(
        _ attack: Attack, _ way: WayBack
    ) async throws {
        for forged in ForgedHops.all {
            let bench = try TrustBench()
            let record = try #require(try attack.records(bench).first).adding(forged)
            let death = try await bench.death(of: record)
            guard case .deadLettered(let code) = death.outcome else {
                try attack.expectEnd(death)
                continue
            }
            let letter = try #require(death.output)
            try expectLetter(letter, of: record)
            if code.isAboutIdentity {
                #expect(try way.send(letter, named: nil) == .failure(RedriveRefused(.unnamed(code))))
            }
            let sent = try way.send(letter, named: code.isAboutIdentity ? code : nil).get()
            #expect(sent.topic == record.origin.topic)
            #expect(sent.key == record.key && sent.value == record.value)
            let hops = sent.headers.filter { HopHeaders.all.contains($0.name) }
            #expect(hops == [RecordHeader("remint-redrives", "2")], "one was claimed, and this is one more")
            var processor = bench.processor()
            try attack.expectEnd(try #require(await processor.process([sent.arrived(at: 99)]).first))
        }
    }

    /// Expects the dead letter of a record to state where the record was, and none of its claims but the count.
    private func expectLetter(_ letter: OutputRecord, of record: InputRecord) throws {
        let origin = record.origin
        #expect(letter.values("remint-origin-topic") == [origin.topic])
        #expect(letter.values("remint-origin-partition") == ["\(origin.partition)"])
        #expect(letter.values("remint-origin-offset") == ["\(origin.offset)"])
        #expect(
            letter.values("remint-origin-timestamp") == [record.timestamp.map { "\($0.milliseconds)" } ?? ""])
        #expect(letter.values("remint-redrives") == ["1"])
        let text = letter.headers.filter { HopHeaders.all.contains($0.name) }.compactMap(\.text)
        #expect(!text.contains { $0.contains(ForgedHops.mark) }, "\(text)")
        for name in HopHeaders.parking.union([HopHeaders.size, HopHeaders.notBefore]) {
            #expect(letter.values(name).isEmpty)
        }
    }
}

/// A configuration that changed between an event's death and its redrive.
@Suite("Redrives under another configuration")
struct ChangedTopicTests {
    /// Braze apps with these topics of their own.
    private static func apps(_ topics: [String: [String]]) throws -> [App] {
        let braze = try #require(try TrustBench().apps.first { $0.name == "apart" })
        return topics.map { name, topics in
            App(name: name, adapter: braze.adapter, keyRing: "braze", lifetime: 3600, topics: Set(topics))
        }
    }

    /// The end of an event of `app` on `topic` that died under one configuration and was redriven under another.
    private static func end(
        app: String, on topic: String, before: [String: [String]], after: [String: [String]]
    ) async throws -> Result<Outcome, RedriveRefused> {
        let bench = try TrustBench()
        let record = EventShape.raw.record(app, #"{"errorCode":22,"userId":"me"}"#, topic: topic)
        let death = try await bench.death(of: record, apps: apps(before))
        let sent: ProducerRecord
        do {
            let inputs = ["remint.invalidations", "remint.invalidations.bulk"] + after.values.flatMap { $0 }
            sent = try WayBack.redrive(try #require(death.output), inputs: Set(inputs), named: .retriesExhausted)
        } catch let error as RedriveRefused { return .failure(error) }
        var processor = bench.processor(of: try apps(after), bench.signing)
        return .success(try #require(await processor.process([sent.arrived(at: 99)]).first).outcome)
    }

    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var topic = "own"
        let before: [String: [String]]
        let after: [String: [String]]
        /// Nil where the letter stays.
        let end: Outcome?
    }

    static let changes = [
        Change(
            testDescription: "nothing changed", before: ["app": ["own"]], after: ["app": ["own"]], end: .minted),
        Change(
            testDescription: "another app owns the topic", before: ["app": ["own"]],
            after: ["app": ["new"], "other": ["own"]], end: .deadLettered(.wrongTopic)),
        Change(
            testDescription: "the app shares the topic with another", before: ["app": ["own"]],
            after: ["app": ["own"], "other": ["own"]], end: .minted),
        Change(
            testDescription: "the app has other topics", before: ["app": ["own"]], after: ["app": ["new"]], end: nil),
        Change(
            testDescription: "the app came to the shared topic", before: ["app": ["own"]], after: ["app": []],
            end: nil),
        Change(
            testDescription: "the app left the shared topic", topic: "remint.invalidations", before: ["app": []],
            after: ["app": ["own"]], end: .deadLettered(.wrongTopic)),
        Change(
            testDescription: "the app is gone, and its topic with it", before: ["app": ["own"]], after: [:], end: nil),
        Change(
            testDescription: "the app is gone, its topic is another's", before: ["app": ["own"]],
            after: ["other": ["own"]], end: .deadLettered(.unknownApp)),
    ]

    @Test(arguments: changes)
    func `a redriven event is judged by its topic as it is now`(_ change: Change) async throws {
        let end = try await Self.end(app: "app", on: change.topic, before: change.before, after: change.after)
        #expect(end == change.end.map { .success($0) } ?? .failure(RedriveRefused(.noLongerInput)))
    }

    /// A challenge of 300 seconds, which died at once and is redriven after 400.
    @Test(arguments: [true, false])
    func `a redriven challenge is as old as its event states, and new where it states nothing`(
        _ states: Bool
    ) async throws {
        let bench = try TestBench()
        let stated = states ? [RecordHeader("remint-observed-at", bench.clock.now.description)] : []
        let record = InputRecord.raw(SampleReport.challenge(), app: "push", ForgedHops.all[0] + stated)
        let failing = ScriptedSigning(
            algorithm: .hs256, answer: { $0.map { _ in .failure(Rejection(.mintFailed, "no")) } })
        var processor = bench.processor(
            failing, retries: RetryPolicy(tiers: [], maxAttempts: 1, deadline: .seconds(86_400)))
        let letter = try #require(await processor.process([record]).first?.output)
        bench.clock.now = bench.clock.now.advanced(bySeconds: 400)
        let sent = try WayBack.redrive(letter, inputs: ["remint.invalidations"], named: nil)
        let again = InputRecord(
            origin: RecordPosition(topic: sent.topic, partition: 0, offset: 99), timestamp: bench.clock.now,
            body: sent.body)
        let settlement = try await bench.settle(again)
        #expect(settlement.outcome == (states ? .deadLettered(.challengeExpired) : .minted))
        #expect(settlement.eventID == "remint.invalidations/0/99")
    }

    private static let told = [
        RecordHeader("remint-origin-partition", "1"), RecordHeader("remint-origin-offset", "2"),
        RecordHeader("remint-origin-timestamp", "1000"),
    ]

    static let origins: [(topic: String?, origin: String)] = [
        ("gone.failures", "gone.failures"), ("remint.tokens", "remint.tokens"), (nil, "remint.retries.10s"),
        ("", "remint.retries.10s"), (String(repeating: "t", count: 250), "remint.retries.10s"),
    ]

    @Test(arguments: origins)
    func `a retry record whose origin is no input is refused, and is not redriven`(
        _ topic: String?, _ origin: String
    ) async throws {
        for app in ["braze", "apart"] {
            let bench = try TrustBench()
            let headers =
                [RecordHeader("remint-app", app)] + Self.told
                + (topic.map { [RecordHeader("remint-origin-topic", $0)] } ?? [])
            let record = InputRecord(
                origin: RecordPosition(topic: "remint.retries.10s", partition: 0, offset: 3), timestamp: TrustBench.now,
                key: nil, value: Array(#"{"errorCode":22,"userId":"me"}"#.utf8), headers: headers, lane: .retries,
                tier: 0)
            var processor = bench.processor()
            let settlement = try #require(await processor.process([record]).first)
            #expect(settlement.outcome == .deadLettered(.wrongTopic) && settlement.app == app)
            #expect(settlement.detail?.contains("redrive with --code wrong_topic") == true)
            let letter = try #require(settlement.output)
            #expect(letter.values("remint-origin-topic") == [origin])
            for way in WayBack.allCases {
                #expect(try way.send(letter, named: .wrongTopic) == .failure(RedriveRefused(.noLongerInput)))
            }
        }
    }
}
