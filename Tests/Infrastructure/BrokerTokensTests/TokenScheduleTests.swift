import BrokerTokens
import Formats
import Testing

@Suite struct TokenScheduleTests {
    private let start = UnixTime(seconds: 1_000_000)

    private func seconds(_ action: TokenSchedule.Action, from moment: UnixTime) -> Double? {
        guard case .wait(let until) = action else { return nil }
        return Double(until.microseconds(since: moment)) / 1e6
    }

    @Test func `a token is fetched at once if there is none`() {
        #expect(TokenSchedule().next(at: start) == .fetch)
        #expect(!TokenSchedule().hasToken(at: start))
    }

    @Test(arguments: [(0.0, 720.0), (0.5, 675.0), (1.0, 630.0), (7.0, 630.0), (-1.0, 720.0)])
    func `a token is replaced after 70 to 80 percent of its life`(draw: Double, pause: Double) {
        var schedule = TokenSchedule()
        schedule.obtained(expiry: start.advanced(bySeconds: 900), at: start, draw: draw)
        #expect(seconds(schedule.next(at: start), from: start) == pause)
        #expect(schedule.next(at: start.advanced(bySeconds: Int64(pause))) == .fetch)
        #expect(schedule.hasToken(at: start.advanced(bySeconds: 899)))
        #expect(!schedule.hasToken(at: start.advanced(bySeconds: 900)))
    }

    @Test(arguments: [-5, 0, 1]) func `a token that hardly lives makes no storm`(life: Int64) {
        var schedule = TokenSchedule()
        schedule.obtained(expiry: start.advanced(bySeconds: life), at: start, draw: 0)
        #expect(seconds(schedule.next(at: start), from: start) == 1)
    }

    @Test func `failures are tried again ever later, up to half a minute, and a success ends that`() {
        var schedule = TokenSchedule()
        var pauses: [Double] = []
        for _ in 0..<70 {
            schedule.failed(at: start, draw: 0)
            pauses.append(seconds(schedule.next(at: start), from: start) ?? 0)
        }
        #expect(pauses.prefix(7) == [1, 2, 4, 8, 16, 30, 30])
        #expect(pauses.allSatisfy { $0 <= 30 })
        schedule.obtained(expiry: start.advanced(bySeconds: 100), at: start, draw: 0)
        schedule.failed(at: start, draw: 1)
        #expect(seconds(schedule.next(at: start), from: start) == 0.75)
        #expect(schedule.hasToken(at: start), "a failure takes no token away")
    }

    @Test func `a change of the source is followed at once`() {
        var schedule = TokenSchedule()
        schedule.obtained(expiry: start.advanced(bySeconds: 900), at: start, draw: 0)
        schedule.changed()
        #expect(schedule.next(at: start) == .fetch)
    }

    @Test func `a predecessor's token is kept in use, unless it has expired`() {
        let held = TokenSchedule(holding: start.advanced(bySeconds: 100), at: start, draw: 0)
        #expect(seconds(held.next(at: start), from: start) == 80)
        #expect(TokenSchedule(holding: start, at: start, draw: 0).next(at: start) == .fetch)
    }

    @Test func `a life beyond all measure is no trap`() {
        var schedule = TokenSchedule()
        schedule.obtained(expiry: UnixTime(microseconds: .max), at: UnixTime(microseconds: .min), draw: 0)
        #expect(schedule.next(at: start) == .fetch)
    }
}
