import AdapterKit
import Testing

@testable import Pickup

/// Topics that take no events, as the brokers' answers show them.
@Suite struct EventRefusalsTests {
    private static let start = UnixTime(seconds: 1_800_000_000)

    private static func after(_ seconds: Int64) -> UnixTime { start.advanced(bySeconds: seconds) }

    private static func refuse(_ refusals: inout EventRefusals, _ topic: String = "in", at second: Int64) {
        refusals.refused(topic, code: "MSG_SIZE_TOO_LARGE", isForLength: true, length: 80, at: after(second))
    }

    @Test func `a topic is out once a refusal comes ten seconds after another one, until it accepts an event`() {
        var refusals = EventRefusals()
        Self.refuse(&refusals, at: 0)
        Self.refuse(&refusals, at: 9)
        #expect(refusals.outages(at: Self.after(60)).isEmpty, "it may have been a moment")
        Self.refuse(&refusals, at: 10)
        #expect(
            refusals.outages(at: Self.after(10)) == [.init(topic: "in", code: "MSG_SIZE_TOO_LARGE", since: Self.start)])
        refusals.accepted("other")
        #expect(refusals.outages(at: Self.after(10)).count == 1)
        refusals.accepted("in")
        #expect(refusals.outages(at: Self.after(10)).isEmpty)
    }

    @Test func `an event that is taken in between restarts the time`() {
        var refusals = EventRefusals()
        Self.refuse(&refusals, at: 0)
        refusals.accepted("in")
        Self.refuse(&refusals, at: 10)
        #expect(refusals.outages(at: Self.after(10)).isEmpty)
    }

    @Test func `a topic that nobody asks is on trial after a minute, and out again with the next refusal`() {
        var refusals = EventRefusals()
        for second: Int64 in [0, 10] { Self.refuse(&refusals, at: second) }
        #expect(refusals.outages(at: Self.after(69)).map(\.isOnTrial) == [false])
        #expect(refusals.outages(at: Self.after(70)).map(\.isOnTrial) == [true])
        Self.refuse(&refusals, at: 3000)
        let outages = refusals.outages(at: Self.after(3000))
        #expect(outages.map(\.isOnTrial) == [false] && outages.map(\.since) == [Self.start], "one outage")
    }

    @Test func `two refusals that are far apart are no outage`() {
        var refusals = EventRefusals()
        Self.refuse(&refusals, at: 0)
        Self.refuse(&refusals, at: 600)
        #expect(refusals.outages(at: Self.after(600)).isEmpty)
    }

    @Test func `a long report that is refused for its length puts no topic out`() {
        var refusals = EventRefusals()
        for second: Int64 in 0..<60 {
            refusals.refused(
                "in", code: "MSG_SIZE_TOO_LARGE", isForLength: true, length: 60_000, at: Self.after(second))
        }
        #expect(refusals.outages(at: Self.after(60)).isEmpty)
    }

    @Test func `a missing topic is out at once, and no more once it is there again`() {
        var refusals = EventRefusals()
        for second: Int64 in [0, 10] { Self.refuse(&refusals, at: second) }
        let isFirstBack = refusals.described("in", problem: nil, at: Self.after(11))
        #expect(!isFirstBack && refusals.outages(at: Self.after(11)).count == 1, "its description shows no grants")
        _ = refusals.described("in", problem: "UNKNOWN_TOPIC_OR_PART", at: Self.after(12))
        _ = refusals.described("in", problem: "UNKNOWN_TOPIC_OR_PART", at: Self.after(500))
        #expect(
            refusals.outages(at: Self.after(500)) == [
                .init(topic: "in", code: "UNKNOWN_TOPIC_OR_PART", since: Self.after(12))
            ])
        let isBack = refusals.described("in", problem: nil, at: Self.after(501))
        #expect(isBack && refusals.outages(at: Self.after(501)).isEmpty)
    }
}
