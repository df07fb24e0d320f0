public import AdapterKit

/// Takes a batch of records to their ends: decode, read, admit, mint, and what is to be published.
///
/// Everything but the signatures happens here and now, in the order of the batch; the signatures are asked for together.
/// What it remembers of its tokens is provisional until `confirm`: tokens that were not published are forgotten with
/// `rollBack`.
public struct BatchProcessor: Sendable {
    private let decoder: EventDecoder
    let apps: AppDirectory
    /// The apps whose reports hold tokens, by their rings: only their keys are looked for.
    private let provingRings: Set<String>
    /// The versions of those rings, as of `ringRevision` of the signer.
    private var ringKeys: [String: [RingKey]] = [:]
    private var ringRevision: Int?
    let signing: any SigningPort
    private var settler: Settler
    let now: @Sendable () -> UnixTime
    private var random: AnyGenerator
    private var minter: Minter
    var admission: Admission
    private var resolver: LookupScheduler
    var alarms: [Alarm] = []

    /// - Parameters:
    ///   - maximumEventBytes: values above are dead-lettered as `event_too_large`.
    ///   - bulkTopic: where operators' jobs write.
    ///   - admission: what coalescing and the loop guard go by.
    ///   - retries: when an event is tried again.
    ///   - accounts: the credentials that the apps' look-ups go with.
    ///   - rememberedAnswers: how many of the vendors' answers are kept at most.
    ///   - random: where random ids and jitter come from.
    ///   - now: the time.
    public init(
        apps: [App], signing: any SigningPort, maximumEventBytes: Int, bulkTopic: String = "remint.invalidations.bulk",
        admission: AdmissionRules = AdmissionRules(),
        retries: RetryPolicy = .standard, accounts: [LookupAccount] = [], rememberedAnswers: Int = 100_000,
        random: any RandomNumberGenerator & Sendable = BufferedRandom(),
        now: @escaping @Sendable () -> UnixTime
    ) {
        decoder = EventDecoder(maximumBytes: maximumEventBytes)
        self.apps = AppDirectory(apps, bulkTopic: bulkTopic)
        provingRings = Set(apps.filter(\.adapter.reportsFailedToken).map(\.keyRing))
        self.signing = signing
        settler = Settler(retries: retries, apps: Set(apps.map(\.name)), random: AnyGenerator(base: random))
        self.now = now
        self.random = AnyGenerator(base: random)
        self.admission = Admission(admission)
        resolver = LookupScheduler(accounts, capacity: rememberedAnswers)
        minter = Minter(random: random)
    }

    /// One end for each record, in their order. None of them waits in its place.
    ///
    /// - Parameter number: the batch's number; each is higher than the one before.
    public mutating func process(_ records: [InputRecord], batch number: Int = 0) async -> [Settlement] {
        let progress = await process(Batch(number: number, records: records, urgency: .live, waiting: .over))
        return progress.compactMap { if case .ended(let settlement) = $0 { settlement } else { nil } }
    }

    /// How far each record of a batch came, in their order.
    public mutating func process(_ batch: Batch) async -> [Progress] {
        let records = batch.records
        let time = now()
        checkSuspensions(at: time)
        admission.suspensions.releaseProbes(at: time)
        minter.look(at: signing.keysRevision)
        lookAtRings()
        var work = BatchWork(batch, now: time)
        let pieces = await withTaskGroup(of: FinishedPiece.self) { group in
            var first = 0
            for start in stride(from: 0, to: records.count, by: Self.piece) {
                let end = min(start + Self.piece, records.count)
                let readings = await read(records[start..<end], at: work.now)
                for index in start..<end { begin(records[index], index, readings[index - start], &work) }
                guard first < work.drafts.count, signing.takesCallsAtOnce || end == records.count else { continue }
                // Signed and finished while the next ones are begun.
                let drafts = Array(work.drafts[first...])
                group.addTask { [signing, first] in
                    FinishedPiece(first, await Self.finished(drafts, records, by: signing, batch.urgency))
                }
                first = work.drafts.count
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.first < $1.first }
        }
        for piece in pieces {
            for index in piece.tokens.indices {
                let draft = work.drafts[piece.first + index]
                work.settlements[draft.index] = end(records[draft.index], draft, piece.tokens[index], &work)
            }
        }
        // What waited for another event's token is answered by it, or fails as that one did.
        for follower in work.followers {
            work.settlements[follower.index] = follow(follower, records[follower.index], work)
        }
        return work.settlements.enumerated().map { index, settlement in
            if let until = work.waiting[index] { return .waits(until: until) }
            let gone = Rejection(.mintFailed, "the signer gave no answer")
            return .ended(settlement ?? settler.failed(records[index], nil, gone, .mint, work.now))
        }
    }

