import AdapterKit
import Testing

@testable import Pipeline

@Suite("Look-ups: a vendor that refuses every request for its rate") struct ThrottlingTests {
    @Test func `refusals are reported once after five seconds, and their end with its length`() {
        var throttling = Throttling()
        for second: Int64 in [100, 101, 104] { #expect(!throttling.refused(at: UnixTime(seconds: second))) }
        #expect(!throttling.isLong)
        #expect(throttling.refused(at: UnixTime(seconds: 105)))
        #expect(throttling.isLong)
        #expect(!throttling.refused(at: UnixTime(seconds: 106)))
        #expect(throttling.ended(at: UnixTime(seconds: 130)) == 30_000_000)
        #expect(!throttling.isLong)
    }

    @Test func `a refusal between answers is no trouble`() {
        var throttling = Throttling()
        for second in stride(from: Int64(0), to: 60, by: 4) {
            #expect(!throttling.refused(at: UnixTime(seconds: second)))
            #expect(throttling.ended(at: UnixTime(seconds: second + 1)) == nil)
        }
    }
}
