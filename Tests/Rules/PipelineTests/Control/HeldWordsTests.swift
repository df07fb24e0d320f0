import AdapterKit
import Testing

@testable import Pipeline

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
