import AdapterKit

@testable import Pipeline

/// A vendor that can be asked about fifty users at once, whose answers are easy to write: `{"exists":[…],"gone":[…]}`; a
/// user in neither is unknown, and one called `other` in `exists` names somebody else.
struct AskingAdapter: LookupAdapter {
    struct Settings: AdapterSettings {
        static let keys: [SettingKey] = []
        init() {}
        init(from decoder: any Decoder) throws {}
    }

    static let name = "asking"
    static let vendor = "Asking"

    init(settings: Settings = Settings()) {}

    var algorithm: Algorithm { .hs256 }
    var lifetime: LifetimeBounds { LifetimeBounds(standard: 900, allowed: 60...3600) }

    func read(_ report: Report) -> Reading {
        guard let user = report.root["user"]?.string else { return .rejected(Rejection(.missingUser, "no user")) }
        return .failure(
            AuthenticationFailure(
                subject: Subject(user: user), reason: "expired", evidence: .expired, remedy: .mint))
    }

    func recipe(for subject: Subject) -> Recipe {
        Recipe(
            algorithm: .hs256, header: Recipe.typeOnly,
            claims: [Claim("sub", .user), Claim("exp", .expiresAt), Claim("plan", .enrichment("plan"))],
            lifetime: lifetime)
    }

    func subject(named claims: JSONValue) -> Subject? { claims["sub"]?.string.map { Subject(user: $0) } }

    let lookupTerms: LookupTerms? = nil

    func lookup(for subjects: [Subject], mode: LookupMode) -> Lookup {
        var body = JSONWriter()
        body.beginArray()
        for subject in subjects { body.string(subject.user ?? "") }
        body.endArray()
        return .requests([
            LookupRequest(method: .post, path: "/users", body: body.bytes, subjects: subjects.indices)
        ])
    }

    func verdicts(from response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict] {
        guard response.status == 200, let document = try? JSONDocument(parsing: response.body) else {
            return subjects.map { _ in .unanswered(LookupFailure(status: response.status)) }
        }
        let exists = Set((document.root["exists"]?.elements ?? []).compactMap(\.string))
        let gone = Set((document.root["gone"]?.elements ?? []).compactMap(\.string))
        return subjects.map { subject in
            guard let user = subject.user else { return .unknown }
            if exists.contains("other") { return .unanswered(LookupFailure(.mismatched, "another user")) }
            if exists.contains(user) { return .exists(Enrichment(["plan": Array(#""gold""#.utf8)])) }
            return gone.contains(user) ? .gone : .unknown
        }
    }

    func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict { .accepted }
}

/// A pipeline of one app whose vendor is asked, with a clock that is moved by hand.
struct LookupBench {
    let clock = ManualClock(TestBench.now)
    let signing = InMemorySigning()
    var processor: BatchProcessor
    private var offset: Int64 = 0
    private var batch = 0

    init(
        rates: [LookupTerms.Rate] = [.init(1000)], batch: Int = 50, concurrency: Int = 4, minted: Bool = false,
        unknownUser: LookupTerms.UnknownUser = .mint, onFailure: AppLookup.OnFailure = .retry,
        patience: Duration = .seconds(1), retries: RetryPolicy = .standard, remembered: Int = 100_000,
        apps names: [String] = ["shop"]
    ) throws {
        let key = try SigningKey(secret: SecretBytes(copying: "a secret for the asking vendor".utf8), algorithm: .hs256)
        let apps = names.map { name in
            App(
                name: name, adapter: AskingAdapter(), keyRing: "ring", lifetime: 900,
                lookup: AppLookup(
                    account: names[0], mode: .verify, unknownUser: unknownUser, onFailure: onFailure,
                    patience: patience,
                    lifetimes: .init(exists: .seconds(3600), gone: .seconds(600), unknown: .seconds(60))))
        }
        signing.activate(key, in: "ring")
        let clock = clock
        processor = BatchProcessor(
            apps: apps, signing: signing, maximumEventBytes: 1 << 20, admission: .off, retries: retries,
            accounts: [
                LookupAccount(
                    name: names[0], rates: rates, batch: batch, concurrency: concurrency, usesMintedTokens: minted)
            ], rememberedAnswers: remembered, random: SeededGenerator(seed: 7), now: { clock.now })
    }

    mutating func pass(_ time: Duration) {
        clock.now = clock.now.advanced(byMicroseconds: Int64(time / .microseconds(1)))
    }

    /// Fresh events of these users.
    mutating func records(_ users: [String], app: String = "shop") -> [InputRecord] {
        users.map { user in
            offset += 1
            return .raw(#"{"user":"\#(user)"}"#, app: app, offset: offset)
        }
    }

    /// Processes `records` and returns the state of each.
    mutating func process(_ records: [InputRecord], _ waiting: Waiting = .allowed) async -> [EventState] {
        batch += 1
        let begun = Batch(number: batch, records: records, urgency: .live, waiting: waiting)
        return await processor.process(begun).states(of: records)
    }

    /// The same, in short: `waits`, or the outcome.
    mutating func outcomes(_ records: [InputRecord], _ waiting: Waiting = .allowed) async -> [String] {
        await process(records, waiting).map(\.text)
    }

    mutating func outcomes(_ users: String..., waiting: Waiting = .allowed) async -> [String] {
        await outcomes(records(users), waiting)
    }

    mutating func reply(_ call: LookupCall, _ status: Int, _ body: String = "", retryAfter: Int64? = nil) {
        let response = LookupResponse(status: status, body: Array(body.utf8))
        processor.received([
            LookupReply(id: call.id, result: .success(LookupAnswer(response: response, retryAfter: retryAfter)))
        ])
    }

    mutating func fail(_ call: LookupCall, _ kind: LookupFailure.Kind) {
        processor.received([LookupReply(id: call.id, result: .failure(LookupFailure(kind, "it did not work")))])
    }

    /// Answers that all users exist that a call is about.
    mutating func confirm(_ call: LookupCall) {
        reply(call, 200, #"{"exists":\#(String(decoding: call.request.body ?? [], as: UTF8.self))}"#)
    }
}

extension LookupCall {
    /// The users that the call is about.
    var users: [String] {
        guard let body = request.body, let document = try? JSONDocument(parsing: body) else { return [] }
        return document.root.elements.compactMap(\.string)
    }
}
