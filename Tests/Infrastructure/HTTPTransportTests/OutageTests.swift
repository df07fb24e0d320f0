import HTTPTransport
import Testing

@Suite("An outage") struct OutageTests {
    @Test func `a failure is reported once, and its end once with its length`() {
        var outage = Outage()
        #expect(outage.succeeded(at: .seconds(1)) == nil)
        #expect(outage.failed("no answer within 10 s", at: .seconds(10)) == .failed("no answer within 10 s"))
        #expect(outage.failed("no answer within 10 s", at: .seconds(20)) == nil)
        #expect(outage.isOngoing)
        #expect(outage.succeeded(at: .seconds(120)) == .recovered(after: .seconds(110)))
        #expect(!outage.isOngoing)
        #expect(outage.succeeded(at: .seconds(121)) == nil)
        #expect(outage.failed("no answer within 10 s", at: .seconds(130)) == .failed("no answer within 10 s"))
    }

    @Test func `a server that fails in turns fills no log`() {
        var outage = Outage()
        let reasons = (0..<100).map { "reason \($0 % 20)" }
        #expect(reasons.compactMap { outage.failed($0, at: .zero) } == reasons.prefix(4).map { .failed($0) })
    }

    @Test func `a clock that was set back makes no negative length`() {
        var outage = Outage()
        _ = outage.failed("reason", at: .seconds(10))
        #expect(outage.succeeded(at: .seconds(3)) == .recovered(after: .zero))
    }

    @Test(arguments: [(0, "0s"), (59, "59s"), (60, "1m0s"), (110, "1m50s"), (3599, "59m59s"), (7320, "2h2m")])
    func `a length is written for people`(seconds: Int, text: String) {
        #expect(Outage.text(.seconds(seconds) + .milliseconds(900)) == text)
    }
}
