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

    @Test func `a cached answer's age is added to its Date`() {
        #expect(date(["Date": "Fri, 15 Jan 2027 08:00:00 GMT", "Age": "90"]) == 1_800_000_090)
        for age in ["-5", "x", "9e9", ""] {
            #expect(date(["Date": "Fri, 15 Jan 2027 08:00:00 GMT", "Age": age]) == 1_800_000_000, "\(age)")
        }
    }

    @Test(arguments: [nil, "", "yesterday", "1800000000"])
    func `an answer without a Date that can be read has no time`(_ text: String?) {
        var headers = HTTPHeaders()
        if let text { headers.add(name: "Date", value: text) }
        #expect(date(headers) == nil)
    }
}
