import AdapterKit

/// Reads an event by the rules of its app: the vouched user, the adapter's reading of the report, and the proof in its
/// token.
struct ReportReader {
    private let envelope: Envelope
    let isReissue: Bool
    private let app: App
    private let keys: [String: [RingKey]]
    private let now: UnixTime
    /// The time of the failure. A clock that is ahead must not extend a deadline.
    private var observedAt: UnixTime { min(envelope.observedAt ?? now, now) }

    init(_ event: Event, _ app: App, keys: [String: [RingKey]], now: UnixTime) {
        envelope = event.envelope
        isReissue = if case .reissue = event.body { true } else { false }
        self.app = app
        self.keys = keys
        self.now = now
    }

    /// Returns the token request of `event`, the same event that the reader was created for.
    func read(_ event: Event) -> Disposition<MintRequest> {
        let vouched: VouchedUser?
        do throws(Rejection) {
            if let members = event.vouched {
                vouched = try app.adapter.user(vouchedBy: members)
            } else {
                vouched = nil
            }
        } catch {
            return failed(error, .decode)
        }
        let reading: Reading
        switch event.body {
        case .reissue(let request): reading = Reissue.read(request, for: app.adapter)
        case .report(let root):
            guard vouched != nil || app.identity == .reported else { return missingIdentity }
            reading = app.adapter.reading(of: Report(root, observedAt: observedAt, vouched: vouched))
        }
        switch consume reading {
        case .rejected(let rejection):
            if rejection.code == .missingUser, app.missingUser == .skip, !isReissue {
                return .ended(.skipped("the report names no user"), of: ReadEvent(envelope: envelope))
            }
            let isMismatch = rejection.code == .identityMismatch
            return failed(rejection, isMismatch ? .admit : .decode)
        case .failure(let failure): return remedy(of: failure, vouched)
        }
    }

    private var missingIdentity: Disposition<MintRequest> {
        let missing = Rejection(
            .identityMissing,
            "the app takes only events that vouch for their user; let the edge send \"vouched\" beside the report")
        return failed(missing, .admit)
    }

    private func remedy(of failure: AuthenticationFailure, _ vouched: VouchedUser?) -> Disposition<MintRequest> {
        var subject = failure.subject
        if let vouched, let reported = subject {
            // An adapter that does not compare the users must not be a way around the check.
            guard let user = vouched.user(named: reported) else { return failed(.identityMismatch, .admit) }
            subject = user
        }
        let finding = authorship(of: failure, for: subject)
        let read = readEvent(failure, finding)
        func reject(_ code: ErrorCode, _ detail: String, _ stage: Stage) -> Disposition<MintRequest> {
            .ended(.failed(Rejection(code, detail), stage), of: read)
        }
        let remedy = failure.remedy(signedBy: finding.signer)
        switch remedy {
        case .notForUs(let why): return .ended(.skipped(why), of: read)
        case .notFixable(let why):
            let rejection = Rejection(.notFixableByToken, "\(failure.reason): \(why)")
            guard failure.evidence == .key, let subject else {
                return .ended(.failed(rejection, .resolve), of: read)
            }
            let blame = KeyBlame(rejection: rejection, version: finding.version)
            return .next(request(for: subject, failure, read, isRefusal: true, blame, finding, vouched))
        case .mint, .mintOnce: break
        }
        let isRefusal = if case .mintOnce = remedy { true } else { false }
        if app.proof == .ownToken, !isReissue, !finding.signer.isOurs, !failure.hadNoToken {
            return reject(
                .unproven,
                "the app takes only reports that hold a token signed by a version of \(app.keyRing) for their user",
                .admit)
        }
        if let deadline = failure.deadline, deadline <= now {
            return reject(.challengeExpired, "the challenge's deadline, \(deadline), has passed", .admit)
        }
        guard let subject else {
            return reject(.malformedReport, "the report names nobody to mint for", .decode)
        }
        if !app.requiredVouched.isEmpty, let refusal = app.adapter.refusalOfMissingMembers(in: vouched) {
            return .ended(.failed(refusal, .admit), of: read)
        }
        return .next(
            request(for: subject, failure, read, isRefusal: isRefusal, nil, finding, vouched))
    }

    private func readEvent(_ failure: AuthenticationFailure, _ finding: TokenProof.Authorship) -> ReadEvent {
        let isCounted = isReissue || envelope.hasWaited
        return ReadEvent(
            envelope: envelope, reason: failure.reason, signer: isCounted ? nil : finding.signer)
    }

