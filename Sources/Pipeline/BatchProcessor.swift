public import AdapterKit
public import Spans

/// Takes a batch of records to their ends: decode, read, admit, mint, and what is to be published.
///
/// Everything but the signatures happens here and now, in the order of the batch; the signatures are asked for together.
/// What it remembers of its tokens is provisional until `confirm`: tokens that were not published are forgotten with
/// `rollBack`.
public struct BatchProcessor: Sendable {
    var decoder: EventDecoder
    var apps: AppDirectory
    /// The apps whose reports hold tokens, by their rings: only their keys are looked for.
    var provingRings: Set<String>
    /// The versions of those rings, as of `ringRevision` of the signer.
    var ringKeys: [String: [RingKey]] = [:]
    private var ringRevision: Int?
    let signing: any SigningPort
    var settler: Settler
    let now: @Sendable () -> UnixTime
    var random: AnyGenerator
    var minter: Minter
    var admission: Admission
    private let signer: BatchSigner
    var resolver: LookupScheduler
    /// Where the spans of followed events go; nil where none is followed.
    private let spans: (any SpanPort)?
    var lookupWaits = LookupWaits()
    var alarms: [Alarm] = []

    /// - Parameters:
    ///   - maximumEventBytes: values above are dead-lettered as `event_too_large`.
    ///   - liveTopic: the topic that producers share.
    ///   - bulkTopic: where operators' jobs write.
    ///   - admission: what coalescing and the loop guard go by.
    ///   - retries: when an event is tried again.
    ///   - accounts: the credentials that the apps' look-ups go with.
    ///   - rememberedAnswers: how many of the vendors' answers are kept at most.
    ///   - cores: how many processors there are to read and finish a batch's events.
    ///   - spans: where the spans of followed events go; nil where none is followed.
    ///   - random: where random ids and jitter come from.
    ///   - now: the time.
    public init(
        apps: [App], signing: any SigningPort, maximumEventBytes: Int, liveTopic: String = "remint.invalidations",
        bulkTopic: String = "remint.invalidations.bulk",
        admission: AdmissionRules = AdmissionRules(),
        retries: RetryPolicy = .standard, accounts: [LookupAccount] = [], rememberedAnswers: Int = 100_000,
        cores: Int = 2, spans: (any SpanPort)? = nil,
        random: any RandomNumberGenerator & Sendable = BufferedRandom(),
        now: @escaping @Sendable () -> UnixTime
    ) {
        decoder = EventDecoder(maximumBytes: maximumEventBytes)
        self.apps = AppDirectory(apps, liveTopic: liveTopic, bulkTopic: bulkTopic)
        provingRings = Self.provingRings(of: apps)
        self.signing = signing
        signer = BatchSigner(signing: signing, cores: cores)
        self.spans = spans
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
        admission.suspensions.releaseProbes()
        minter.look(at: signing.keysRevision)
        lookAtRings()
        var work = BatchWork(batch, now: time)
        let trace = SharedTrace("batch", of: records, to: spans, from: time)
        let chunks = await withTaskGroup(of: SignedChunk.self) { group in
            for chunk in BatchSigner.chunks(of: records.count) {
                let readings = await read(records[chunk], at: work.now)
                for index in chunk {
                    let reading = readings[index - chunk.lowerBound]
                    work.dispositions.append(disposition(of: records[index], index, reading, &work))
                }
                let first = work.signing
                guard first < work.drafts.count, signing.takesCallsAtOnce || chunk.upperBound == records.count else {
                    continue
                }
                // Signed and finished while the next ones are begun.
                let drafts = Array(work.drafts[first...])
                let reports = Array(work.reports[first...])
                work.signing = work.drafts.count
                group.addTask { [signer, now] in
                    let start = trace == nil ? time : now()
                    let signed = await signer.sign(drafts, answering: reports, batch.urgency)
                    trace?.signed(drafts.lazy.map { records[$0.index] }, from: start, to: now())
                    return SignedChunk(drafts: drafts, reports: reports, signed: signed)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
                .sorted { ($0.drafts.first?.index ?? 0) < ($1.drafts.first?.index ?? 0) }
        }
        for chunk in chunks {
            for (place, draft) in chunk.drafts.enumerated() {
                work.dispositions[draft.index] = .settled(
                    settle(draft, of: records[draft.index], chunk.signed[place], chunk.reports[place], &work))
            }
        }
        trace?.end(at: now())
        return work.dispositions.enumerated().map { index, disposition in
            switch disposition {
            case .settled(let settlement): .ended(settlement)
            case .waits(let moment): .waits(until: moment)
            // What waited for another event's token is answered by it, or fails as that one did.
            case .follows(let leader, let order): .ended(follow(leader, order, records[index], work))
            case .draft: .ended(settler.failed(records[index], nil, Self.noAnswer, .mint, work.now))
            }
        }
    }

    private static let noAnswer = Rejection(.mintFailed, "the signer gave no answer")

    /// The tokens of the batches up to `number` are published.
    public mutating func confirm(throughBatch number: Int) { admission.confirm(throughBatch: number) }

    /// The tokens that are not confirmed will never be published; the events they answered come again.
    public mutating func rollBack() { admission.rollBack() }

    /// The highest version that was given to a token, or that is to be exceeded.
    public var highestVersion: Int64 { minter.highestVersion }

    /// Every token from now on has a version above `version`, however this machine's clock stands.
    public mutating func raiseVersions(above version: Int64) { minter.raiseVersions(above: version) }

    // MARK: Work in hand

    /// What every record says and calls for. It depends on nothing but the record.
    private func read(_ records: ArraySlice<InputRecord>, at now: UnixTime) async -> ParallelMap<Triage> {
        await ParallelMap(records.count, chunks: signer.cores) { [decoder, apps, ringKeys] in
            Triage(of: records[records.startIndex + $0], by: decoder, apps: apps, keys: ringKeys, now: now)
        }
    }

    /// The versions that a reported token may be of, asked for again where the signer says that they may have changed.
    private mutating func lookAtRings() {
        let revision = signing.keysRevision
        guard !provingRings.isEmpty, revision == nil || revision != ringRevision || ringKeys.isEmpty else { return }
        ringRevision = revision
        for ring in provingRings { ringKeys[ring] = signing.verificationKeys(of: ring) }
    }

    /// Drafts that were signed together.
    private struct SignedChunk: Sendable {
        let drafts: [Draft]
        let reports: [UnixTime?]
        let signed: SignedDrafts
    }

    // MARK: Stages

    private mutating func disposition(
        of record: InputRecord, _ index: Int, _ triage: Triage, _ work: inout BatchWork
    ) -> Disposition {
        if work.rule == .resumed, work.stuck.contains(TopicPartition(record.origin)) {
            // It was to wait before; until when is known.
            return .waits(until: work.now)
        }
        switch triage {
        case .reject(let event, let rejection, let stage):
            return .settled(settler.failed(record, event, rejection, stage, work.now))
        case .skip(let event, let why): return .settled(settler.settled(record, event, .skipped(why)))
        case .blameKey(let order, let rejection, let version):
            if let key = minter.key(of: order.app, from: signing) {
                admission.heardBlame(in: order.facts, of: key, at: work.now)
            }
            return .settled(
                settler.failed(
                    record, order.event, rejection, .resolve, work.now, refused: refusedToken(of: order, version)))
        case .mint(let order):
            guard let key = minter.key(of: order.app, from: signing) else {
                let missing = Minter.keyUnavailable(for: order)
                return .settled(settler.failed(record, order.event, missing, .mint, work.now))
            }
            return admit(record, index, order, key, &work)
        }
    }

    private mutating func admit(
        _ record: InputRecord, _ index: Int, _ order: MintRequest, _ key: SigningKeyReference,
        _ work: inout BatchWork
    ) -> Disposition {
        let isShared = admission.isOn && order.subject.challenge == nil
        // Whatever it reports, the token that this batch makes for the subject is newer.
        if isShared, let made = work.subjects[order.id], let leader = made.leader {
            joins(order, draft: made.draft, &work)
            return .follows(leader: leader, order)
        }
        let count = work.subjects[order.id]?.tokens ?? 0
        switch admission.verdict(on: order.facts, with: key, alreadyInBatch: count, at: work.now) {
        case .superseded(let why): return .settled(settler.settled(record, order.event, .superseded(why)))
        case .suspended: return .settled(settler.suspended(record, order.event, work.now))
        case .refused(let detail):
            let rejection = Rejection(.rejectedByVendor, detail)
            return .settled(
                settler.failed(
                    record, order.event, rejection, .admit, work.now, refused: refusedToken(of: order, key.version)))
        case .mint(let ticket):
            switch resolve(record, order, &work) {
            case .left(let disposition): return disposition
            case .found(let found):
                do throws(Rejection) {
                    let draft = try minter.draft(
                        order, at: index, on: ticket, with: key, adding: found, at: work.now)
                    work.subjects[order.id] = BatchWork.Minted(
                        leader: isShared ? index : nil, tokens: count + 1, draft: work.drafts.count)
                    work.drafts.append(draft)
                    work.reports.append(order.reportedAt)
                    return .draft
                } catch { return .settled(settler.failed(record, order.event, error, .mint, work.now)) }
            }
        }
    }

    /// The token of `version` that `order` reports as refused. A challenge that is asked for too often is none, and its subject
    /// gets no token of a batch job.
    private func refusedToken(of order: MintRequest, _ version: String?) -> RefusedToken? {
        guard order.subject.challenge == nil else { return nil }
        return RefusedToken(ring: order.app.keyRing, keyID: version, subjectKey: order.subjectKey)
    }

    /// A draft answers `order` too. Where its report is the earlier one, as one out of a retry tier may be, the failure is as old
    /// as that, unless a token answered it before. A draft that is being signed already stays as it is.
    private func joins(_ order: MintRequest, draft place: Int, _ work: inout BatchWork) {
        guard place >= work.signing, let reportedAt = order.reportedAt,
            work.reports[place].map({ reportedAt < $0 }) ?? true, admission.isUnanswered(order.id, since: reportedAt)
        else { return }
        work.reports[place] = reportedAt
    }

    private mutating func settle(
        _ draft: Draft, of record: InputRecord, _ signed: Result<(hash: UInt64, record: OutputRecord), Rejection>,
        _ reportedAt: UnixTime?, _ work: inout BatchWork
    ) -> Settlement {
        switch signed {
        case .success(let token):
            admission.minted(
                token.hash, of: draft.request.app.name, on: draft.ticket, at: work.now,
                expiresAt: draft.life.expiresAt, inBatch: work.number)
            return Settler.minted(draft, token.record, at: record.origin, reportedAt: reportedAt)
        case .failure(let rejection):
            work.failures[draft.index] = rejection
            return settler.failed(record, draft.request.event, rejection, .mint, work.now)
        }
    }

    /// The reason is the other event's; how many attempts are left is each one's own.
    private mutating func follow(
        _ leader: Int, _ order: MintRequest, _ record: InputRecord, _ work: BatchWork
    ) -> Settlement {
        if case .settled(let settlement) = work.dispositions[leader], settlement.outcome == .minted {
            return settler.settled(record, order.event, .superseded(.sameBatch))
        }
        return settler.failed(record, order.event, work.failures[leader] ?? Self.noAnswer, .mint, work.now)
    }
}