    /// The tokens of the batches up to `number` are published.
    public mutating func confirm(throughBatch number: Int) { admission.confirm(throughBatch: number) }

    /// The tokens that are not confirmed will never be published; the events they answered come again.
    public mutating func rollBack() { admission.rollBack(at: now()) }

    /// The highest version that was given to a token, or that is to be exceeded.
    public var highestVersion: Int64 { minter.highestVersion }

    /// Every token from now on has a version above `version`, however this machine's clock stands.
    public mutating func raiseVersions(above version: Int64) { minter.raiseVersions(above: version) }

    // MARK: Work in hand

    /// What every record says and calls for. It depends on nothing but the record.
    private func read(_ records: ArraySlice<InputRecord>, at now: UnixTime) async -> ParallelMap<EventReading> {
        await ParallelMap(records.count) { [decoder, apps, ringKeys] in
            EventReading(records[records.startIndex + $0], decoder, apps, ringKeys, now)
        }
    }

    /// The versions that a reported token may be of, asked for again where the signer says that they may have changed.
    private mutating func lookAtRings() {
        let revision = signing.keysRevision
        guard !provingRings.isEmpty, revision == nil || revision != ringRevision || ringKeys.isEmpty else { return }
        ringRevision = revision
        for ring in provingRings { ringKeys[ring] = signing.verificationKeys(of: ring) }
    }

    /// The drafts with their signatures. Each depends on nothing but its own.
    private static func finished(
        _ drafts: [PendingToken], _ records: [InputRecord], by signing: any SigningPort, _ urgency: SigningUrgency
    ) async -> ParallelMap<Result<SignedToken, Rejection>> {
        let signatures = await signing.sign(drafts.map(\.token.request), urgency: urgency)
        return await ParallelMap(min(drafts.count, signatures.count), with: { try? SHA256Hasher() }) { place, hasher in
            switch signatures[place] {
            case .success(let signature):
                SignedToken.make(drafts[place].token, signature, records[drafts[place].index].origin, hasher)
            case .failure(let rejection): .failure(rejection)
            }
        }
    }

    /// Drafts that were signed together, from the `first` on.
    private struct FinishedPiece: Sendable {
        let first: Int
        let tokens: ParallelMap<Result<SignedToken, Rejection>>

        init(_ first: Int, _ tokens: ParallelMap<Result<SignedToken, Rejection>>) {
            self.first = first
            self.tokens = tokens
        }
    }

    /// How many events of a batch are read together, and signed together by a signer that takes several calls at once.
    private static let piece = 400

    private mutating func begin(_ record: InputRecord, _ index: Int, _ reading: EventReading, _ work: inout BatchWork) {
        if work.rule == .resumed, work.stuck.contains(PartitionProgress.Partition(record.origin)) {
            // It was to wait before; until when is known.
            work.waiting[index] = work.now
            return
        }
        guard case .event(let triage) = reading else {
            if case .unreadable(let rejection) = reading {
                work.settlements[index] = settler.failed(record, nil, rejection, .decode, work.now)
            }
            return
        }
        switch triage {
        case .reject(let event, let rejection, let stage):
            work.settlements[index] = settler.failed(record, event, rejection, stage, work.now)
        case .skip(let event, let why): work.settlements[index] = settler.settled(record, event, .skipped(why))
        case .mint(let order):
            guard let key = minter.key(of: order.app, from: signing) else {
                let missing = Rejection(.keyUnavailable, "the key ring \(order.app.keyRing) has no active key")
                work.settlements[index] = settler.failed(record, order.event, missing, .mint, work.now)
                return
            }
            admit(record, index, order, key, &work)
        }
    }

    private mutating func admit(
        _ record: InputRecord, _ index: Int, _ order: MintRequest, _ key: SigningKeyReference,
        _ work: inout BatchWork
    ) {
        let isShared = admission.isOn && order.subject.challenge == nil
        // Whatever it reports, the token that this batch makes for the subject is newer.
        if isShared, let leader = work.subjects[order.id]?.leader {
            work.followers.append(BatchWork.Follower(index: index, leader: leader, order: order))
            return
        }
        let request = Admission.Request(order, key: key)
        let count = work.subjects[order.id]?.tokens ?? 0
        switch admission.verdict(on: request, order.id, alreadyInBatch: count, at: work.now) {
        case .superseded(let why): work.settlements[index] = settler.settled(record, order.event, .superseded(why))
        case .suspended: work.settlements[index] = settler.suspended(record, order.event, work.now)
        case .refused(let detail, let suspension):
            if let suspension { alarms.append(.suspended(suspension)) }
            let rejection = Rejection(.rejectedByVendor, detail)
            work.settlements[index] = settler.failed(record, order.event, rejection, .admit, work.now)
        case .mint(let ticket):
            guard let found = resolve(record, index, order, &work) else { return }
            do throws(Rejection) {
                // What the edge grants is the user's own word, and newer than what the vendor has.
                let enrichment = order.grants.map { found.overridden(by: $0) } ?? found
                let token = try minter.token(order, with: key, adding: enrichment, at: work.now)
                work.drafts.append(PendingToken(index: index, token: token, ticket: ticket))
                work.subjects[order.id] = BatchWork.Minted(leader: isShared ? index : nil, tokens: count + 1)
            } catch { work.settlements[index] = settler.failed(record, order.event, error, .mint, work.now) }
        }
    }

