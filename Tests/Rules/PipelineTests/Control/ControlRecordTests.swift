import AdapterKit
import Pipeline
import Testing

@testable import Pipeline

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
        app: "shop", reach: .refusingUsers, since: UnixTime(seconds: 1_763_640_000), by: "w-1", users: 3,
        keyVersion: "v1")

    private static let now = UnixTime(seconds: 1_795_500_000)

    @Test(arguments: [suspension, pause, hour, few, nil])
    func `control records are read as they were written`(_ suspension: Suspension?) throws {
        let record = ControlRecord(group: "remint", app: "shop", suspension: suspension)
        #expect(try ControlRecord(key: record.key, value: record.value, group: "remint", at: Self.now) == record)
        #expect(
            try ControlRecord(key: record.key, value: record.value, group: "another", at: Self.now) == nil,
            "another fleet's")
    }

    @Test func `a suspension of refusing users has a state of its own, which an earlier release does not know`() throws
    {
        let record = ControlRecord(group: "remint", app: "shop", suspension: Self.few)
        let state = try JSONDocument(parsing: record.value).root["state"]?.string
        #expect(state == "suspended_users")
        #expect(Suspension.Cause(rawValue: state ?? "") == nil)
    }

    @Test func `a null value resumes an app's events`() throws {
        let record = try #require(
            try ControlRecord(key: Array("shop".utf8), value: nil, group: "remint", at: Self.now))
        #expect(record.app == "shop" && record.suspension == nil)
    }

    @Test(arguments: [
        "", "null", "7", "{}", #"{"group":"remint"}"#, #"{"group":"remint","state":"odd"}"#,
        #"{"group":"remint","state":"suspended"}"#, #"{"group":"remint","state":"paused","since":"yesterday"}"#,
        #"{"group":"remint","state":"paused","since":"2026-11-24T03:00:00Z","until":"later"}"#,
        #"{"group":"remint","lane":"live","state":"paused","since":"2026-11-24T03:00:00Z"}"#,
        #"{"group":"remint","lane":"live","state":"active"}"#,
        #"{"group":"remint","app":"other","state":"active"}"#, #"{"group":"remint","app":7,"state":"active"}"#,
        #"{"group":"remint","state":"paused","since":"2099-01-01T00:00:00Z"}"#,
        #"{"group":"remint","state":"paused","since":"2026-11-24T03:00:00Z","until":"2026-11-24T02:59:59Z"}"#,
        #"{"group":"remint","state":"suspended","since":"2026-11-24T03:00:00Z","users":-1}"#,
        #"{"group":"remint","state":"suspended","since":"2026-11-24T03:00:00Z","users":1e30}"#,
        #"{"state":"active"}"#, #"{"group":7,"state":"active"}"#,
    ])
    func `a record that no worker writes is refused`(_ value: String) {
        #expect(throws: RecordFault.self) {
            try ControlRecord(key: Array("shop".utf8), value: Array(value.utf8), group: "remint", at: Self.now)
        }
    }

    @Test func `a key that names no app is refused`() {
        for key in [nil, [], [0xFF]] as [[UInt8]?] {
            #expect(throws: RecordFault.foreign) {
                try ControlRecord(key: key, value: nil, group: "remint", at: Self.now)
            }
        }
    }
}

@Suite("States that a control topic lost")
struct HeldWordsTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    private func app(_ name: String, suspended: Bool = true, until: UnixTime? = nil) -> ControlWord {
        let suspension = Suspension(app: name, since: Self.now, users: 10, keyVersion: "k1", until: until)
        return .app(ControlRecord(group: "g", app: name, suspension: suspended ? suspension : nil))
    }

    @Test func `a new topic gets the states that hold and that it does not mention`() {
        var held = HeldWords()
        for word in [
            app("a"), app("b"), app("c"), app("c", suspended: false),
            app("d", until: Self.now.advanced(bySeconds: 60)), app("e", until: Self.now),
        ] { held.note(word) }
        let missing = held.missing(in: [app("b", suspended: false)], at: Self.now)
        #expect(missing.map(\.app) == ["a", "d"])
        #expect(held.missing(in: missing + [app("b")], at: Self.now).isEmpty)
    }

    @Test func `the number of kept states is bounded, and a kept one still changes`() {
        var held = HeldWords()
        for number in 0..<HeldWords.most + 10 { held.note(app("x\(number)")) }
        #expect(held.missing(in: [], at: Self.now).count == HeldWords.most)
        held.note(app("x0", suspended: false))
        held.note(app("late"))
        let apps = Set(held.missing(in: [], at: Self.now).compactMap(\.app))
        #expect(apps.count == HeldWords.most && apps.contains("late") && !apps.contains("x0"))
    }
}
