import AdapterKit

/// Decides which events get a token of their own: one failure costs one signature, and a vendor that refuses our tokens
/// cannot drive us in circles.
///
/// A value without clock or I/O. What it remembers of tokens that were not published can be taken back.
struct Admission: Sendable {
    /// An event that would be answered with a token: what of it decides.
    struct Request: Sendable {
        var app: String
        /// Whether its token answers a challenge.
        var isChallenge: Bool
        var loopGuard: LoopGuard
        /// Whether its remedy is to mint once: the vendor refused a token.
        var isRefusal: Bool
        /// Whether somebody asked for a token, without a failure.
        var isReissue: Bool
        /// The beginning of the failed token's hash.
        var failedToken: UInt64?
        var observedAt: UnixTime
        var device: String?
        var key: SigningKeyReference
    }

    /// What becomes of an event.
    enum Verdict: Sendable, Equatable {
        /// A token is minted; once it is, this is remembered.
        case mint(Ticket)
        /// A newer token answers it.
        case superseded(Supersession)
        /// The vendor refuses our tokens for this user.
        case refused(String, Suspension?)
        /// Its app is suspended; it waits.
        case suspended
    }

    /// What a token that is about to be minted will be remembered by.
    struct Ticket: Sendable, Equatable {
        let id: SubjectID
        fileprivate let replaced: (UInt64, UInt64)
        fileprivate let keyPrint: UInt32
        fileprivate let device: UInt32
        fileprivate let streak: UInt8
        fileprivate let recent: UInt8

        static func == (left: Ticket, right: Ticket) -> Bool {
            left.id == right.id && left.replaced == right.replaced && left.keyPrint == right.keyPrint
                && left.device == right.device && left.streak == right.streak && left.recent == right.recent
        }
    }

    private let rules: AdmissionRules
    private var mints: RecentMints
    private(set) var suspensions: Suspensions

    init(_ rules: AdmissionRules) {
        self.rules = rules
        mints = RecentMints(capacity: rules.subjects)
        suspensions = Suspensions(rules)
    }

    /// Whether anything is remembered at all.
    var isOn: Bool { rules.subjects > 0 }
    /// How many subjects are remembered, and in how many bytes.
    var memory: (subjects: Int, bytes: Int) { (mints.count, mints.bytes) }

    // MARK: Verdicts

    /// - Parameters:
    ///   - id: whose event it is.
    ///   - count: how many tokens for that user are being made already.
    mutating func verdict(
        on request: Request, _ id: SubjectID, alreadyInBatch count: Int = 0, at now: UnixTime
    ) -> Verdict {
        let print = suspensions.print(of: request.key, for: request.app)
        let isSuspended = suspensions.suspension(of: request.app, keyVersion: request.key.version) != nil
        let latest = mints.last(of: id)
        guard let last = latest, last.keyPrint == print, isFresh(last, at: now) else {
            if isSuspended { return .suspended }
            if count >= rules.tokensPerWindow, isOn { return refusal(of: request, id, now) }
            let recent = UInt8(clamping: count + 1)
            return .mint(ticket(id, print, request, after: latest, streak: 1, recent: recent))
        }
        if !request.isChallenge, let why = supersession(of: request, by: last) { return .superseded(why) }
        if isSuspended { return .suspended }
        let before = isWithin(rules.loopWindow, of: last, now) ? Int(last.recent) : 0
        // As far as a byte goes: a count that began anew would forget what it counted.
        let recent = UInt8(clamping: before + count + 1)
        let isOverrun = recent > rules.tokensPerWindow
        if refuses(request, last, now) || request.isChallenge && isOverrun {
            guard last.streak < request.loopGuard.tokens, !isOverrun else { return refusal(of: request, id, now) }
            return .mint(
                ticket(id, print, request, after: last, streak: UInt8(clamping: Int(last.streak) + 1), recent: recent))
        }
        if isOverrun, !request.isReissue { return .superseded(.recentToken) }
        return .mint(ticket(id, print, request, after: last, streak: 1, recent: recent))
    }

