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
    var alarms: [Alarm] = []

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
}
