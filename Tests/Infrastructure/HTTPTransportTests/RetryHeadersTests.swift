import AdapterKit
import NIOHTTP1
import Testing

@testable import HTTPTransport

@Suite struct RetryHeadersTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT, the moment of RFC 9110's examples.
    private static let example = UnixTime(seconds: 784_111_777)

    @Test(
        arguments: [
            ("0", 0), ("7", 7_000_000), (" 7 ", 7_000_000), ("1.5", 1_500_000), ("3600", 3_600_000_000),
            ("3601", 3_600_000_000), ("99999999999999999999999999", 3_600_000_000), ("-5", 0),
            ("-99999999999999999999", 0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 10_000_000), ("Sun Nov  6 08:49:37 1994", 10_000_000),
            ("Sun, 06 Nov 1994 08:49:27 GMT", 0), ("Sat, 05 Nov 1994 08:49:37 GMT", 0),
            ("Sun, 06 Nov 2094 08:49:37 GMT", 3_600_000_000), ("Sunday, 06-Nov-94 08:49:37 GMT", 10_000_000),
            ("", nil), ("soon", nil), ("1e3", nil), ("0x10", nil), ("7s", nil), ("nan", nil), ("--7", nil),
            ("Sun, 06 Nov 1994 08:49:37", nil), ("Sun, 31 Feb 1994 08:49:37 GMT", nil),
            ("Sun, 06 Brumaire 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 25:49:37 GMT", nil),
            ("Sun, 06 Nov 99999999 08:49:37 GMT", nil), ("1994-11-06T08:49:37Z", nil),
        ] as [(String, Int64?)])
    func `the Retry-After header is read, up to an hour`(value: String, wait: Int64?) {
        let headers = RetryHeaders(["retry-after": value], now: Self.example.advanced(bySeconds: -10))
        #expect(headers.retryAfter == wait)
        #expect(headers.exhaustedFor == nil)
    }

    @Test(
        arguments: [
            ("0", "7", 7_000_000), ("0", "0.25", 250_000), ("0", "784111780", 3_600_000_000), ("-1", "7", 7_000_000),
            ("0", "-7", 0), ("0", "3601", 3_600_000_000), ("1", "7", nil), ("0", "", nil), ("0", "later", nil),
            ("", "7", nil),
            ("none", "7", nil),
        ] as [(String, String, Int64?)])
    func `the reset header counts if nothing remains of the limit`(remaining: String, reset: String, wait: Int64?) {
        let headers: HTTPHeaders = ["X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": reset]
        #expect(RetryHeaders(headers, now: Self.example).exhaustedFor == wait)
    }

    @Test(
        arguments: [
            ("1800000030", 30_000_000), ("1800000030.5", 30_500_000), ("1799999990", 0), ("1800007200", 3_600_000_000),
            ("99999999999999999999", 3_600_000_000),
        ] as [(String, Int64)])
    func `a large number in the reset header is read as a moment`(reset: String, wait: Int64) {
        let headers: HTTPHeaders = ["x-ratelimit-remaining": "0", "x-ratelimit-reset": reset]
        #expect(RetryHeaders(headers, now: UnixTime(seconds: 1_800_000_000)).exhaustedFor == wait)
    }

    @Test func `headers without a wait give no wait`() {
        let headers = RetryHeaders(["x-ratelimit-remaining": "0", "content-type": "text/plain"], now: Self.example)
        #expect(headers.retryAfter == nil && headers.exhaustedFor == nil)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Sun Nov 16 08:49:37 1994", 784_975_777), ("Friday, 15-Jan-27 08:00:00 GMT", 1_800_000_000),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Fri, 15 Jan 2027 08:00:00 GMT", 1_800_000_000), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ] as [(String, Int64)])
    func `every form of an HTTP date is read`(text: String, seconds: Int64) {
        #expect(HTTPDate.parse(text, now: UnixTime(seconds: 1_800_000_000)) == UnixTime(seconds: seconds))
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Fri, 15 Jan 2027 08:00:00 GMT", 1_800_000_000), ("Wed, 29 Feb 2040 23:59:59 GMT", 2_214_172_799),
        ] as [(String, Int64)])
    func `a date is written in the form that senders use`(text: String, seconds: Int64) {
        let moment = UnixTime(microseconds: seconds * 1_000_000 + 999_999)
        #expect(HTTPDate.text(moment) == text)
        #expect(HTTPDate.parse(text, now: moment) == UnixTime(seconds: seconds))
    }
}