    /// What the vendor says of the user, where the app asks.
    ///
    /// - Returns: what it adds to the token; nil where there will be none now, and the event ended or waits.
    private mutating func resolve(
        _ record: InputRecord, _ index: Int, _ order: MintRequest, _ work: inout BatchWork
    ) -> Enrichment? {
        guard let lookup = order.app.lookup else { return Enrichment() }
        switch resolver.answer(about: order.subject.withoutChallenge, order.id, of: order.app, at: work.now) {
        case .known(.exists(let enrichment)): return enrichment
        case .known(.unknown) where lookup.unknownUser == .mint: return Enrichment()
        case .known(.unknown):
            let rejection = Rejection(
                .userGone, "the vendor does not know this user, and lookup.unknown_user is reject")
            work.settlements[index] = settler.failed(record, order.event, rejection, .resolve, work.now)
        case .known(.gone):
            let rejection = Rejection(.userGone, "the vendor says that this user is no more")
            work.settlements[index] = settler.failed(record, order.event, rejection, .resolve, work.now)
        case .expected(let moment):
            if moment.microseconds(since: work.now) <= lookup.patience, work.rule != .over {
                work.waiting[index] = work.now.advanced(byMicroseconds: lookup.patience)
                work.stuck.insert(PartitionProgress.Partition(record.origin))
            } else if lookup.onFailure == .mint {
                return Enrichment()
            } else {
                let end = settler.awaiting(moment, record, order.event, work.now)
                if let until = end.comesBack { resolver.keep(order.id, until: until) }
                work.settlements[index] = end.settlement
            }
        case .failed where lookup.onFailure == .mint: return Enrichment()
        case .failed(let failure):
            let rejection = Rejection(.lookupFailed, "\(failure.kind.rawValue): \(failure.detail)")
            work.settlements[index] = settler.failed(record, order.event, rejection, .resolve, work.now)
        }
        return nil
    }

    private mutating func end(
        _ record: InputRecord, _ draft: PendingToken, _ finished: Result<SignedToken, Rejection>,
        _ work: inout BatchWork
    ) -> Settlement {
        switch finished {
        case .success(let finished):
            admission.minted(
                finished.hash, of: draft.token.order.app.name, on: draft.ticket, at: work.now,
                expiresAt: draft.token.life.expiresAt,
                inBatch: work.number)
            return finished.settlement
        case .failure(let rejection):
            work.failures[draft.index] = rejection
            return settler.failed(record, draft.token.order.event, rejection, .mint, work.now)
        }
    }

    /// The reason is the other event's; how many attempts are left is each one's own.
    private mutating func follow(_ follower: BatchWork.Follower, _ record: InputRecord, _ work: BatchWork) -> Settlement
    {
        if work.settlements[follower.leader]?.outcome == .minted {
            return settler.settled(record, follower.order.event, .superseded(.sameBatch))
        }
        let rejection = work.failures[follower.leader] ?? Rejection(.mintFailed, "the signer gave no answer")
        return settler.failed(record, follower.order.event, rejection, .mint, work.now)
    }
}

// MARK: Look-ups

extension BatchProcessor {
    /// The requests to the vendors that are to be sent now.
    ///
    /// - Parameter isMoreComing: whether events stand in line: a request that is not full waits a little for their users.
    public mutating func lookups(isMoreComing: Bool = false) -> [LookupCall] {
        resolver.calls(at: now(), isMoreComing: isMoreComing, minter: &minter, signing: signing)
    }

    /// When there may be more of them, if nothing happens before.
    public var nextLookup: UnixTime? { resolver.nextCall }

    /// What became of requests. Events that wait for them are to be looked at again.
    public mutating func received(_ replies: [LookupReply]) {
        let time = now()
        for reply in replies { resolver.received(reply, at: time, random: &random) }
    }

    /// What was counted since the last call.
    public mutating func takeLookupTally() -> LookupTally { resolver.takeTally() }

    /// The look-ups' accounts as they are now.
    public var lookupConditions: [LookupCondition] { resolver.conditions(at: now()) }

    /// How many of the vendors' answers are remembered.
    public var rememberedAnswers: Int { resolver.remembered }
}
