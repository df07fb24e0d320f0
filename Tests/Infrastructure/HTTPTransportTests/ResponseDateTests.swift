import AdapterKit
import NIOHTTP1
import Testing

@testable import HTTPTransport

@Suite("The time of an answer") struct ResponseDateTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    private func date(_ headers: HTTPHeaders) -> Int64? {
        TransportResponse(status: 200, headers: headers).date(now: Self.now)?.seconds
    }

    @Test func `an answer's Date is the server's time`() {
        #expect(date(["Date": "Fri, 15 Jan 2027 08:00:00 GMT"]) == 1_800_000_000)
    }

    @Test func `the age of a cached answer explains a Date in the past`() {
        let old = "Fri, 15 Jan 2027 07:50:00 GMT"
        #expect(date(["Date": old, "Age": "90"]) == 1_799_999_490)
        #expect(date(["Date": old, "Age": "600"]) == 1_800_000_000)
        for age in ["-5", "x", "9e9", "", "0"] {
            #expect(date(["Date": old, "Age": age]) == 1_799_999_400, "\(age)")
        }
    }

    @Test(arguments: ["600", "99999999999", "9223372036854775807"])
    func `the age that a proxy passes on does not move its own Date into the future`(_ age: String) {
        #expect(date(["Date": "Fri, 15 Jan 2027 08:00:00 GMT", "Age": age]) == 1_800_000_000)
        #expect(date(["Date": "Fri, 15 Jan 2027 08:10:00 GMT", "Age": age]) == 1_800_000_600)
        #expect(date(["Date": "Fri, 15 Jan 2027 07:59:59 GMT", "Age": age]) == 1_800_000_000)
    }

    @Test(arguments: [nil, "", "yesterday", "1800000000"])
    func `an answer without a Date that can be read has no time`(_ text: String?) {
        var headers = HTTPHeaders()
        if let text { headers.add(name: "Date", value: text) }
        #expect(date(headers) == nil)
    }
}
