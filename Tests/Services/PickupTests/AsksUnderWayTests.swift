import AdapterKit
import Testing

@testable import Pickup

/// One ask of a subject and device is on its way at a time.
@Suite struct AsksUnderWayTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    @Test func `a second ask joins the first until that is answered or given up`() {
        var asks = AsksUnderWay()
        let ask = AsksUnderWay.Ask(event: "e-1", after: 5, sentAt: Self.now)
        asks.sent(ask, as: [1])
        #expect(asks.current([1], version: 5, at: Self.now.advanced(bySeconds: 3)) == ask)
        #expect(asks.current([2], version: 5, at: Self.now) == nil)
        #expect(asks.current([1], version: 6, at: Self.now) == nil, "it is answered")
        #expect(asks.current([1], version: 5, at: Self.now.advanced(bySeconds: 16)) == nil, "it is lost")
        #expect(asks.current([1], version: 5, at: Self.now.advanced(bySeconds: -5)) == nil, "a clock was set back")
        #expect(
            asks.current([1], version: 0, unseen: Self.now.microseconds, at: Self.now) == nil,
            "its answer may have been forgotten")
        asks.ended([1], event: "e-0")
        #expect(asks.current([1], version: 5, at: Self.now) == ask, "another event finished")
        asks.ended([1], event: "e-1")
        #expect(asks.current([1], version: 5, at: Self.now) == nil)
    }

    @Test func `the same report whose answer was lost is answered by the same token`() {
        var asks = AsksUnderWay()
        asks.sent(AsksUnderWay.Ask(event: "e-1", after: 5, sentAt: Self.now), as: [1])
        #expect(asks.answered([1], event: "e-1", version: 6, at: Self.now.advanced(bySeconds: 20)))
        #expect(!asks.answered([1], event: "e-2", version: 6, at: Self.now), "another report is another failure")
        #expect(!asks.answered([1], event: "e-1", version: 5, at: Self.now), "it is not answered yet")
    }

    @Test func `memory is bounded by bytes, whatever the length of names`() {
        for length in [4, 1200] {
            var asks = AsksUnderWay(budget: 10_000)
            for number in 0..<1000 {
                let name = [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 0, count: length)
                asks.sent(AsksUnderWay.Ask(event: "e", after: 0, sentAt: Self.now), as: name)
                #expect(asks.bytes <= 10_000)
                #expect(asks.current(name, version: 0, at: Self.now) != nil)
            }
            #expect(asks.count == 10_000 / (length + 2 + 260))
            asks.sent(AsksUnderWay.Ask(event: "e", after: 0, sentAt: Self.now), as: [1])
            asks.ended([1], event: "e")
            #expect(asks.current([1], version: 0, at: Self.now) == nil)
        }
    }

    @Test func `asks are forgotten after a minute, whether others are sent or not`() {
        var asks = AsksUnderWay()
        for number in 0..<100 {
            asks.sent(
                AsksUnderWay.Ask(event: "e", after: 0, sentAt: Self.now.advanced(bySeconds: Int64(number))),
                as: [UInt8(number)])
        }
        #expect(asks.count == 60)
        asks.sweep(at: Self.now.advanced(bySeconds: 99 + 59))
        #expect(asks.count == 1)
        asks.sweep(at: Self.now.advanced(bySeconds: 99 + 60))
        #expect(asks.count == 0 && asks.bytes == 0)
    }
}