    private func authorship(of failure: AuthenticationFailure, for subject: Subject?) -> TokenProof.Authorship {
        guard let token = failure.failedToken else { return .none }
        return TokenProof(keys: isReissue ? [] : keys[app.keyRing] ?? [], adapter: app.adapter)
            .authorship(of: token, for: subject)
    }

    private func failed(_ rejection: Rejection, _ stage: Stage) -> Disposition<MintRequest> {
        .ended(.failed(rejection, stage), of: ReadEvent(envelope: envelope))
    }

    private func request(
        for subject: Subject, _ failure: AuthenticationFailure, _ read: ReadEvent, isRefusal: Bool,
        _ blame: KeyBlame?, _ finding: TokenProof.Authorship, _ vouched: VouchedUser?
    ) -> MintRequest {
        MintRequest(
            read, app, subject, failure, isRefusal: isRefusal, blame: blame,
            isOfActiveKey: finding.signer == .active && finding.isUnexpired(at: now, for: failure.evidence),
            grants: vouched?.grants,
            observedAt: ObservedTime.believed(observedAt, producedAt: envelope.producedAt, at: now))
    }
}

extension VouchedUser {
    /// Returns this user if `reported` names no other: the same id, or some of the same ids; nil otherwise.
    ///
    /// The result has all ids. A device that could choose among its user's ids would be several users, each with
    /// tokens, limits and refusals of its own.
    fileprivate func user(named reported: Subject) -> Subject? {
        switch (subject.identity, reported.identity) {
        case (.user(let vouched), .user(let user)): return vouched.hasSameBytes(as: user) ? reported : nil
        case (.identifiers(let vouched), .identifiers(let identifiers)):
            let isNamed = identifiers.allSatisfy { reported in
                vouched.contains {
                    $0.name.hasSameBytes(as: reported.name) && $0.value.hasSameBytes(as: reported.value)
                }
            }
            return isNamed ? subject : nil
        default: return nil
        }
    }
}

/// The time at which a failure was observed, within the trusted range of a device's clock.
enum ObservedTime {
    /// The maximum difference between a device's clock and the record's timestamp: one minute, in microseconds. A clock
    /// that is further behind would make every failure look older than the token that answers it.
    static let bound: Int64 = 60_000_000

    /// Returns `observed`, moved towards `produced` until it is within the bound, and never after `now`. A producer's
    /// clock that is ahead would make an old failure look newer than the token that answers it.
    static func believed(_ observed: UnixTime, producedAt produced: UnixTime?, at now: UnixTime) -> UnixTime {
        guard let produced = produced.map({ min($0, now) }) else { return min(observed, now) }
        let near = min(
            max(observed, produced.advanced(byMicroseconds: -bound)), produced.advanced(byMicroseconds: bound))
        return min(near, now)
    }
}

/// The check whether the token in a report is one of ours, and whose it is.
///
/// The check tries every version of the ring, so that its duration does not reveal the version that signed.
private struct TokenProof {
    let keys: [RingKey]
    let adapter: any Adapter

    /// The result of a check of a token's signature.
    struct Authorship: Sendable, Equatable {
        let signer: TokenSigner
        /// The id of the version that signed; nil if it is not ours.
        let version: String?
        /// The token's expiry, in seconds since 1970; nil if the token is not ours, or has none.
        let expiresAt: Int64?

        /// Returns whether the token is unexpired. A device's clock may be ahead by up to the bound, so a report of an
        /// expired token is wrong only if more than the bound is left.
        func isUnexpired(at now: UnixTime, for evidence: Evidence) -> Bool {
            guard let expiresAt else { return false }
            return expiresAt > now.advanced(byMicroseconds: evidence == .expired ? ObservedTime.bound : 0).seconds
        }

        static let foreign = Authorship(signer: .foreign, version: nil, expiresAt: nil)
        /// The result without a token.
        static let none = Authorship(signer: .none, version: nil, expiresAt: nil)
    }

    /// Returns the signer of `token` if the token is `subject`'s. Another user's token proves nothing, whoever signed
    /// it.
    func authorship(of token: FailedToken?, for subject: Subject?) -> Authorship {
        guard case .token(let bytes)? = token else { return .none }
        guard let jws = try? CompactJWS(parsing: bytes) else { return .foreign }
        var author: RingKey?
        for version in keys {
            let isSigned = (try? jws.verify(with: version.key)) != nil
            if isSigned { author = version }
        }
        guard let author, author.signer.isOurs, let subject, let claims = try? jws.claims(),
            let named = adapter.subject(named: claims), named.withoutChallenge == subject.withoutChallenge
        else { return .foreign }
        return Authorship(signer: author.signer, version: author.version, expiresAt: claims["exp"]?.integer)
    }
}
