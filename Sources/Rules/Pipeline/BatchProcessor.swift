public import AdapterKit
public import Spans

/// Processes a batch of records, each through the same stages: read, admit, resolve, mint, settle.
///
/// All work except the signatures runs here, in the order of the batch. The signatures of a batch are requested
/// together. The memory of the batch's tokens is provisional until `confirm`. `rollBack` forgets tokens that were not
/// published.
public struct BatchProcessor: Sendable {
    let signing: any SigningPort
    let now: @Sendable () -> UnixTime
    var random: AnyGenerator
    var reader: EventReader
    var admission: Admission
    var resolver: Resolver
    var minter: Minter
    var settler: Settler
    private let signer: BatchSigner
    /// The receiver of the spans of traced events; nil if none is traced.
    private let spans: (any SpanPort)?
    var alarms: [SuspensionAlarm] = []

    /// Creates a processor.
    ///
    /// - Parameters:
    ///   - maximumEventBytes: the size above which a value is dead-lettered as `event_too_large`.
    ///   - liveTopic: the topic that producers share.
    ///   - bulkTopic: the topic that operators' jobs write to.
    ///   - admission: the rules of coalescing and of the loop guard.
    ///   - retries: the rules for retries.
    ///   - accounts: the credentials of the apps' look-ups.
    ///   - rememberedAnswers: the maximum number of cached answers of vendors.
    ///   - cores: the number of processors for reading and finishing a batch's events.
    ///   - spans: the receiver of the spans of traced events; nil if none is traced.
    ///   - random: the source of random ids and jitter.
    ///   - now: the clock.
    public init(
        apps: [App], signing: any SigningPort, maximumEventBytes: Int, liveTopic: String = "remint.invalidations",
        bulkTopic: String = "remint.invalidations.bulk", admission: AdmissionRules = AdmissionRules(),
        retries: RetryPolicy = .standard, accounts: [LookupAccount] = [], rememberedAnswers: Int = 100_000,
        cores: Int = 2, spans: (any SpanPort)? = nil,
        random: any RandomNumberGenerator & Sendable = BufferedRandom(),
        now: @escaping @Sendable () -> UnixTime
    ) {
        self.signing = signing
        self.now = now
        self.random = AnyGenerator(base: random)
        let directory = AppDirectory(apps, liveTopic: liveTopic, bulkTopic: bulkTopic)
        reader = EventReader(directory, maximumBytes: maximumEventBytes)
        self.admission = Admission(admission)
        resolver = Resolver(LookupScheduler(accounts, capacity: rememberedAnswers))
        minter = Minter(random: random)
        settler = Settler(retries: retries, apps: directory.names, random: AnyGenerator(base: random))
        signer = BatchSigner(signing: signing, cores: cores)
        self.spans = spans
    }

    /// Settles all records and returns their settlements, in order. No record waits in place.
    ///
    /// - Parameter number: the batch's number, higher than that of every earlier batch.
    public mutating func process(_ records: [InputRecord], batch number: Int = 0) async -> [Settlement] {
        await process(Batch(number: number, records: records, urgency: .live, waiting: .over)).settlements
    }

    /// Processes a batch, and returns it with its settlements and with the events that wait in place.
    public mutating func process(_ batch: Batch) async -> Batch {
        let (records, time) = (batch.records, now())
        begin(batch, at: time)
        let trace = SharedTrace("batch", of: records, to: spans, from: time)
        var subjects = BatchSubjects(records.count)
        var events: [Disposition<Draft>] = []
        events.reserveCapacity(records.count)
        let signed = await withTaskGroup(of: SignedChunk.self) { group in
            var drafts: [Draft] = []
            for chunk in BatchSigner.chunks(of: records.count) {
                let readings = await reader.read(records[chunk], cores: signer.cores, at: time)
                for index in chunk {
                    let reading = readings[index - chunk.lowerBound]
                    let event = disposition(of: records[index], index, reading, &subjects, at: time)
                    if case .next(let draft) = event { drafts.append(draft) }
                    events.append(event)
                }
                guard !drafts.isEmpty, signing.takesCallsAtOnce || chunk.upperBound == records.count else { continue }
                // Signed and finished while the next events begin.
                let (first, reports) = subjects.takeReports()
                group.addTask { [signer, drafts, now] in
                    let start = trace == nil ? time : now()
                    let signed = await signer.sign(drafts, answering: reports, batch.urgency)
                    trace?.signed(drafts.lazy.map { records[$0.index] }, from: start, to: now())
                    return SignedChunk(first: first, drafts: signed)
                }
                drafts = []
            }
            return SignedBatch(await group.reduce(into: []) { $0.append($1) })
        }
        var (settled, place) = (batch.emptied(for: records.count), 0)
        for (record, event) in zip(records, events) {
            settle(event, at: place, of: record, signed, subjects, in: &settled, at: time)
            if case .next = event { place += 1 }
        }
        trace?.end(at: now())
        return settled
    }

