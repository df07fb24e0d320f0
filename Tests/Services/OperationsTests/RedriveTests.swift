import AdapterKit
import Kafka
import Pipeline
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Operations

/// Dead letters that go back, and their topics.
@Suite struct RedriveTests {
    /// A configuration with two apps that have topics of their own.
    private static func configuration() throws -> Configuration {
        try readConfiguration(
            """
            kafka: { bootstrap_servers: 127.0.0.1:9092 }
            topics: { invalidations: events, invalidations_bulk: jobs }
            keys: { a: { path: a } }
            apps:
              one: { adapter: braze, key: a, lifetime: 12h, topics: [one.failures, both.failures] }
              two: { adapter: braze, key: a, lifetime: 12h, topics: [two.failures, both.failures] }
              three: { adapter: braze, key: a, lifetime: 12h }
            """)
    }

    private static func letter(
        from topic: String?, code: String? = "key_unavailable", redrives: String = "0", size: String? = nil
    ) -> InputRecord {
        let named: [(String, String?)] = [
            ("remint-app", "one"), ("remint-id", "e-1"), ("traceparent", "00-1"), (HopHeaders.code, code),
            (HopHeaders.stage, "mint"), (HopHeaders.detail, "why"), (HopHeaders.topic, topic),
            (HopHeaders.partition, "0"), (HopHeaders.offset, "3"), (HopHeaders.timestamp, "5"),
            (HopHeaders.attempts, "2"), (HopHeaders.history, "h"), (HopHeaders.redrives, redrives),
            (HopHeaders.size, size), (HopHeaders.failedAt, "2026-11-21T10:00:00Z"),
        ]
        return InputRecord(
            origin: RecordPosition(topic: "remint.dead-letters", partition: 1, offset: 7), timestamp: nil,
            key: Array("key".utf8), value: Array(#"{"code":25}"#.utf8),
            headers: named.compactMap { name, value in value.map { RecordHeader(name, $0) } }, lane: .retries)
    }

    private static func redrive(
        _ letter: InputRecord, named code: ErrorCode? = nil, most: Int = 3
    ) throws -> Result<ProducerRecord, RedriveRefused> {
        let configuration = try configuration()
        let entry = DeadLetterEntry(
            letter, decoder: configuration.deadLetterDecoder, at: UnixTime(seconds: 1_795_500_000))
        do throws(RedriveRefused) {
            return .success(
                try Redrive(
                    letter, entry, inputs: Set(configuration.eventTopics), named: code, maximumRedrives: most
                ).output)
        } catch { return .failure(error) }
    }

    private static func refusal(_ result: Result<ProducerRecord, RedriveRefused>) -> Redrive.Refusal? {
        if case .failure(let refused) = result { refused.reason } else { nil }
    }

    @Test(arguments: ["events", "jobs", "one.failures", "two.failures", "both.failures"])
    func `an event goes back to the very topic it came from`(_ topic: String) throws {
        let record = try Self.redrive(Self.letter(from: topic, redrives: "1")).get()
        #expect(record.topic == topic)
        #expect(record.key == Array("key".utf8) && record.value == Array(#"{"code":25}"#.utf8))
        #expect(
            record.headers == [
                RecordHeader("remint-app", "one"), RecordHeader("remint-id", "e-1"),
                RecordHeader("traceparent", "00-1"),
                RecordHeader("remint-redrives", "2"),
            ], "no header of an earlier hop goes with it but the count")
    }

    /// The defaults' names are none of this configuration's.
    @Test(arguments: [
        "remint.invalidations", "one.failure", "EVENTS", "remint.retries.10s", "remint.tokens", "remint.dead-letters",
        "remint.dead-letters.parked", "remint.control",
    ])
    func `a letter whose topic is no input stays`(_ topic: String) throws {
        #expect(Self.refusal(try Self.redrive(Self.letter(from: topic))) == .noLongerInput)
        #expect(Self.refusal(try Self.redrive(Self.letter(from: topic), named: .keyUnavailable)) == .noLongerInput)
    }

    @Test func `the codes of letters that must be named are these four`() {
        #expect(
            ErrorCode.allCases.filter(\.isAboutIdentity) == [
                .wrongTopic, .identityMissing, .identityMismatch, .unproven,
            ])
    }

    @Test(arguments: ErrorCode.allCases)
    func `a letter that was refused for whose it is goes back where its own code is named`(_ code: ErrorCode) throws {
        let letter = Self.letter(from: "events", code: code.rawValue)
        for named in [nil] + ErrorCode.allCases.map(Optional.some) {
            let refusal = Self.refusal(try Self.redrive(letter, named: named))
            #expect(refusal == (code.isAboutIdentity && named != code ? .unnamed(code) : nil))
        }
    }

    @Test func `a letter that is none, is by reference, or was redriven too often is not redriven`() throws {
        #expect(Self.refusal(try Self.redrive(Self.letter(from: nil))) == .noDeadLetter)
        #expect(Self.refusal(try Self.redrive(Self.letter(from: "events", code: nil))) == .noDeadLetter)
        #expect(Self.refusal(try Self.redrive(Self.letter(from: "events", code: "new_code"))) == .noDeadLetter)
        #expect(Self.refusal(try Self.redrive(Self.letter(from: "events", size: "9"))) == .byReference)
        #expect(Self.refusal(try Self.redrive(Self.letter(from: "events", redrives: "3"))) == .redrivenTooOften)
    }

    /// A worker writes a whole number from 0 to 1,000,000, whatever the producer wrote.
    @Test(arguments: ["-9223372036854775808", "many", "", "99999999999999999999"])
    func `a letter whose count no worker wrote stays`(_ count: String) throws {
        #expect(Self.refusal(try Self.redrive(Self.letter(from: "events", redrives: count))) == .noDeadLetter)
    }

    @Test func `a redrive counts one more`() throws {
        let record = try Self.redrive(Self.letter(from: "events", redrives: "2")).get()
        #expect(record.headers.text("remint-redrives") == "3")
    }

    @Test func `an operator can still send an event whose producer wrote a high count`() throws {
        let letter = Self.letter(from: "events", redrives: "1000000")
        #expect(Self.refusal(try Self.redrive(letter)) == .redrivenTooOften)
        #expect(try Self.redrive(letter, most: 1_000_001).get().headers.text("remint-redrives") == "1000001")
    }

    @Test func `each reason has a name and words of its own, and a code's names the option`() {
        let all = Redrive.Refusal.allCases
        #expect(Set(all.map(\.description)).count == all.count)
        #expect(Redrive.Refusal.unnamed(.wrongTopic).description == "only with --code wrong_topic")
        #expect(Redrive.Refusal.noLongerInput.description == "no longer an input")
        #expect(
            Set(all.map(\.name)) == [
                "redriven_too_often", "by_reference", "not_a_dead_letter", "parked", "done_already",
                "no_longer_an_input", "needs_code",
            ])
    }
}
