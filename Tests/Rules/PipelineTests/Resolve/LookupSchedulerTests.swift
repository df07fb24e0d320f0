import AdapterKit
import Testing

@testable import Pipeline

@Suite("Look-ups") struct LookupSchedulerTests {
    @Test func `an event waits in its place, and its answer mints with what the vendor adds`() async throws {
        var bench = try LookupBench()
        let records = bench.records(["ann"])
        #expect(await bench.outcomes(records) == ["waits"])
        bench.pass(.milliseconds(200))
        let call = try #require(bench.processor.lookups().first)
        #expect(call.users == ["ann"] && call.account == "shop" && call.bearer == nil)
        bench.confirm(call)
        let progress = await bench.process(records, .resumed)
        let token = try #require(progress.first?.settlement?.output).token
        #expect(TokenInspection(token).claims?["plan"]?.string == "gold")
    }

    @Test(arguments: [
        (#"{"exists":["ann"]}"#, LookupTerms.UnknownUser.mint, "minted"), (#"{"gone":["ann"]}"#, .mint, "user_gone"),
        ("{}", .mint, "minted"), ("{}", .reject, "user_gone"),
        (#"{"exists":["other"]}"#, .mint, "deferred lookup_failed 0"),
    ])
    func `the vendor's answer and the rule for unknown users decide the event`(
        _ body: String, _ rule: LookupTerms.UnknownUser, _ end: String
    ) async throws {
        var bench = try LookupBench(unknownUser: rule)
        let records = bench.records(["ann"])
        _ = await bench.process(records)
        bench.pass(.milliseconds(200))
        bench.reply(try #require(bench.processor.lookups().first), 200, body)
        #expect(await bench.outcomes(records, .resumed) == [end])
    }

    @Test func `a user is asked about once, however many events wait, and not again while the answer is believed`()
        async throws
    {
        var bench = try LookupBench()
        let records = bench.records(Array(repeating: "ann", count: 30))
        _ = await bench.process(records)
        bench.pass(.milliseconds(200))
        let calls = bench.processor.lookups()
        #expect(calls.map(\.users) == [["ann"]])
        #expect(Set(await bench.outcomes(bench.records(["ann"]))) == ["waits"])
        #expect(bench.processor.lookups().isEmpty)
        bench.confirm(calls[0])
        #expect(Set(await bench.outcomes(records, .resumed)) == ["minted"])
        bench.pass(.seconds(3599))
        #expect(await bench.outcomes("ann") == ["minted"])
        bench.pass(.seconds(1))
        #expect(await bench.outcomes("ann") == ["waits"])
    }

    @Test func `an event that may not wait goes to the tier that lasts as long as its answer`() async throws {
        // One request a second, one user each.
        var bench = try LookupBench(rates: [.init(1)], batch: 1)
        let users = (0..<800).map { "user-\($0)" }
        let ends = await bench.outcomes(bench.records(users), .over)
        #expect(ends[0] == "deferred awaiting_lookup 0" && ends[5] == "deferred awaiting_lookup 0")
        #expect(ends[30] == "deferred awaiting_lookup 1" && ends[799] == "deferred awaiting_lookup 2")
    }

    @Test func `an answer is kept for the event that waits for it in a tier, whatever else is believed`() async throws {
        var bench = try LookupBench(rates: [.init(1, perSeconds: 60)], batch: 1)
        _ = await bench.process(bench.records(["first", "ann"]), .over)
        var calls = bench.processor.lookups()
        bench.pass(.seconds(1))
        bench.reply(calls[0], 200, "{}")
        bench.pass(.seconds(60))
        calls = bench.processor.lookups()
        #expect(calls.map(\.users) == [["ann"]])
        // "Unknown" is believed for a minute; the event comes back after ten.
        bench.reply(calls[0], 200, "{}")
        bench.pass(.seconds(540))
        #expect(await bench.outcomes("ann") == ["minted"])
    }

    @Test func `waiting for an answer is no attempt, and ends with the event's deadline`() async throws {
        let retries = RetryPolicy(
            tiers: [.init(name: "10s", delay: .seconds(10))], maxAttempts: 2, deadline: .seconds(100))
        var bench = try LookupBench(concurrency: 1, retries: retries)
        var record = try #require(bench.records(["ann"]).first)
        var ends: [String] = []
        for _ in 0..<12 {
            let progress = await bench.process([record], .over)
            ends.append(progress[0].text)
            _ = bench.processor.lookups()
            guard let output = progress[0].settlement?.output, case .retries = output.destination else { break }
            #expect(output.values("remint-attempts") == ["0"])
            bench.pass(.seconds(11))
            record = try output.fromTier(at: bench.clock.now)
        }
        #expect(ends.last == "lookup_failed" && ends.dropLast().allSatisfy { $0 == "deferred awaiting_lookup 0" })
        #expect((8...10).contains(ends.count))
    }

    @Test func `an app may mint where the vendor does not answer in time`() async throws {
        var bench = try LookupBench(rates: [.init(1)], batch: 1, onFailure: .mint)
        #expect(await bench.outcomes("a", "b", "c") == ["waits", "minted", "minted"])
        #expect(await bench.outcomes("a", waiting: .over) == ["minted"])
    }

    @Test func `an event behind a waiting one of its partition waits as well`() async throws {
        var bench = try LookupBench(batch: 1)
        let records = bench.records(["a", "b"])
        _ = await bench.process(records)
        let calls = bench.processor.lookups()
        bench.confirm(try #require(calls.first { $0.users == ["b"] }))
        #expect(await bench.outcomes(records, .resumed) == ["waits", "waits"])
        bench.confirm(try #require(calls.first { $0.users == ["a"] }))
        #expect(await bench.outcomes(records, .resumed) == ["minted", "minted"])
    }

    @Test func `a request can carry a token of its user, which lives for five minutes`() async throws {
        var bench = try LookupBench(minted: true)
        _ = await bench.process(bench.records(["ann", "ben"]))
        let calls = bench.processor.lookups()
        #expect(calls.map(\.users) == [["ann"], ["ben"]])
        let signature = await bench.signing.sign([try #require(calls[0].bearer)], urgency: .live)[0]
        let token = try #require(calls[0].bearer).input.token(signature: try signature.get())
        let claims = try #require(TokenInspection(token).claims)
        #expect(claims["sub"]?.string == "ann")
        #expect(TokenInspection(token).time("exp") == TestBench.now.seconds + 300)
    }

    @Test func `events wait in the tiers if there is no key to ask with`() async throws {
        var bench = try LookupBench(minted: true)
        let records = bench.records(["ann"])
        _ = await bench.process(records)
        bench.signing.deactivate("ring")
        #expect(bench.processor.lookups().isEmpty)
        #expect(await bench.outcomes(records, .resumed) == ["deferred key_unavailable 0"])
    }

    @Test func `two apps with one credential share its limit and take turns`() async throws {
        var bench = try LookupBench(rates: [.init(2)], batch: 1, apps: ["shop", "other"])
        _ = await bench.process(bench.records(["a", "b", "c"]), .over)
        _ = await bench.process(bench.records(["x", "y"], app: "other"), .over)
        #expect(bench.processor.lookups().map(\.users) == [["a"], ["x"]])
    }

    @Test func `the number of remembered answers is bounded`() async throws {
        var bench = try LookupBench(remembered: 100)
        for round in 0..<20 {
            _ = await bench.process(bench.records((0..<50).map { "\(round)-\($0)" }))
            for call in bench.processor.lookups() { bench.confirm(call) }
            #expect(bench.processor.rememberedAnswers <= 100)
        }
        #expect(await bench.outcomes("19-49") == ["minted"])
        #expect(await bench.outcomes("0-0") == ["waits"])
    }
}