    private mutating func begin(_ batch: Batch, at time: UnixTime) {
        checkSuspensions(at: time)
        admission.suspensions.releaseProbes()
        minter.begin(batch.number, signing.keysRevision)
        reader.look(at: signing)
        resolver.begin(batch.waiting)
    }

    /// Passes an event through the stages up to the signature.
    private mutating func disposition(
        of record: InputRecord, _ index: Int, _ reading: Disposition<MintRequest>, _ subjects: inout BatchSubjects,
        at time: UnixTime
    ) -> Disposition<Draft> {
        // The event already waits; its limit is known.
        if resolver.blocks(record.origin) { return .waits(until: time) }
        return reading.then { request in
            let key = minter.key(of: request.app, from: signing)
            if let blame = request.blame {
                return .ended(admission.hear(blame, of: request, key: key, at: time), of: request.event)
            }
            guard let key else { return .ended(minter.keyUnavailable(for: request), of: request.event) }
            return admission.admit(request, key: key, in: &subjects, at: time).then { ticket in
                resolver.resolve(request, of: record, at: time).then { found in
                    let draft = minter.draft(request, at: index, on: ticket, with: key, adding: found, at: time)
                    if case .next = draft { admission.add(draftOf: request, to: &subjects) }
                    return draft
                }
            }
        }
    }

    // MARK: What is remembered

    /// Confirms the tokens of the batches up to `number`, which were published.
    public mutating func confirm(throughBatch number: Int) {
        admission.confirm(throughBatch: number)
        minter.versions.confirm(throughBatch: number)
    }

    /// Forgets the unconfirmed tokens, whose events return.
    ///
    /// - Parameter isPublished: whether some of the tokens may be published, so that later versions stay above theirs.
    public mutating func rollBack(isPublished: Bool = false) {
        admission.rollBack()
        minter.versions.rollBack(keepsVersions: isPublished)
    }

    /// Returns the highest version of the batches up to `number`, or the floor for the next version if that is higher.
    public func highestVersion(throughBatch number: Int) -> Int64 { minter.versions.last(throughBatch: number) }

    /// Forgets all versions, which must be read back before the next token. The clock was set: the versions of a clock that
    /// was ahead are not accepted, and those that a clock behind refused are.
    public mutating func forgetVersions() { minter.versions = VersionClock() }

    /// Raises the floor: every later token has a version above `version`, whatever the clock shows.
    public mutating func raiseVersions(above version: Int64) { minter.versions.raise(above: version) }

    /// Adds an event to its batch, settled or parked. If the event has a draft, the draft is at `place`.
    mutating func settle(
        _ event: Disposition<Draft>, at place: Int, of record: InputRecord, _ signed: SignedBatch,
        _ subjects: BatchSubjects, in batch: inout Batch, at time: UnixTime
    ) {
        let settlement: Settlement
        switch event {
        case .next(let draft):
            switch signed[place] {
            case .success(let token):
                admission.minted(
                    token.hash, of: draft.request.app.name, on: draft.ticket, at: time,
                    expiresAt: draft.life.expiresAt, inBatch: batch.number)
                let reportedAt = subjects.reportedAt(place)
                settlement = Settler.minted(draft, token.record, at: record.origin, reportedAt: reportedAt)
            case .failure(let rejection):
                settlement = ended(.failed(rejection, .mint), record, draft.request.event, time)
            }
        case .ended(let ending, let event): settlement = ended(ending, record, event, time)
        case .follows(let request, let leader):
            settlement = ended(BatchSubjects.follow(signed.failure(leader)), record, request.event, time)
        case .waits(let moment): return batch.parked.append((record, until: moment))
        }
        batch.records.append(record)
        batch.settlements.append(settlement)
    }