    /// Whether the token is good for longer than it takes to fetch and use it. A report about one that is about to expire
    /// is no refusal, and asks for the next.
    private func isFresh(_ mint: RecentMint, at now: UnixTime) -> Bool {
        let life = Int64(mint.expiresAt) - mint.mintedAt.seconds
        return Int64(mint.expiresAt) - min(60, life / 4) > now.seconds
    }

    private func supersession(of request: Request, by last: RecentMint) -> Supersession? {
        let failed = request.failedToken
        // Who names the last token has got it, whatever the device's clock says.
        if let failed, failed == last.token { return nil }
        if request.observedAt <= last.mintedAt { return .observedEarlier }
        if let failed, last.hasReplaced(failed) { return .olderToken }
        return isWithin(rules.coalescing, of: last, request.observedAt) ? .burst : nil
    }

    /// Whether the event says that the vendor refuses the last token.
    private func refuses(_ request: Request, _ last: RecentMint, _ now: UnixTime) -> Bool {
        if request.isReissue { return false }
        if let failed = request.failedToken { return failed == last.token }
        guard request.isRefusal || request.loopGuard.countsEveryReport else { return false }
        return last.device == print(of: request.device) && isWithin(rules.loopWindow, of: last, now)
    }

    private func isWithin(_ window: Int64, of last: RecentMint, _ time: UnixTime) -> Bool {
        time.microseconds(since: last.mintedAt) <= window
    }

    private mutating func refusal(of request: Request, _ id: SubjectID, _ now: UnixTime) -> Verdict {
        let suspension = suspensions.refused(id, of: request.app, keyVersion: request.key.version, at: now)
        return .refused(
            "the vendor refuses our unexpired token for this user; check that the vendor holds the public part of version \(request.key.version) of \(request.key.ring)",
            suspension)
    }

    private func ticket(
        _ id: SubjectID, _ keyPrint: UInt32, _ request: Request, after last: RecentMint?, streak: UInt8, recent: UInt8
    ) -> Ticket {
        let reported = request.failedToken ?? 0
        let published = last?.token ?? 0
        var replaced = (reported, published)
        if reported == 0 || reported == published { replaced = (published, last?.replaced.0 ?? 0) }
        return Ticket(
            id: id, replaced: replaced, keyPrint: keyPrint, device: print(of: request.device), streak: streak,
            recent: recent)
    }

    private func print(of device: String?) -> UInt32 {
        guard let device else { return 0 }
        var hasher = Hasher()
        hasher.combine(device)
        return max(1, UInt32(truncatingIfNeeded: hasher.finalize()))
    }

    // MARK: Memory

    /// A token was minted on `ticket`, in batch `number`.
    ///
    /// - Parameter token: the prefix of its hash.
    mutating func minted(
        _ token: UInt64, on ticket: Ticket, at now: UnixTime, expiresAt: Int64, inBatch number: Int
    ) {
        guard isOn else { return }
        let mint = RecentMint(
            id: ticket.id, mintedAt: now, token: token, replaced: ticket.replaced,
            expiresAt: UInt32(clamping: expiresAt), keyPrint: ticket.keyPrint, device: ticket.device,
            streak: ticket.streak, recent: ticket.recent)
        mints.remember(mint, inBatch: number)
    }

    /// The tokens of the batches up to `number` were published.
    mutating func confirm(throughBatch number: Int) { mints.confirm(throughBatch: number) }

    /// Whatever is not confirmed was not published.
    mutating func rollBack() { mints.rollBack() }

    /// Ends the suspension of `app`.
    mutating func resume(_ app: String) -> Suspension? { suspensions.resume(app) }
}

extension Admission.Request {
    init(_ order: MintOrder, key: SigningKeyReference) {
        self.init(
            app: order.app.name, isChallenge: order.subject.challenge != nil, loopGuard: order.app.loopGuard,
            isRefusal: order.isRefusal, isReissue: order.isReissue, failedToken: order.failedToken,
            observedAt: order.observedAt, device: order.event.device, key: key)
    }
}
