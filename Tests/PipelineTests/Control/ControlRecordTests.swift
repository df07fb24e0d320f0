import AdapterKit
import Pipeline
import Testing

@Suite("Records of the control topic")
struct ControlRecordTests {
    private static let suspension = Suspension(
        app: "shop", since: UnixTime(seconds: 1_763_640_000), by: "w-1", why: "12 of 100 \"users\"", users: 12,
        keyVersion: "2026-11")
    private static let pause = Suspension(
        app: "shop", cause: .paused, since: UnixTime(seconds: 1_763_640_000), by: "ann", why: "a migration")
    private static let hour = Suspension(
        app: "shop", cause: .paused, since: UnixTime(seconds: 1_763_640_000), by: "ann",
        until: UnixTime(seconds: 1_763_643_600))

    private static let few = Suspension(
        app: "shop", reach: .refusingUsers, since: UnixTime(seconds: 1_763_640_000), by: "w-1", users: 3, keyVersion: "v1")

    @Test(arguments: [suspension, pause, hour, few, nil])
    func `are read as they were written`(_ suspension: Suspension?) {
        let record = ControlRecord(group: "remint", app: "shop", suspension: suspension)
        #expect(ControlRecord(key: record.key, value: record.value, group: "remint") == record)
        #expect(ControlRecord(key: record.key, value: record.value, group: "another") == nil, "another fleet's")
    }

    @Test func `a suspension of refusing users has a state of its own, which an earlier release does not know`() throws {
        let record = ControlRecord(group: "remint", app: "shop", suspension: Self.few)
        let state = try JSONDocument(parsing: record.value).root["state"]?.string
        #expect(state == "suspended_users")
        #expect(Suspension.Cause(rawValue: state ?? "") == nil)
    }

    @Test func `a null value lets an app's events go on`() throws {
        let record = try #require(ControlRecord(key: Array("shop".utf8), value: nil, group: "remint"))
        #expect(record.app == "shop" && record.suspension == nil)
    }

    @Test(arguments: [
        "", "null", "7", "{}", #"{"group":"remint"}"#, #"{"group":"remint","state":"odd"}"#,
        #"{"group":"remint","state":"suspended"}"#, #"{"group":"remint","state":"paused","since":"yesterday"}"#,
        #"{"group":"remint","state":"paused","since":"2026-11-24T03:00:00Z","until":"later"}"#,
        #"{"group":"remint","lane":"live","state":"paused","since":"2026-11-24T03:00:00Z"}"#,
        #"{"state":"active"}"#, #"{"group":7,"state":"active"}"#,
    ])
    func `anything else changes nothing`(_ value: String) {
        #expect(ControlRecord(key: Array("shop".utf8), value: Array(value.utf8), group: "remint") == nil)
    }

    @Test func `a key that names no app changes nothing`() {
        for key in [nil, [], [0xFF]] as [[UInt8]?] {
            #expect(ControlRecord(key: key, value: nil, group: "remint") == nil)
        }
    }
}
