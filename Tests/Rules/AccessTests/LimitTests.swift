import Access
import Testing

@Suite("Limits")
struct LimitTests {
    private let start = ContinuousClock.now
    private let user = Caller.user(issuer: "i", user: "u")

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start.advanced(by: .milliseconds(milliseconds)) }

    /// Returns the number of `count` simultaneous requests that are admitted.
    private func taken(
        _ count: Int, of limits: inout RequestLimits, _ callers: [Caller], _ subject: String? = nil, at ms: Int
    ) -> Int {
        (0..<count).count { _ in limits.ask(callers, subject: subject, at: at(ms)) == .allowed }
    }

    @Test(arguments: [
        (Caller.user(issuer: "i", user: "u"), 40, 20), (.device(thumbprint: "t"), 40, 20),
        (.backend(name: "crm"), 2000, 1000),
        (.address("192.0.2.1"), 400, 200), (.refused(address: "192.0.2.1"), 40, 20),
    ])
    func `a caller has its burst, and then its rate`(caller: Caller, burst: Int, rate: Int) {
        var limits = RequestLimits(at: start)
        #expect(taken(burst * 2, of: &limits, [caller], at: 0) == burst)
        #expect(taken(burst, of: &limits, [caller], at: 1000) == rate)
        #expect(taken(burst, of: &limits, [caller], at: 1500) == rate / 2)
        #expect(taken(burst * 2, of: &limits, [caller], at: 100_000) == burst)
    }

    @Test func `a backend has a rate of its own, where it is given one`() {
        var rules = LimitRules()
        rules.backends = ["crm": RequestRate(perSecond: 3000, burst: 6000)]
        var limits = RequestLimits(rules, at: start)
        #expect(taken(7000, of: &limits, [.backend(name: "crm")], at: 0) == 6000)
        #expect(taken(7000, of: &limits, [.backend(name: "crm")], at: 1000) == 3000)
        #expect(taken(7000, of: &limits, [.backend(name: "other")], at: 1000) == 2000)
    }

    @Test func `a subject has its limit, whichever caller asks`() {
        var limits = RequestLimits(at: start)
        let taken = (0..<30).count {
            limits.ask([.device(thumbprint: "\($0)")], subject: "app/u", at: start) == .allowed
        }
        #expect(taken == 10)
        #expect(limits.ask([user], subject: "app/u", at: start) == .later(.milliseconds(200)))
        #expect(limits.ask([user], subject: "app/v", at: start) == .allowed)
        #expect(limits.ask([user], at: start) == .allowed)
    }

    @Test func `all callers together have their limit`() {
        var limits = RequestLimits(
            changed(LimitRules()) { $0.total = RequestRate(perSecond: 10, burst: 20) }, at: start)
        let taken = (0..<100).count { limits.ask([.device(thumbprint: "\($0)")], at: start) == .allowed }
        #expect(taken == 20)
        #expect(limits.ask([user], at: start) == .later(.milliseconds(100)))
        #expect(limits.ask([user], at: at(100)) == .allowed)
    }

    @Test func `a caller's wait is over at the stated time, and no sooner`() {
        var limits = RequestLimits(at: start)
        _ = taken(40, of: &limits, [user], at: 0)
        #expect(limits.ask([user], at: at(10)) == .later(.milliseconds(40)))
        #expect(limits.ask([user], at: at(49)) == .later(.milliseconds(1)))
        #expect(limits.ask([user], at: at(50)) == .allowed)
    }

    @Test func `a quarter of the limit of all is left for known callers, whatever strangers ask`() {
        var limits = RequestLimits(
            changed(LimitRules()) { $0.total = RequestRate(perSecond: 10, burst: 20) }, at: start)
        func strangers(_ count: Int, at ms: Int) -> Int {
            (0..<count).count { number in
                limits.ask([.address("\(number)")], isStranger: true, at: at(ms)) == .allowed
            }
        }
        #expect(strangers(1000, at: 0) == 15)
        #expect((0..<100).count { _ in limits.ask([], at: at(0)) == .allowed } == 5)
        // Known callers may use all of it, and strangers then get nothing.
        #expect((0..<100).count { _ in limits.ask([], at: at(1000)) == .allowed } == 10)
        #expect(strangers(1000, at: 1000) == 0)
        // What strangers use up in a second of that, known callers have beside.
        #expect(strangers(1000, at: 100_000) == 15)
        #expect((0..<100).count { _ in limits.ask([], at: at(100_000)) == .allowed } == 5)
    }

    @Test func `a quarter of an address's limit is left for its known callers`() {
        var limits = RequestLimits(at: start)
        let shared: [Caller] = [.address("a"), .strangers(address: "a")]
        #expect(taken(1000, of: &limits, shared, at: 0) == 300)
        #expect(taken(1000, of: &limits, [.address("a")], at: 0) == 100)
        #expect(taken(1000, of: &limits, [.questions(address: "a")], at: 0) == 400)
    }

    @Test func `buckets that are full again are forgotten without another request`() {
        var limits = RequestLimits(at: start)
        for number in 0..<100 { _ = limits.ask([.device(thumbprint: "\(number)")], at: start) }
        #expect(limits.count == 100)
        for seconds in 1...10 { limits.sweep(at: at(seconds * 1000)) }
        #expect(limits.count == 0)
    }

    @Test func `a rate's part for strangers admits at least one`() {
        let rules = changed(LimitRules()) { $0.total = RequestRate(perSecond: 1, burst: 1) }
        var limits = RequestLimits(rules, at: start)
        #expect(limits.ask([], isStranger: true, at: start) == .allowed)
        #expect(limits.ask([], isStranger: true, at: at(1000)) != .allowed)
        #expect(limits.ask([], isStranger: true, at: at(1400)) == .allowed)
    }

    @Test func `a request that one limit refuses uses up no other`() {
        let rules = changed(LimitRules()) { $0.total = RequestRate(perSecond: 1, burst: 60) }
        var limits = RequestLimits(rules, at: start)
        #expect(taken(10_000, of: &limits, [user, .address("a")], "s", at: 0) == 10)
        let before = limits.count
        // The flood was refused by its subject's limit: the others' buckets hold what they held.
        #expect(taken(100, of: &limits, [user], "s2", at: 0) == 10)
        #expect(taken(100, of: &limits, [user], at: 0) == 20)
        #expect(taken(100, of: &limits, [.device(thumbprint: "d")], at: 0) == 20)
        #expect(limits.count == before + 2)
    }

    @Test func `buckets of different kinds are different, though their names be the same`() {
        var limits = RequestLimits(at: start)
        _ = taken(1000, of: &limits, [.device(thumbprint: "x")], at: 0)
        for caller in [
            Caller.user(issuer: "x", user: "x"), .user(issuer: "", user: "xx"), .address("x"), .backend(name: "x"),
        ] {
            #expect(limits.ask([caller], at: start) == .allowed)
        }
    }

    @Test func `a request is in the count of all once, however many questions it asks`() {
        var limits = RequestLimits(changed(LimitRules()) { $0.total = RequestRate(perSecond: 1, burst: 5) }, at: start)
        for _ in 0..<5 {
            #expect(limits.ask([.address("a")], at: start) == .allowed)
            #expect(limits.ask([user], subject: "s", hasArrived: true, at: start) == .allowed)
        }
        #expect(limits.ask([.address("a")], at: start) == .later(.seconds(1)))
        #expect(limits.ask([user], subject: "s", hasArrived: true, at: start) == .allowed)
    }

    @Test func `the wait of a caller is known without counting a request`() {
        var limits = RequestLimits(at: start)
        let refused = Caller.refused(address: "a")
        for _ in 0..<40 {
            #expect(limits.wait(of: refused, at: start) <= .zero)
            _ = limits.ask([refused], hasArrived: true, at: start)
        }
        #expect(limits.wait(of: refused, at: start) == .milliseconds(50))
        #expect(limits.wait(of: .refused(address: "b"), at: start) <= .zero)
        #expect(limits.wait(of: refused, at: at(50)) <= .zero)
    }

    @Test func `a bucket that is not full again is not forgotten`() {
        var limits = RequestLimits(at: start)
        for offset in [0, 500, 1000, 1500, 1999] {
            let caller = Caller.device(thumbprint: "\(offset)")
            _ = taken(40, of: &limits, [caller], at: offset)
            // Others' requests make the tables take turns in between.
            for step in stride(from: 0, to: 2000, by: 50) {
                _ = limits.ask([.device(thumbprint: "other")], at: at(offset + step))
            }
            #expect(taken(40, of: &limits, [caller], at: offset + 1990) == 39)
        }
    }

    @Test func `memory is bounded, whatever number of callers there are`() {
        let rules = changed(LimitRules()) {
            $0.total = RequestRate(perSecond: 1_000_000, burst: 1_000_000); $0.watched = 100
        }
        var limits = RequestLimits(rules, at: start)
        var most = 0
        for index in 0..<5000 {
            _ = limits.ask([.device(thumbprint: "\(index)"), .address("\(index)")], subject: "\(index)", at: start)
            most = max(most, limits.count)
        }
        #expect(most <= 2 * 102)
    }

    @Test func `the tables of limits never give way before their time by default`() {
        var limits = RequestLimits(at: start)
        var most = 0
        for step in 0..<100 {
            for index in 0..<400 {
                let name = "\(step)-\(index)"
                _ = limits.ask([.device(thumbprint: name), .address(name)], subject: name, at: at(step * 50))
            }
            most = max(most, limits.count)
        }
        #expect(most < 2 * LimitRules().watched)
    }

    @Test(arguments: [0, -1, .nan, .infinity, 1e300, 1e-300] as [Double])
    func `rates and times without measure do no harm`(rate: Double) {
        for burst in [Int.min, 0, 1, .max] {
            let one = RequestRate(perSecond: rate, burst: burst)
            var limits = RequestLimits(
                changed(LimitRules()) {
                    $0.subject = one; $0.caller = one; $0.total = one
                }, at: start)
            for time in [start, start.advanced(by: .seconds(-1e9)), start.advanced(by: .seconds(1e15)), start] {
                for _ in 0..<3 { _ = limits.ask([user], subject: "s", at: time) }
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `many threads share one limit`() async {
        let clock = ManualClock()
        let limits = SharedLimits(now: { clock.now })
        let user = user
        let taken = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { (0..<100).count { _ in limits.ask([user]) == .allowed } } }
            return await group.reduce(0, +)
        }
        #expect(taken == 40)
    }
}
