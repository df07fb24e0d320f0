import AdapterKit

/// Decides which events get a token of their own. One failure costs one signature, and a vendor that refuses our tokens
/// cannot cause a loop.
///
/// A value without clock or I/O. Its memory of tokens that were not published can be rolled back.
struct Admission: Sendable {
    /// The facts to remember of a token that is about to be minted.
    struct Ticket: Sendable {
        let id: SubjectID
        fileprivate let replaced: (UInt64, UInt64)
        fileprivate let keyPrint: UInt32
        fileprivate let keyVersion: String
        fileprivate let device: UInt32
        fileprivate let streak: UInt8
        fileprivate let recent: UInt8
        /// The finding that the token answers: `expired` for a wrong clock, `revoked`, or `none`.
        fileprivate let answers: Evidence
        /// Whether the token tests the key of a suspended app.
        fileprivate var isProbe = false

        /// Whether the report called an unexpired token expired.
        var isClockSkew: Bool { answers == .expired }
    }

    private var rules: AdmissionRules
    private var mints: RecentMints
    var suspensions: Suspensions

    init(_ rules: AdmissionRules) {
        self.rules = rules
        mints = RecentMints(capacity: rules.subjects)
        suspensions = Suspensions(rules)
    }

    /// Applies `rules` to the apps named `apps` from now on. The capacity for subjects does not change.
    mutating func apply(_ rules: AdmissionRules, for apps: Set<String>) {
        let subjects = self.rules.subjects
        self.rules = rules
        self.rules.subjects = subjects
        suspensions.apply(self.rules, for: apps)
    }

    var isOn: Bool { rules.subjects > 0 }
    var memory: (subjects: Int, bytes: Int) { (mints.count, mints.bytes) }

    // MARK: Verdicts

    /// Decides by an event's facts whether it gets a token. `admit` adds the event to the result.
    ///
    /// - Parameters:
    ///   - key: the key that would sign.
    ///   - count: the number of tokens that this batch already mints for the user.
    mutating func verdict(
        on facts: AdmissionFacts, with key: SigningKeyReference, alreadyInBatch count: Int = 0, at now: UnixTime
    ) -> Disposition<Ticket> {
        let id = facts.id
        let print = suspensions.fingerprint(of: key, for: facts.app)
        let latest = mints.last(of: id).flatMap { isFromTheFuture($0, now) ? nil : $0 }
        // An entry of another key's token does not apply to this key.
        let last = latest.flatMap { $0.keyPrint == print ? $0 : nil }
        let fresh = last.flatMap { isFresh($0, at: now) ? $0 : nil }
        let why = facts.isChallenge ? nil : fresh.flatMap { supersession(of: facts, by: $0) }
        if let why, let fresh, !facts.mayMiss(fresh) { return .ended(.superseded(why), of: nil) }
        // An event that is answered again, because its producer missed the newer token, is no evidence about that
        // token.
        let isEvidence = why == nil && isOn && suspensions.mayBeEvidence(facts.observedAt, of: facts.app)
        let finding =
            isEvidence ? Finding(facts, last, isFresh: fresh != nil, loopWindow: rules.loopWindow, at: now) : nil
        if case .key? = finding {
            suspensions.heardRefusal(of: id, of: facts.app, mintedAt: last?.mintedAt, at: now)
        }
        switch suspensions.standing(of: facts.app, for: id, key: key, latest: latest, at: now) {
        case .open: break
        case .closed: return .ended(.suspended, of: nil)
        case .probe:
            return .next(ticket(facts, key, print, after: latest, streak: 1, recent: 1, isProbe: true))
        }
        let before = last.map { $0.isWithin(rules.loopWindow, of: now) ? Int($0.recent) : 0 } ?? 0
        // Clamp to a byte: a count that started again would lose its history.
        let recent = UInt8(clamping: before + count + 1)
        let isOverrun = isOn && recent > rules.tokensPerWindow
        switch finding {
        case .key, .refused:
            let streak = fresh.map { Int($0.streak) } ?? 1
            guard streak < facts.loopGuard.tokens, !isOverrun else {
                return refusal(of: facts, key, last, finding, now)
            }
            return .next(
                ticket(facts, key, print, after: last, streak: UInt8(clamping: streak + 1), recent: recent))
        case .clockSkew:
            // Mint one more token in case the SDK named the wrong one, and the next after the loop window.
            let isAnswered =
                last.map { $0.answers == .expired && $0.isWithin(rules.loopWindow, of: now) && !facts.mayMiss($0) }
                ?? false
            guard !isAnswered, !isOverrun else { return .ended(.superseded(.clockSkew), of: nil) }
            return .next(ticket(facts, key, print, after: latest, streak: 1, recent: recent, answers: .expired))
        case .revoked:
            // A revoked token is answered with a new one. If that is revoked too, the limit applies.
            let isAgain = last.map { $0.answers == .revoked && $0.isWithin(rules.loopWindow, of: now) } ?? false
            guard !isAgain || !isOverrun else { return refused(revokedAgain) }
            return .next(ticket(facts, key, print, after: latest, streak: 1, recent: recent, answers: .revoked))
        case nil: break
        }
        guard !isOverrun else {
            return facts.isChallenge ? refused(limited) : .ended(.superseded(.recentToken), of: nil)
        }
        return .next(ticket(facts, key, print, after: latest, streak: 1, recent: recent))
    }

