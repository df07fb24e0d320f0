import AdapterKit
import Testing

@testable import Pipeline

@Suite("Look-ups: a vendor that refuses every request for its rate") struct ThrottlingTests {
    @Test func `refusals are reported once after five seconds, and their end with its length`() {
        var throttling = Throttling()
        let reported = [100, 101, 104, 105, 106].map { (second: Int64) in
            throttling.refused(at: UnixTime(seconds: second))
        }
        #expect(reported == [false, false, false, true, false])
        #expect(throttling.isLong)
        let length = throttling.ended(at: UnixTime(seconds: 130))
        #expect(length == 30_000_000)
        #expect(!throttling.isLong)
    }

    @Test func `a refusal between answers is no trouble`() {
        var throttling = Throttling()
        for second in stride(from: Int64(0), to: 60, by: 4) {
            let isReported = throttling.refused(at: UnixTime(seconds: second))
            let length = throttling.ended(at: UnixTime(seconds: second + 1))
            #expect(!isReported && length == nil)
        }
    }
}
