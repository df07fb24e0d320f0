import AdapterKit
import Testing

@testable import Pipeline

@Suite("Records of the control topic with counts of refusals")
struct RefusalRecordTests {
    private static let start = UnixTime(seconds: 1_763_640_000)
    private static let rules = AdmissionRules(worker: "w-1")
    private static func counts(_ refusing: Int, of minted: Int, key: String = "v1", at time: UnixTime = start)
        -> RefusalCounts
    {
        RefusalCounts(keyVersion: key, refusing: refusing, minted: minted, at: time)
    }
    private static func at(_ seconds: Int64) -> UnixTime { start.advanced(bySeconds: seconds) }

    @Test(arguments: [counts(3, of: 30), nil])
    func `a record is read as it was written, and by nobody else's fleet`(_ counts: RefusalCounts?) throws {
        let record = RefusalRecord(group: "remint", app: "my shop", worker: "w/1", counts: counts)
        #expect(try RefusalRecord(key: record.key, value: record.value, group: "remint", at: Self.start) == record)
        #expect(try RefusalRecord(key: record.key, value: record.value, group: "another", at: Self.start) == nil)
        #expect(!LaneRecord.isKey(record.key))
    }

    @Test(arguments: [
        "", "null", "7", "{}", #"{"group":"remint","app":"shop","worker":"w-1"}"#,
        #"{"group":"remint","app":"shop","worker":"w-1","key_version":"v1","refusing":31,"minted":30,"at":"2026-11-24T03:00:00Z"}"#,
        #"{"group":"remint","app":"shop","worker":"w-1","key_version":"v1","refusing":-1,"minted":30,"at":"2026-11-24T03:00:00Z"}"#,
        #"{"group":"remint","app":"shop","worker":"w-1","key_version":"v1","refusing":1,"minted":9223372036854775807,"at":"2026-11-24T03:00:00Z"}"#,
        #"{"group":"remint","app":"shop","worker":"w-1","key_version":"v1","refusing":1,"minted":30,"at":"later"}"#,
        #"{"group":"remint","app":"shop","worker":"w-2","key_version":"v1","refusing":1,"minted":30,"at":"2026-11-24T03:00:00Z"}"#,
    ])
    func `an invalid record of refusals changes nothing`(_ value: String) {
        let key = Array("refusals/remint/shop/w-1".utf8)
        let now = UnixTime(seconds: 1_795_500_000)
        #expect(throws: RecordFault.self) {
            try RefusalRecord(key: key, value: Array(value.utf8), group: "remint", at: now)
        }
    }

    // MARK: The fleet's counts

    /// A worker that wrote its counts at the start and heard them back.
    private static func asking(_ own: RefusalCounts) -> FleetRefusals {
        var fleet = FleetRefusals()
        _ = fleet.due(own, hasRefusals: true, rules, at: start)
        fleet.heard(own, from: "w-1", rules, at: at(1))
        return fleet
    }

    @Test func `the fleet's counts are known once the others had the time to answer`() {
        let own = Self.counts(3, of: 30)
        var fleet = Self.asking(own)
        #expect(fleet.total(own, isFollowed: true, Self.rules, at: Self.at(1)) == .unknown)
        fleet.heard(Self.counts(4, of: 50), from: "w-2", Self.rules, at: Self.at(2))
        fleet.heard(Self.counts(9, of: 90, key: "v2"), from: "w-3", Self.rules, at: Self.at(2))
        #expect(
            fleet.total(own, isFollowed: true, Self.rules, at: Self.at(10))
                == .fleet(Self.counts(7, of: 80), workers: 2))
        #expect(fleet.total(own, isFollowed: false, Self.rules, at: Self.at(10)) == .own(own))
    }

    @Test func `a worker that does not come back counts for twenty seconds, and its record is taken back`() {
        let own = Self.counts(3, of: 30)
        var fleet = Self.asking(own)
        fleet.heard(Self.counts(4, of: 50), from: "w-2", Self.rules, at: Self.at(2))
        let late = Self.at(22)
        #expect(fleet.total(own, isFollowed: true, Self.rules, at: late) == .fleet(own, workers: 1))
        let early = fleet.due(own, hasRefusals: true, Self.rules, at: Self.at(600)).map(\.worker)
        #expect(early == ["w-1"])
        let due = fleet.due(own, hasRefusals: true, Self.rules, at: Self.at(700))
        #expect(due.map(\.worker) == ["w-2", "w-1"] && due.first?.counts == nil)
    }

    @Test func `old counts that a topic kept are not believed, and are taken back`() {
        let own = Self.counts(3, of: 30)
        var fleet = Self.asking(own)
        fleet.heard(Self.counts(400, of: 400, at: Self.at(-61)), from: "w-2", Self.rules, at: Self.at(2))
        fleet.heard(Self.counts(400, of: 400, at: Self.at(-5000)), from: "w-3", Self.rules, at: Self.at(2))
        #expect(fleet.total(own, isFollowed: true, Self.rules, at: Self.at(12)) == .fleet(own, workers: 1))
        let due = fleet.due(own, hasRefusals: true, Self.rules, at: Self.at(12))
        #expect(due.contains { $0.worker == "w-3" && $0.counts == nil })
    }

    @Test func `counts are written every five seconds, by asked workers too, and withdrawn in the end`() {
        var fleet = FleetRefusals()
        let none = Self.counts(0, of: 50)
        func due(_ seconds: Int64) -> [RefusalCounts?] {
            fleet.due(none, hasRefusals: false, Self.rules, at: Self.at(seconds)).map(\.counts)
        }
        #expect(due(0).isEmpty)
        fleet.heard(Self.counts(3, of: 30), from: "w-2", Self.rules, at: Self.at(1))
        #expect(due(1) == [none] && due(3).isEmpty && due(6) == [none])
        #expect(due(21) == [nil] && due(22).isEmpty)
    }

    @Test func `a worker that does not hear its own counts cannot know the others'`() {
        let own = Self.counts(3, of: 30)
        var fleet = FleetRefusals()
        _ = fleet.due(own, hasRefusals: true, Self.rules, at: Self.start)
        #expect(fleet.total(own, isFollowed: true, Self.rules, at: Self.at(29)) == .unknown)
        #expect(fleet.total(own, isFollowed: true, Self.rules, at: Self.at(30)) == .own(own))
    }
}