    /// Counts a report that blames the key and that no token fixes, such as "no matching public key". It gets no token,
    /// and counts towards a suspension like a refusal.
    mutating func heardBlame(in facts: AdmissionFacts, of key: SigningKeyReference, at now: UnixTime) {
        let id = facts.id
        guard isOn, suspensions.mayBeEvidence(facts.observedAt, of: facts.app) else { return }
        let print = suspensions.fingerprint(of: key, for: facts.app)
        let last = mints.last(of: id).flatMap { isFromTheFuture($0, now) || $0.keyPrint != print ? nil : $0 }
        let fresh = last.flatMap { isFresh($0, at: now) ? $0 : nil }
        if !facts.isChallenge, let fresh, supersession(of: facts, by: fresh) != nil { return }
        let finding = Finding(facts, last, isFresh: fresh != nil, loopWindow: rules.loopWindow, at: now)
        guard case .key(let evidence)? = finding else { return }
        suspensions.heardRefusal(of: id, of: facts.app, mintedAt: last?.mintedAt, at: now)
        suspensions.refused(
            id, of: facts.app, mintedAt: last?.mintedAt, keyVersion: key.version, by: evidence, at: now)
    }

    /// Returns whether no remembered token of `id` is newer than a failure observed at `time`.
    func isUnanswered(_ id: SubjectID, since time: UnixTime) -> Bool {
        mints.last(of: id).map { time > $0.mintedAt } ?? true
    }

    /// Returns whether the mint is in the future: the clock was set back since, so its order with other events is
    /// wrong.
    private func isFromTheFuture(_ mint: RecentMint, _ now: UnixTime) -> Bool {
        mint.mintedAt.microseconds(since: now) > ObservedTime.bound
    }

    /// Returns whether the token is valid for longer than it takes to fetch and use it. A report about a token that is
    /// about to expire is no refusal, and gets the next token.
    private func isFresh(_ mint: RecentMint, at now: UnixTime) -> Bool {
        let life = Int64(mint.expiresAt) - mint.mintedAt.seconds
        return Int64(mint.expiresAt) - min(60, life / 4) > now.seconds
    }

    private func supersession(of facts: AdmissionFacts, by last: RecentMint) -> Supersession? {
        let failed = facts.failedToken
        // A device that names the latest token has it, whatever its clock shows.
        if let failed, failed == last.token { return nil }
        if facts.observedAt <= last.mintedAt { return .observedEarlier }
        if let failed, last.hasReplaced(failed) { return .olderToken }
        return last.isWithin(rules.coalescing, of: facts.observedAt) ? .burst : nil
    }

    private mutating func refusal(
        of facts: AdmissionFacts, _ key: SigningKeyReference, _ last: RecentMint?, _ finding: Finding?, _ now: UnixTime
    ) -> Disposition<Ticket> {
        guard case .key(let evidence)? = finding else { return refused(Self.refusedForNoReason) }
        suspensions.refused(
            facts.id, of: facts.app, mintedAt: last?.mintedAt, keyVersion: key.version, by: evidence, at: now)
        return refused(
            "the vendor refuses our unexpired token for this user; compare the vendor's key or shared secret with version \(key.version) of \(key.ring)"
        )
    }

    private func refused(_ detail: String) -> Disposition<Ticket> {
        .ended(.failed(Rejection(.rejectedByVendor, detail), .admit), of: nil)
    }

    private static let refusedForNoReason =
        "the vendor refuses our unexpired token for this user, and its code does not blame the key; look up the reason at the vendor"

    private var revokedAgain: String {
        "the vendor revokes this user's tokens as soon as they are minted, and the user got \(rules.tokensPerWindow) in a row, each within a minute of the one before; the key is not the cause; ask the vendor which system revokes them"
    }

    /// The detail for a user with more challenges than a device needs. No token was refused, so this is no evidence.
    private var limited: String {
        "the user got \(rules.tokensPerWindow.of("token")) in a row, each within a minute of the one before; a device that works asks less often"
    }