    private mutating func ended(
        _ ending: Ending, _ record: InputRecord, _ event: ReadEvent?, _ time: UnixTime
    ) -> Settlement {
        let settlement = settler.settle(ending, of: record, event, at: time)
        if let moment = settlement.notBefore { resolver.comesBack(ending, at: moment) }
        return settlement
    }

    /// Returns the requests to the vendors that have to be sent now.
    ///
    /// - Parameter isMoreComing: whether events are queued. A request that is not full waits a little for their users.
    public mutating func lookups(isMoreComing: Bool = false) -> [LookupCall] {
        resolver.scheduler.calls(at: now(), isMoreComing: isMoreComing, minter: &minter, signing: signing)
    }

    /// The time at which the next request may be due, if nothing happens before.
    public var nextLookup: UnixTime? { resolver.scheduler.nextCall }

    /// Processes the vendors' replies. Events that wait for them have to be checked again.
    public mutating func received(_ replies: [LookupReply]) {
        let time = now()
        for reply in replies { resolver.scheduler.received(reply, at: time, random: &random) }
    }

    public mutating func takeLookupTally() -> LookupTally { resolver.scheduler.takeTally() }

    public var lookupConditions: [LookupCondition] { resolver.scheduler.conditions(at: now()) }
    public var rememberedAnswers: Int { resolver.scheduler.remembered }

    public mutating func takeAlarms() -> [SuspensionAlarm] {
        defer { alarms = [] }
        return alarms
    }

    public var suspensions: [Suspension] { admission.suspensions.all }

    /// Returns the time from which an event of the suspended `app` may be its probe; nil while there is one.
    package func nextProbe(of app: String) -> UnixTime? { admission.suspensions.nextProbe(of: app) }

    public var memory: (subjects: Int, bytes: Int) { admission.memory }

    /// Applies the fleet's state of `app`: a suspension, a pause, or neither. Then its events are answered when they return from the
    /// retry tiers. The states of some apps that are not configured are kept: a reload may add them.
    public mutating func hold(_ suspension: Suspension?, of app: String) {
        let before = admission.suspensions.all.first { $0.app == app }
        guard reader.apps[app] != nil || admission.suspensions.hasPlace(for: app, besides: reader.apps.names) else {
            return
        }
        guard admission.suspensions.hold(suspension, of: app, at: now()) else { return }
        if let now = admission.suspensions.all.first(where: { $0.app == app }) {
            alarms.append(.told(now))
        } else if let before {
            alarms.append(.resumed(before, suspension == nil ? .told : .elapsed))
            forget(before)
        }
    }

    /// Has `apply` read the records that were written before this worker began to read the topic. They are a state, not
    /// changes. Raises alarms only for the resulting differences: new suspensions, and suspensions that are over.
    public mutating func takeHistory(_ apply: (inout BatchProcessor) -> Void) {
        let (told, before) = (alarms, suspensions)
        apply(&self)
        let after = suspensions
        alarms = told
        for suspension in after {
            let isKnown = before.contains {
                $0.app == suspension.app && $0.cause == suspension.cause && $0.reach == suspension.reach
            }
            if !isKnown { alarms.append(.told(suspension)) }
        }
        let time = now()
        for ended in before where !after.contains(where: { $0.app == ended.app }) {
            alarms.append(.resumed(ended, ended.isOver(at: time) ? .elapsed : .told))
        }
    }

    /// Makes the next events probes if another key than the refused one signs. Ends or narrows suspensions whose probes
    /// passed, and ends pauses that have passed their end.
    public mutating func checkSuspensions() { checkSuspensions(at: now()) }

    mutating func checkSuspensions(at time: UnixTime) {
        for suspension in admission.suspensions.all {
            guard let app = reader.apps[suspension.app], let key = signing.activeKey(of: app.keyRing) else { continue }
            admission.suspensions.keyChanged(of: suspension.app, to: key.version, at: time)
        }
        alarms += admission.suspensions.judgeProbes(at: time)
        for ended in admission.suspensions.endElapsed(at: time) {
            alarms.append(.resumed(ended, .elapsed))
            forget(ended)
        }
        alarms += admission.suspensions.decide(at: time)
    }

