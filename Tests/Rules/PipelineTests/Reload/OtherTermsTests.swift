import AdapterKit
import Testing

@testable import Pipeline

/// A processor that goes on by other terms between two batches.
@Suite("Other terms between two batches") struct OtherTermsTests {
    private func app(_ name: String, account: String = "shop", lifetime: Int64 = 900) -> App {
        App(
            name: name, adapter: AskingAdapter(), keyRing: "ring", lifetime: lifetime,
            lookup: AppLookup(
                account: account, mode: .verify, unknownUser: .mint, onFailure: .retry, patience: .seconds(1),
                lifetimes: .init(exists: .seconds(3600), gone: .seconds(600), unknown: .seconds(60))))
    }

    private func account(_ name: String = "shop", rate: Int = 1000) -> LookupAccount {
        LookupAccount(name: name, rates: [.init(rate)], batch: 50, concurrency: 4)
    }

    private func terms(
        _ apps: [App], unchanged: Set<String> = [], _ accounts: [LookupAccount]? = nil,
        before: [String: String] = ["shop": "shop"], fixed: Set<String> = [], reserved: Set<String> = []
    ) -> ProcessorTerms {
        ProcessorTerms(
            apps: apps, unchanged: unchanged, reservedTopics: reserved, maximumEventBytes: 1 << 20, admission: .off,
            retries: .standard, accounts: accounts ?? [account()], accountsBefore: before, fixedAccounts: fixed)
    }

    // MARK: Apps

    @Test func `an event that waits for an answer of an app that is gone ends as one of an unknown app`() async throws {
        var bench = try LookupBench(apps: ["shop", "other"])
        let records = bench.records(["ann"])
        #expect(await bench.outcomes(records) == ["waits"])
        bench.processor.apply(terms([app("other")], unchanged: ["other"]))
        #expect(bench.processor.lookups().isEmpty, "nobody is asked for it")
        #expect(await bench.outcomes(records, .resumed) == ["unknown_app"])
    }

    @Test func `a new app is answered from the next batch on`() async throws {
        var bench = try LookupBench()
        let records = bench.records(["ann"], app: "new")
        #expect(await bench.outcomes(records) == ["unknown_app"])
        bench.processor.apply(terms([app("new")], before: [:]))
        #expect(await bench.outcomes(records) == ["waits"])
    }

