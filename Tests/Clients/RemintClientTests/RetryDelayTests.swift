import Foundation
import RemintClient
import Testing

/// The pause between two tries.
@Suite struct RetryDelayTests {
    @Test(arguments: [
        ("0", 0.0), ("7", 7), (" 120 ", 120), ("99999", 3600), ("99999999999999999999", 3600),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sunday, 06-Nov-94 08:49:47 GMT", 10), ("Sun Nov  6 08:49:47 1994", 10),
        ("Mon, 07 Nov 1994 08:49:37 GMT", 3600),
    ])
    func `Retry-After is a number or a date by the server's clock`(_ field: String, _ seconds: Double) {
        let served = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(RetryDelay.retryAfter(field, served: served, now: Date(timeIntervalSince1970: 0)) == seconds)
    }

    @Test func `a date without the server's clock counts by the device's clock`() throws {
        let now = Date(timeIntervalSince1970: 784_111_777)
        #expect(RetryDelay.retryAfter("Sun, 06 Nov 1994 08:49:40 GMT", served: nil, now: now) == 3)
        #expect(RetryDelay.retryAfter("Sun, 06 Nov 1994 08:49:40 GMT", served: "yesterday", now: now) == 3)
    }

    @Test(arguments: [nil, "", "-1", "1.5", "soon", "Sun, 06 Nov 1994 08:49:36 GMT"])
    func `a Retry-After that is no time to come is none`(_ field: String?) {
        let served = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(RetryDelay.retryAfter(field, served: served, now: Date(timeIntervalSince1970: 0)) == nil)
    }

    @Test func `a pause without Retry-After has full jitter and doubles up to half a minute`() {
        let caps = (1...12).map { RetryDelay.seconds(retryAfter: nil, tries: $0, random: 1) }
        #expect(caps == [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30])
        #expect(RetryDelay.seconds(retryAfter: nil, tries: 5, random: 0) == 0)
        #expect(RetryDelay.seconds(retryAfter: nil, tries: 5, random: 0.25) == 2)
    }

    @Test(arguments: 1...60)
    func `a pause with Retry-After is never shorter and at most half as long again`(_ tries: Int) {
        #expect(RetryDelay.seconds(retryAfter: 10, tries: tries, random: 0) == 10)
        #expect(RetryDelay.seconds(retryAfter: 10, tries: tries, random: 1) <= 16)
        #expect(RetryDelay.seconds(retryAfter: 0, tries: tries, random: 1) <= 1)
    }
}