    private func ticket(
        _ facts: AdmissionFacts, _ key: SigningKeyReference, _ keyPrint: UInt32, after last: RecentMint?, streak: UInt8,
        recent: UInt8,
        answers: Evidence = .none, isProbe: Bool = false
    ) -> Ticket {
        let reported = facts.failedToken ?? 0
        let published = last?.token ?? 0
        var replaced = (reported, published)
        if reported == 0 || reported == published { replaced = (published, last?.replaced.0 ?? 0) }
        return Ticket(
            id: facts.id, replaced: replaced, keyPrint: keyPrint, keyVersion: key.version, device: facts.device,
            streak: streak, recent: recent, answers: answers, isProbe: isProbe)
    }

    // MARK: Memory

    /// Remembers a token of `app` that was minted on `ticket` in batch `number`.
    ///
    /// - Parameter token: the first bytes of the token's hash.
    mutating func minted(
        _ token: UInt64, of app: String, on ticket: Ticket, at now: UnixTime, expiresAt: Int64, inBatch number: Int
    ) {
        let mint = RecentMint(
            id: ticket.id, mintedAt: now, token: token, replaced: ticket.replaced,
            expiresAt: UInt32(clamping: expiresAt), keyPrint: ticket.keyPrint, device: ticket.device,
            streak: ticket.streak, recent: ticket.recent, answers: ticket.answers)
        let before = mints.remember(mint, inBatch: number)
        suspensions.minted(
            for: ticket.id, of: app, keyVersion: ticket.keyVersion, isProbe: ticket.isProbe, before: before?.mintedAt,
            at: now, inBatch: number)
    }

    /// Confirms the tokens of the batches up to `number`, which were published.
    mutating func confirm(throughBatch number: Int) {
        mints.confirm(throughBatch: number)
        suspensions.confirm(throughBatch: number)
    }

    mutating func rollBack() {
        mints.rollBack()
        suspensions.rollBack()
    }
}

extension AdmissionFacts {
    /// Returns whether the producer may have missed the token of `mint`, so that the token does not answer the event.
    fileprivate func mayMiss(_ mint: RecentMint) -> Bool {
        unseen.map { mint.mintedAt.microseconds <= $0 } ?? false
    }
}

extension Admission {
    /// Decides whether `request` gets a token that `key` signs, in a batch that mints tokens for `subjects`.
    mutating func admit(
        _ request: MintRequest, key: SigningKeyReference, in subjects: inout BatchSubjects, at now: UnixTime
    ) -> Disposition<Ticket> {
        // The token that this batch mints for the subject is newer than any report.
        if isShared(request), let leader = subjects.leader(of: request.id) {
            // A report from a retry tier may be the earlier one, unless a token already answered it.
            if let time = request.reportedAt, subjects.isFirst(time, of: leader), isUnanswered(request.id, since: time)
            {
                subjects.join(leader, reportedAt: time)
            }
            return .follows(request, leader: leader)
        }
        let count = subjects.count(of: request.id)
        switch verdict(on: request.facts, with: key, alreadyInBatch: count, at: now) {
        case .ended(.failed(let rejection, let stage, _), _):
            return .ended(.failed(rejection, stage, refused: request.refusedToken(key.version)), of: request.event)
        case .ended(let ending, _): return .ended(ending, of: request.event)
        case let verdict: return verdict
        }
    }

    /// Counts an event that no token fixes and that may blame the key. Returns its ending.
    mutating func hear(_ blame: KeyBlame, of request: MintRequest, key: SigningKeyReference?, at now: UnixTime)
        -> Ending
    {
        if let key { heardBlame(in: request.facts, of: key, at: now) }
        return .failed(blame.rejection, .resolve, refused: request.refusedToken(blame.version))
    }

    /// Adds the draft of `request`, which was admitted.
    func add(draftOf request: MintRequest, to subjects: inout BatchSubjects) {
        subjects.append(request.id, reportedAt: request.reportedAt, isShared: isShared(request))
    }

    /// Returns whether the token of `request` also answers its subject's other events.
    private func isShared(_ request: MintRequest) -> Bool { isOn && !request.facts.isChallenge }
}

/// The fact that a report proves about its user's latest token, which is unexpired.
///
/// There are two kinds of proof: the report names that token, or the device that got it reports again within the loop
/// window. Devices without a name are never the same device.
enum Finding: Sendable, Equatable {
    /// The vendor refuses the key's signature. Only this finding counts towards a suspension.
    case key(Suspensions.Evidence)
    /// The report calls the token expired. The device's clock is wrong, or its SDK names the wrong token.
    case clockSkew
    case revoked
    /// The vendor refuses the token without a reason.
    case refused