    /// Forgets the app of a suspension that is over, if it is not configured.
    private mutating func forget(_ ended: Suspension) {
        if reader.apps[ended.app] == nil { admission.suspensions.forget(ended.app) }
    }

    // MARK: The fleet's counts

    /// Sets whether the control topic is read and written, so that the fleet's counts can be known. Otherwise, this
    /// worker decides for its own partitions.
    public mutating func follow(fleet isFollowed: Bool) { admission.suspensions.isFleetFollowed = isFollowed }

    /// Records another worker's counts of `app`, or this worker's own record; nil if the worker deletes them.
    public mutating func heard(_ counts: RefusalCounts?, of app: String, from worker: String) {
        guard reader.apps[app] != nil else { return }
        admission.suspensions.heard(counts, of: app, from: worker, at: now())
    }

    /// Returns the counts to write to the control topic now, by app and worker; nil deletes them. There is at most one
    /// per app and worker in each interval of 1 to 5 seconds, and none for an app without refusals.
    public mutating func dueReports() -> [(app: String, worker: String, counts: RefusalCounts?)] {
        admission.suspensions.dueReports(at: now())
    }

    public mutating func refusalCounts() -> [String: RefusalCounts] { admission.suspensions.counts(at: now()) }
}

/// The configuration of a processor, which can be replaced between two batches.
public struct ProcessorTerms: Sendable {
    public var apps: [App]
    public var unchanged: Set<String>
    /// Topics that belong to single apps, but to none of `apps`.
    public var reservedTopics: Set<String>
    /// The size above which a value is dead-lettered as `event_too_large`, in bytes.
    public var maximumEventBytes: Int
    /// The rules of coalescing and of the loop guard. The capacity for subjects does not change.
    public var admission: AdmissionRules
    public var retries: RetryPolicy
    public var accounts: [LookupAccount]
    /// The previous names of the accounts that stay, by their names.
    public var accountsBefore: [String: String]
    /// The accounts that stay, but with another endpoint or other credentials.
    public var fixedAccounts: Set<String>
    public var rememberedAnswers: Int

    public init(
        apps: [App], unchanged: Set<String>, reservedTopics: Set<String> = [], maximumEventBytes: Int,
        admission: AdmissionRules, retries: RetryPolicy, accounts: [LookupAccount] = [],
        accountsBefore: [String: String] = [:], fixedAccounts: Set<String> = [], rememberedAnswers: Int = 100_000
    ) {
        self.apps = apps
        self.unchanged = unchanged
        self.reservedTopics = reservedTopics
        self.maximumEventBytes = maximumEventBytes
        self.admission = admission
        self.retries = retries
        self.accounts = accounts
        self.accountsBefore = accountsBefore
        self.fixedAccounts = fixedAccounts
        self.rememberedAnswers = rememberedAnswers
    }
}

extension BatchProcessor {
    /// Applies `terms` from the next batch on. Every unsettled event is settled by them, so an event of a removed app
    /// is treated as one of an unknown app.
    ///
    /// The memory of tokens, suspensions and vendors stays. So do the vendors' answers about users of unchanged apps.
    /// Events that wait for an answer have to be checked again.
    public mutating func apply(_ terms: ProcessorTerms) {
        // An unchanged app stays the same object: requests in flight refer to it.
        let before = reader.apps
        let kept = terms.apps.compactMap { terms.unchanged.contains($0.name) ? before[$0.name] : nil }
        let same = Dictionary(kept.map { ($0.name, $0) }) { first, _ in first }
        let apps = AppDirectory(
            terms.apps.map { same[$0.name] ?? $0 }, liveTopic: before.liveTopic, bulkTopic: before.bulkTopic,
            reserved: terms.reservedTopics)
        reader.replaceApps(with: apps, maximumBytes: terms.maximumEventBytes)
        settler.apply(terms.retries, for: apps.names)
        admission.apply(terms.admission, for: apps.names)
        minter.keep(only: kept)
        resolver.scheduler.replaceAccounts(
            with: terms.accounts, before: terms.accountsBefore, fixed: terms.fixedAccounts,
            capacity: terms.rememberedAnswers, keeping: kept)
    }
}
