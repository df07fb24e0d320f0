import AdapterKit
import Pipeline
import Testing
import WorkerConfiguration

@testable import Pickup

/// The gateway believes a record of the topics it follows only where a worker of its fleet can have written it.
@Suite struct FollowedRecordTests {
    private static let now = SampleLetter.now

    private func read(_ record: RecordBody, of topic: String = "remint.tokens", awaits event: String? = nil) throws
        -> FollowedRecord
    {
        let position = RecordPosition(topic: topic, partition: 0, offset: 0)
        return try FollowedRecord(record, at: position, Configuration(), now: Self.now) { $0 == event }
    }

    private static func token(
        key: String = "shop-b/carol", user: String = "carol", version: Int64 = now.microseconds,
        expires: Int64 = now.seconds + 3600
    ) -> RecordBody {
        let value = """
            {"app":"shop-b","vendor":"braze","subject":{"user":"\(user)"},"token":"e.e.e","algorithm":"RS256",\
            "key_id":"k","issued_at":\(now.seconds),"expires_at":\(expires),"version":\(version),"event_id":"e"}
            """
        let headers = [
            RecordHeader("ce_type", "remint.token.replaced.v1"), RecordHeader("ce_source", "/remint/shop-b"),
            RecordHeader("ce_id", "e"), RecordHeader("remint-key-id", "k"),
            RecordHeader("remint-expires-at", "\(expires)"), RecordHeader("remint-version", "\(version)"),
        ]
        return RecordBody(key: Array(key.utf8), value: Array(value.utf8), headers: headers)
    }

    @Test func `a token of its key's subject is taken`() throws {
        guard case .token(let token, let key) = try read(Self.token()) else { Issue.record("not taken"); return }
        #expect(key == Array("shop-b/carol".utf8) && token.version == Self.now.microseconds)
        #expect(token.expiresAt == Self.now.seconds + 3600)
    }

    @Test func `a token under another subject's key is handed to nobody`() {
        #expect(throws: RecordFault.mismatched) { try read(Self.token(user: "someone-else")) }
        #expect(throws: RecordFault.mismatched) { try read(Self.token(key: "shop-b/ben")) }
        #expect(throws: RecordFault.mismatched) { try read(Self.token(key: "shop-c/carol")) }
    }

    @Test(arguments: [.min, -1, 0, .max, now.microseconds + 86_400_000_001] as [Int64])
    func `a version that no worker gives is refused`(_ version: Int64) {
        #expect(throws: RecordFault.version) { try read(Self.token(version: version)) }
    }

    @Test(arguments: [0, .min, .max, now.seconds] as [Int64])
    func `a token with an impossible end is refused`(_ end: Int64) {
        #expect(throws: RecordFault.time) { try read(Self.token(expires: end)) }
    }

    @Test func `a tombstone erases its key's token, and one without a key nothing`() throws {
        func erasure(_ key: [UInt8]?) -> RecordBody { RecordBody(key: key, value: nil, headers: []) }
        guard case .erased(let key) = try read(erasure([1])) else { Issue.record("not erased"); return }
        #expect(key == [1])
        #expect(throws: RecordFault.foreign) { try read(erasure(nil)) }
    }

    @Test func `a dead letter is read only where somebody waits for its event`() throws {
        guard case .other = try read(SampleLetter().record, of: "remint.dead-letters") else {
            Issue.record("it was read"); return
        }
        guard
            case .letter(let letter, let key) = try read(
                SampleLetter().record, of: "remint.dead-letters", awaits: "e-1")
        else {
            Issue.record("it was not read")
            return
        }
        #expect(SampleLetter.awaited("e-1").isEnded(by: letter, key: key))
        #expect(throws: RecordFault.malformed) {
            try read(SampleLetter(code: "odd").record, of: "remint.dead-letters", awaits: "e-1")
        }
    }

    @Test func `a record of the control topic that contradicts its key is refused`() throws {
        func word(_ key: String, _ value: String) throws -> FollowedRecord {
            try read(
                RecordBody(key: Array(key.utf8), value: Array(value.utf8), headers: []), of: "remint.control")
        }
        guard case .app(let record) = try word("shop", #"{"group":"remint","state":"active"}"#) else {
            Issue.record("not read")
            return
        }
        #expect(record.app == "shop")
        #expect(throws: RecordFault.mismatched) {
            try word("shop", #"{"group":"remint","app":"other","state":"active"}"#)
        }
        guard case .other = try word("shop", #"{"group":"another","state":"active"}"#) else {
            Issue.record("another fleet's word was taken")
            return
        }
    }

    @Test func `a pause of the live lane is followed, and that of another lane is not`() throws {
        func word(_ lane: String, _ state: String) throws -> FollowedRecord {
            try read(
                RecordBody(
                    key: Array("lane/\(lane)/remint".utf8),
                    value: Array(
                        #"{"group":"remint","lane":"\#(lane)","state":"\#(state)","since":"2026-11-24T03:00:00Z"}"#.utf8
                    ),
                    headers: []), of: "remint.control")
        }
        guard case .lane(let pause?) = try word("live", "paused") else { Issue.record("not read"); return }
        #expect(pause.lane == .live)
        guard case .lane(nil) = try word("live", "active") else { Issue.record("not resumed"); return }
        guard case .other = try word("bulk", "paused") else { Issue.record("another lane's"); return }
    }
}

/// The ids of a gateway's events cannot be guessed by whoever sees others of them.
@Suite struct EventIDTests {
    private struct Fixed: RandomNumberGenerator {
        var value: UInt64
        mutating func next() -> UInt64 { value }
    }

    @Test func `the same report of the same device has the same id in one process`() {
        let ids = EventIDs()
        func id(_ report: String = "r", key: [UInt8] = [1], device: String? = "d") -> String {
            ids.id(of: Array(report.utf8), subjectKey: key, device: device)
        }
        #expect(id() == id())
        #expect(Set([id(), id("s"), id(key: [2]), id(device: "e"), id(device: nil)]).count == 5)
    }

    @Test func `another process gives the same report another id`() {
        let (one, two) = (EventIDs(random: Fixed(value: 1)), EventIDs(random: Fixed(value: 2)))
        #expect(one.id(of: [1], subjectKey: [1], device: nil) != two.id(of: [1], subjectKey: [1], device: nil))
        #expect(
            EventIDs().id(of: [1], subjectKey: [1], device: nil) != EventIDs().id(of: [1], subjectKey: [1], device: nil)
        )
    }

    @Test func `a fresh id is a random UUID`() {
        let ids = EventIDs()
        let some = (0..<100).map { _ in ids.fresh() }
        #expect(Set(some).count == 100)
        #expect(
            some.allSatisfy {
                $0.wholeMatch(of: /pickup-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil
            })
    }
}