    /// Reads `facts`; nil if they prove nothing about the token.
    ///
    /// - Parameters:
    ///   - last: the user's latest token that the current key signed, if it is remembered.
    ///   - isFresh: whether that token is valid for longer than it takes to fetch and use it.
    init?(_ facts: AdmissionFacts, _ last: RecentMint?, isFresh: Bool, loopWindow: Int64, at now: UnixTime) {
        guard !facts.isReissue, facts.isEnforced,
            let proof = Self.proof(in: facts, last, isFresh: isFresh, loopWindow, now)
        else { return nil }
        switch facts.evidence {
        case .key: self = .key(proof)
        // A token for a challenge is used once: a later report calls for the next challenge.
        case .expired, .revoked:
            if facts.isChallenge { return nil }
            self = facts.evidence == .expired ? .clockSkew : .revoked
        case .none:
            guard facts.isRefusal else { return nil }
            self = .refused
        }
    }

    private static func proof(
        in facts: AdmissionFacts, _ last: RecentMint?, isFresh: Bool, _ loopWindow: Int64, _ now: UnixTime
    ) -> Suspensions.Evidence? {
        guard let last, isFresh else {
            // No token is remembered, but the report contains an unexpired token that the current key signed.
            return last == nil && facts.isOfActiveKey && facts.saysWhy ? .token : nil
        }
        if let failed = facts.failedToken { return failed == last.token ? .token : nil }
        guard facts.saysWhy || facts.loopGuard.countsEveryReport else { return nil }
        let device = facts.device
        guard device != 0, last.device == device else { return nil }
        // A wrong clock stays wrong: the finding applies to the token that answered it.
        let isKnownSkew = facts.evidence == .expired && last.answers == .expired
        return isKnownSkew || last.isWithin(loopWindow, of: now) ? .device(device) : nil
    }
}

/// The limits of admission, in microseconds and counts.
public struct AdmissionRules: Sendable, Equatable {
    public var subjects: Int
    /// The time after a token in which every report without the failed token's name belongs to the answered failure, in
    /// microseconds. One failure causes several SDK callbacks, and a device needs a moment to fetch the token.
    public var coalescing: Int64
    /// The time after a token in which a report from the same device, without the token's name, counts as a refusal, in
    /// microseconds.
    public var loopWindow: Int64
    /// The maximum number of tokens of one key that a subject gets in a row with at most `loopWindow` between them.
    public var tokensPerWindow: Int
    /// The minimum number of users whose tokens the vendor refuses within `suspensionWindow`, for the events of all
    /// users to wait. If fewer users got tokens, and the vendor refuses the tokens of all of them, only their events
    /// wait. It is also the number of users who test a suspended app's key in a round.
    public var usersToSuspend: Int
    /// The minimum share of refusing users among the users who got tokens in that time, from 0 to 1.
    public var shareToSuspend: Double
    /// The time over which users are counted, in microseconds.
    public var suspensionWindow: Int64
    /// The minimum age of a counted user's token, in microseconds. Before that, it is unknown whether the vendor
    /// accepts the token.
    public var minimumAge: Int64
    /// A suspended app's wait for its first probes, and then for refusals of their tokens, in microseconds. Refusals of
    /// several users make the next wait longer, up to 15 times the first.
    public var probeWait: Int64
    public var worker: String
    static let shareToWarn = 0.05

    /// The minimum time between two of a worker's records with its counts of an app, in microseconds.
    var countsInterval: Int64 { min(5_000_000, max(1_000_000, minimumAge / 12)) }

    /// Creates rules. The defaults are 250,000 subjects, 2 s, 60 s and 5 tokens. An app is suspended if the vendor
    /// refuses the tokens of at least 20 users, and of at least half of the users with tokens from the last 10 minutes
    /// that are at least a minute old. The first probes follow after a minute.
    public init(
        subjects: Int = 250_000, coalescing: Duration = .seconds(2), loopWindow: Duration = .seconds(60),
        tokensPerWindow: Int = 5, usersToSuspend: Int = 20, shareToSuspend: Double = 0.5,
        suspensionWindow: Duration = .seconds(600), minimumAge: Duration = .seconds(60),
        probeWait: Duration = .seconds(60), worker: String = ""
    ) {
        self.subjects = subjects
        self.coalescing = coalescing.microseconds
        self.loopWindow = loopWindow.microseconds
        self.tokensPerWindow = tokensPerWindow
        self.usersToSuspend = usersToSuspend
        self.shareToSuspend = shareToSuspend
        self.suspensionWindow = suspensionWindow.microseconds
        self.minimumAge = minimumAge.microseconds
        self.probeWait = probeWait.microseconds
        self.worker = worker
    }
}

extension Duration {
    /// The duration in whole microseconds, clamped to 64 bits.
    package var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, tooMuch) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return tooMuch ? (seconds < 0 ? .min : .max) : sum
    }
}
