public import AdapterKit

/// Takes a batch of records to their ends: decode, read, mint, and what is to be published.
///
/// Everything but the signatures happens here and now, in the order of the batch; the signatures are asked for together.
public struct BatchProcessor: Sendable {
    private let decoder: EventDecoder
    private let apps: [String: App]
    private let signing: any SigningPort
    private let now: @Sendable () -> UnixTime
    private var minter: Minter

    /// - Parameters:
    ///   - maximumEventBytes: values above are dead-lettered as `event_too_large`.
    ///   - random: where random ids come from.
    ///   - now: the time.
    public init(
        apps: [App], signing: any SigningPort, maximumEventBytes: Int,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        now: @escaping @Sendable () -> UnixTime
    ) {
        decoder = EventDecoder(maximumBytes: maximumEventBytes)
        self.apps = Dictionary(apps.map { ($0.name, $0) }) { first, _ in first }
        self.signing = signing
        self.now = now
        minter = Minter(random: random)
    }

    /// One end for each record, in their order.
    public mutating func process(_ records: [InputRecord]) async -> [Settlement] {
        let now = now()
        var settlements: [Settlement?] = []
        settlements.reserveCapacity(records.count)
        var drafts: [(index: Int, draft: Minter.Draft)] = []
        for (index, record) in records.enumerated() {
            switch begin(record, now) {
            case .settled(let settlement): settlements.append(settlement)
            case .drafted(let draft):
                settlements.append(nil)
                drafts.append((index, draft))
            }
        }
        let signatures = await signing.sign(drafts.map(\.draft.request))
        for ((index, draft), signature) in zip(drafts, signatures) {
            settlements[index] = finish(records[index], draft, signature, now)
        }
        return settlements.enumerated().map { index, settlement in
            settlement ?? rejected(records[index], nil, Rejection(.mintFailed, "the signer gave no answer"), .mint, now)
        }
    }

    private enum Begun {
        case settled(Settlement)
        case drafted(Minter.Draft)
    }

    private mutating func begin(_ record: InputRecord, _ now: UnixTime) -> Begun {
        let event: Event
        do throws(Rejection) { event = try decoder.decode(record) } catch {
            return .settled(rejected(record, nil, error, .decode, now))
        }
        switch Triage(event, apps: apps, now: now) {
        case .reject(let rejection, let stage): return .settled(rejected(record, event, rejection, stage, now))
        case .skip(let why):
            return .settled(
                Settlement(
                    origin: record.origin, eventID: event.id, app: event.app, outcome: .skipped(why), output: nil,
                    detail: nil))
        case .mint(let app, let subject, _):
            do throws(Rejection) {
                return .drafted(
                    try minter.draft(event, for: app, subject, with: signing.activeKey(of: app.keyRing), at: now))
            } catch { return .settled(rejected(record, event, error, .mint, now)) }
        }
    }

    private func finish(
        _ record: InputRecord, _ draft: Minter.Draft, _ signature: Result<[UInt8], Rejection>, _ now: UnixTime
    ) -> Settlement {
        switch signature {
        case .success(let signature) where signature.isEmpty:
            let rejection = Rejection(.mintFailed, "the signer gave an empty signature")
            return rejected(record, draft.token.event, rejection, .mint, now)
        case .failure(let rejection): return rejected(record, draft.token.event, rejection, .mint, now)
        case .success(let signature):
            var token = draft.token
            token.token = draft.request.input.token(signature: signature)
            return Settlement(
                origin: record.origin, eventID: token.event.id, app: token.event.app, outcome: .minted,
                output: token.output, detail: nil)
        }
    }

    private func rejected(
        _ record: InputRecord, _ event: Event?, _ rejection: Rejection, _ stage: Stage, _ now: UnixTime
    ) -> Settlement {
        let letter = DeadLetter(record, rejection, at: stage, on: now)
        // A name that is not configured comes from outside and is no label.
        let known = event.flatMap { apps[$0.app]?.name }
        return Settlement(
            origin: record.origin, eventID: event?.id, app: known, outcome: .deadLettered(rejection.code),
            output: letter.output,
            detail: rejection.detail)
    }
}