    @Test func `a topic that belonged to one app is nobody else's`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: .off)
        let record = InputRecord.raw(SampleReport.challenge(), app: "push")
        #expect(await processor.process([record]).map(\.outcome) == [.minted])
        processor.apply(
            ProcessorTerms(
                apps: bench.apps, unchanged: ["shop-ios", "push", "web"], reservedTopics: [record.origin.topic],
                maximumEventBytes: 1 << 20, admission: .off, retries: .standard))
        #expect(await processor.process([record]).map(\.outcome) == [.deadLettered(.wrongTopic)])
    }

    @Test func `tokens of before still answer what came after them`() async throws {
        let bench = try TestBench()
        var processor = bench.processor()
        #expect(await processor.process([.raw(SampleReport.braze(), app: "shop-ios")]).map(\.outcome) == [.minted])
        processor.confirm(throughBatch: 0)
        processor.apply(
            ProcessorTerms(
                apps: bench.apps, unchanged: [], maximumEventBytes: 1 << 20, admission: AdmissionRules(subjects: 0),
                retries: .standard))
        let again = await processor.process([.raw(SampleReport.braze(), app: "shop-ios", offset: 8)])
        #expect(again.map(\.outcome.name) == ["superseded"], "how many subjects are remembered does not change")
    }

    @Test func `the known keys of an app are dropped with the app`() async throws {
        let bench = try TestBench()
        var minter = Minter(random: SeededGenerator(seed: 1))
        minter.begin(1, 1)
        for app in bench.apps { _ = minter.key(of: app, from: bench.signing) }
        #expect(minter.knownApps == 3)
        minter.keep(only: [bench.apps[1]])
        #expect(minter.knownApps == 1)
    }

    // MARK: Look-ups

    @Test func `questions about apps that did not change go on, and so do answers`() async throws {
        var bench = try LookupBench(apps: ["shop", "other"])
        let asked = bench.records(["ann"])
        _ = await bench.process(asked)
        bench.pass(.milliseconds(200))
        let call = try #require(bench.processor.lookups().first)
        let queued = bench.records(["bob"], app: "shop")
        _ = await bench.process(queued)
        bench.processor.apply(terms([app("shop"), app("new")], unchanged: ["shop"]))
        bench.confirm(call)
        #expect(await bench.outcomes(asked, .resumed) == ["minted"])
        bench.pass(.milliseconds(200))
        #expect(bench.processor.lookups().map(\.users) == [["bob"]])
        #expect(bench.processor.rememberedAnswers == 1)
    }

    @Test func `an answer for an app that is configured otherwise is asked for again`() async throws {
        var bench = try LookupBench()
        let records = bench.records(["ann"])
        _ = await bench.process(records)
        bench.pass(.milliseconds(200))
        let call = try #require(bench.processor.lookups().first)
        bench.processor.apply(terms([app("shop", lifetime: 600)]))
        bench.confirm(call)
        #expect(bench.processor.rememberedAnswers == 0)
        #expect(bench.processor.lookupConditions.map(\.inFlight) == [0], "the request is over all the same")
        #expect(await bench.outcomes(records, .allowed) == ["waits"])
        bench.pass(.milliseconds(200))
        #expect(bench.processor.lookups().map(\.users) == [["ann"]])
    }

    @Test func `an account's limit counts on under another name and with another rate`() async throws {
        var bench = try LookupBench(rates: [.init(1, perSeconds: 60)], batch: 1, apps: ["shop", "other"])
        _ = await bench.process(bench.records(["ann"], app: "other"))
        let call = try #require(bench.processor.lookups().first)
        bench.confirm(call)
        // The first app goes, and with it the account's name.
        bench.processor.apply(
            terms([app("other", account: "other")], [account("other", rate: 1)], before: ["other": "shop"]))
        _ = await bench.process(bench.records(["bob"], app: "other"))
        #expect(bench.processor.lookups().isEmpty, "one a second, and one was asked in this one")
        bench.pass(.seconds(1))
        #expect(bench.processor.lookups().map(\.account) == ["other"])
    }

    @Test(arguments: [false, true])
    func `a failing vendor is asked at once after its credentials were fixed`(isFixed: Bool) async throws {
        var bench = try LookupBench()
        _ = await bench.process(bench.records(["ann"]))
        bench.pass(.milliseconds(200))
        bench.reply(try #require(bench.processor.lookups().first), 401)
        #expect(bench.processor.lookupConditions.map(\.circuit) == ["open"])
        bench.processor.apply(terms([app("shop")], fixed: isFixed ? ["shop"] : []))
        #expect(bench.processor.lookupConditions.map(\.circuit) == [isFixed ? "closed" : "open"])
    }

    @Test func `a request that tries for an app that is configured otherwise shows that the vendor works`() async throws
    {
        var bench = try LookupBench()
        _ = await bench.process(bench.records(["ann"]))
        bench.pass(.milliseconds(200))
        bench.reply(try #require(bench.processor.lookups().first), 401)
        var probe: LookupCall?
        for _ in 0..<1000 where probe == nil {
            bench.pass(.seconds(1))
            _ = await bench.process(bench.records(["bob"]))
            probe = bench.processor.lookups().first
        }
        #expect(bench.processor.lookupConditions.map(\.circuit) == ["half_open"])
        bench.processor.apply(terms([app("shop", lifetime: 600)]))
        bench.reply(try #require(probe), 400, "no such id")
        #expect(bench.processor.lookupConditions.map(\.circuit) == ["closed"])
    }

    @Test func `a vendor's wish not to be asked is not another's`() async throws {
        var bench = try LookupBench(batch: 1)
        _ = await bench.process(bench.records(["ann"]))
        bench.pass(.milliseconds(200))
        bench.reply(try #require(bench.processor.lookups().first), 429, retryAfter: 3_600_000_000)
        bench.processor.apply(terms([app("shop")], fixed: ["shop"]))
        _ = await bench.process(bench.records(["bob"]))
        bench.pass(.milliseconds(200))
        #expect(!bench.processor.lookups().isEmpty)
    }

    @Test func `questions of an account that is gone are forgotten`() async throws {
        var bench = try LookupBench()
        let records = bench.records(["ann", "bob"])
        _ = await bench.process([records[0]])
        bench.pass(.milliseconds(200))
        let call = try #require(bench.processor.lookups().first)
        _ = await bench.process([records[1]])
        bench.processor.apply(terms([app("shop")], [account("shop")], before: [:]))
        bench.confirm(call)
        #expect(bench.processor.rememberedAnswers == 0)
        #expect(bench.processor.lookupConditions.map(\.waiting) == [0])
        #expect(await bench.outcomes(records) == ["waits", "waits"])
    }

    @Test func `fewer answers are kept where there is room for fewer, and none of apps that changed`() {
        var cache = AnswerCache(capacity: 100)
        for number in 0..<100 {
            let name = number.isMultiple(of: 2) ? "even" : "odd"
            cache.keep(
                .gone, about: SubjectID(Subject(user: "\(number)"), app: name), of: name,
                until: TestBench.now.advanced(bySeconds: 60))
        }
        cache.resize(to: 100) { $0 == "odd" }
        #expect(cache.count <= 50 && cache.count > 0)
        cache.resize(to: 10) { _ in false }
        #expect(cache.count <= 10 && cache.count > 0)
        cache.resize(to: 10) { _ in true }
        #expect(cache.count == 0)
    }

    // MARK: What holds apps

    @Test func `a suspension outlives its app's absence, and the app's other memory does not`() async throws {
        let bench = try TestBench()
        var processor = bench.processor()
        let suspension = Suspension(
            app: "push", cause: .paused, since: TestBench.now, by: "operator", why: "maintenance")
        processor.hold(suspension, of: "push")
        let rest = Array(bench.apps.filter { $0.name != "push" })
        processor.apply(terms(rest))
        #expect(processor.suspensions.map(\.app) == ["push"])
        processor.apply(terms(bench.apps))
        let end = await processor.process([.raw(SampleReport.challenge(), app: "push")])
        #expect(end.map(\.outcome.name) == ["deferred"])
    }
}
