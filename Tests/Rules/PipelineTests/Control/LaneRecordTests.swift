import AdapterKit
import Pipeline
import Testing

@Suite("Records of the control topic about lanes")
struct LaneRecordTests {
    private static let since = UnixTime(seconds: 1_763_640_000)
    private static let pause = LanePause(lane: .bulk, since: since, by: "ann", why: "a \"migration\"")
    private static let hour = LanePause(lane: .bulk, since: since, until: since.advanced(bySeconds: 3600))
    private static let key = Array("lane/bulk/remint".utf8)

    private static let now = UnixTime(seconds: 1_795_500_000)

    @Test(arguments: [pause, hour, nil])
    func `lane records are read as they were written`(_ pause: LanePause?) throws {
        let record = LaneRecord(group: "remint", lane: .bulk, pause: pause)
        #expect(record.key == Self.key)
        #expect(try LaneRecord(key: record.key, value: record.value, group: "remint", at: Self.now) == record)
        #expect(
            try LaneRecord(key: record.key, value: record.value, group: "another", at: Self.now) == nil,
            "another fleet's")
        #expect(LaneRecord.isKey(record.key))
    }

    @Test func `a null value resumes a lane`() throws {
        #expect(
            try LaneRecord(key: Self.key, value: nil, group: "remint", at: Self.now)
                == LaneRecord(group: "remint", lane: .bulk, pause: nil))
    }

    @Test(arguments: [
        "", "null", "7", "{}", #"{"group":"remint"}"#, #"{"group":"remint","state":"odd"}"#,
        #"{"group":"remint","lane":"bulk","state":"paused"}"#, #"{"group":"remint","state":"active"}"#,
        #"{"group":"remint","lane":"live","state":"active"}"#,
        #"{"group":"remint","lane":"bulk","state":"paused","since":"2099-01-01T00:00:00Z"}"#,
        #"{"group":"remint","lane":"bulk","state":"suspended","since":"2026-11-24T03:00:00Z"}"#,
        #"{"group":"remint","lane":"bulk","state":"paused","since":"2026-11-24T03:00:00Z","until":7}"#,
        #"{"group":"other","lane":"bulk","state":"active"}"#,
    ])
    func `a record that no operator writes is refused`(_ value: String) {
        #expect(throws: RecordFault.self) {
            try LaneRecord(key: Self.key, value: Array(value.utf8), group: "remint", at: Self.now)
        }
    }

    @Test(arguments: ["", "bulk", "lane/", "lane/odd/remint", "lane/bulk/", "lane/bulk/remint2", "lane/bulk/another"])
    func `a key that names no lane of the fleet changes nothing`(_ key: String) throws {
        #expect(try LaneRecord(key: Array(key.utf8), value: nil, group: "remint", at: Self.now) == nil)
        #expect(try LaneRecord(key: nil, value: nil, group: "remint", at: Self.now) == nil)
    }
}

@Suite("Lanes that rest")
struct LanePausesTests {
    private static let start = UnixTime(seconds: 1_763_640_000)

    private static func at(_ seconds: Int64) -> UnixTime { start.advanced(bySeconds: seconds) }

    @Test func `each change of a lane's pause is reported once`() {
        var pauses = LanePauses()
        let pause = LanePause(lane: .live, since: Self.start, by: "ann")
        let told = [
            pauses.hold(nil, of: .live, at: Self.start), pauses.hold(pause, of: .live, at: Self.start),
            pauses.hold(pause, of: .live, at: Self.at(1)), pauses.hold(nil, of: .live, at: Self.at(2)),
            pauses.hold(nil, of: .live, at: Self.at(3)),
        ]
        #expect(told == [nil, .paused(pause), nil, .resumed(pause), nil])
        #expect(pauses.lanes.isEmpty)
    }

    @Test func `a pause ends by itself, and may be made longer before`() {
        var pauses = LanePauses()
        let short = LanePause(lane: .bulk, since: Self.start, until: Self.at(60))
        let long = LanePause(lane: .bulk, since: Self.start, until: Self.at(120))
        let other = LanePause(lane: .retries, since: Self.start)
        _ = pauses.hold(short, of: .bulk, at: Self.start)
        _ = pauses.hold(other, of: .retries, at: Self.start)
        let longer = pauses.hold(long, of: .bulk, at: Self.at(30))
        #expect(longer == nil)
        let early = pauses.endElapsed(at: Self.at(119))
        #expect(early.isEmpty && pauses.lanes == [.bulk, .retries])
        let ended = pauses.endElapsed(at: Self.at(120))
        #expect(ended == [.elapsed(long)])
        #expect(pauses.all == [other])
    }

    @Test func `a pause that is over when it is read is ignored`() {
        var pauses = LanePauses()
        let pause = LanePause(lane: .live, since: Self.start, until: Self.at(60))
        let read = pauses.hold(pause, of: .live, at: Self.at(60))
        #expect(read == nil && pauses.all.isEmpty)
        _ = pauses.hold(LanePause(lane: .live, since: Self.start), of: .live, at: Self.at(61))
        let replaced = pauses.hold(pause, of: .live, at: Self.at(62))
        #expect(replaced == .elapsed(LanePause(lane: .live, since: Self.start)))
    }

    @Test func `a history's pauses are reported as they are at its end, and none that is over`() {
        var pauses = LanePauses()
        func record(_ lane: Lane, _ pause: LanePause?) -> LaneRecord {
            LaneRecord(group: "remint", lane: lane, pause: pause)
        }
        let first = LanePause(lane: .live, since: Self.start, by: "ann")
        let again = LanePause(lane: .live, since: Self.at(9), by: "ben")
        let short = LanePause(lane: .retries, since: Self.start, until: Self.at(60))
        let history = [
            record(.live, first), record(.live, nil), record(.live, again), record(.bulk, first), record(.bulk, nil),
            record(.retries, short),
        ]
        let told = pauses.takeHistory(history, at: Self.at(60))
        #expect(told == [.paused(again)] && pauses.all == [again])
        // Whoever reads it a second time knows all of it.
        let same = pauses.takeHistory(history, at: Self.at(61))
        #expect(same == [] && pauses.all == [again])
        let ended = pauses.takeHistory(history + [record(.live, nil)], at: Self.at(62))
        #expect(ended == [.resumed(again)] && pauses.all == [])
    }
}
