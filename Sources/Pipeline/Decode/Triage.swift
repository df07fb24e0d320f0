import AdapterKit

/// What an event calls for, once its app's adapter has read it.
///
/// Nearly all of them are minted for: the others' parts lie elsewhere, so that a batch of these stays small.
enum Triage: Sendable {
    /// Mint for this subject.
    case mint(MintRequest)
    /// Nothing to do. Says why.
    indirect case skip(Envelope, String)
    /// It cannot be answered; without an envelope it could not be read.
    indirect case reject(Envelope?, Rejection, Stage)
    /// No token repairs it, and the vendor's code blames the key that signed. The request names the user and the token, `version`
    /// whose signature the token has; nil where the report does not show it.
    indirect case blameKey(MintRequest, Rejection, version: String?)

    /// Reads the event of `record` and asks what it calls for.
    init(
        of record: InputRecord, by decoder: EventDecoder, apps: AppDirectory, keys: [String: [RingKey]], now: UnixTime
    ) {
        do throws(Rejection) { self.init(try decoder.decode(record), apps: apps, keys: keys, now: now) } catch {
            self = .reject(nil, error, .decode)
        }
    }

    /// Routes `event` to its app, lets the adapter read it and takes the remedy at its word.
    ///
    /// - Parameter keys: the versions of a ring by its name.
    init(_ event: Event, apps: AppDirectory, keys: [String: [RingKey]], now: UnixTime) {
        let envelope = event.envelope
        guard let app = apps[envelope.app] else {
            self = .reject(envelope, Rejection(.unknownApp, "no app of that name is configured"), .decode)
            return
        }
        guard !envelope.hasWaited || apps.isInput(envelope.topic) else {
            self = .reject(envelope, Self.unknownOrigin, .admit)
            return
        }
        let reader = EventReader(event, app, keys: keys, now: now)
        guard apps.accepts(app, from: envelope.topic, isReissue: reader.isReissue) else {
            let foreign = Rejection(.wrongTopic, "events of the app \(app.name) do not come from this topic")
            self = .reject(envelope, foreign, .admit)
            return
        }
        self = reader.triage()
    }

    private static let unknownOrigin = Rejection(
        .wrongTopic,
        "the record of a retry tier has no origin, or one that is no input: restore that topic in the configuration, then redrive with --code wrong_topic"
    )
}

/// Reads an event with the rules of its app: who vouches, what the adapter makes of the report, what its token proves.
private struct EventReader {
    private let event: Event
    private let app: App
    private let keys: [String: [RingKey]]
    private let now: UnixTime
    /// A clock that runs ahead must not stretch a deadline.
    private var observedAt: UnixTime { min(event.envelope.observedAt ?? now, now) }

    init(_ event: Event, _ app: App, keys: [String: [RingKey]], now: UnixTime) {
        self.event = event
        self.app = app
        self.keys = keys
        self.now = now
    }

    var isReissue: Bool { if case .reissue = event.body { true } else { false } }

    func triage() -> Triage {
        let vouched: VouchedUser?
        do throws(Rejection) {
            if let members = event.vouched {
                vouched = try app.adapter.user(vouchedBy: members)
            } else {
                vouched = nil
            }
        } catch {
            return .reject(event.envelope, error, .decode)
        }
        let reading: Reading
        switch event.body {
        case .reissue(let request): reading = Reissue.read(request, for: app.adapter)
        case .report(let root):
            guard vouched != nil || app.identity == .reported else { return missingIdentity }
            reading = app.adapter.reading(of: Report(root, observedAt: observedAt, vouched: vouched))
        }
        switch reading {
        case .rejected(let rejection):
            if rejection.code == .missingUser, app.missingUser == .skip, !isReissue {
                return .skip(event.envelope, "the report names no user")
            }
            let isMismatch = rejection.code == .identityMismatch
            return .reject(event.envelope, rejection, isMismatch ? .admit : .decode)
        case .failure(let failure): return remedy(of: failure, vouched)
        }
    }

    private var missingIdentity: Triage {
        let missing = Rejection(
            .identityMissing,
            "the app takes only events that vouch for their user; let the edge send \"vouched\" beside the report")
        return .reject(event.envelope, missing, .admit)
    }

    private func remedy(of failure: AuthenticationFailure, _ vouched: VouchedUser?) -> Triage {
        if let vouched, let subject = failure.subject, !vouched.covers(subject) {
            // An adapter that does not compare must not be a way round.
            return .reject(event.envelope, .identityMismatch, .admit)
        }
        let finding = TokenProof(keys: isReissue ? [] : keys[app.keyRing] ?? [], adapter: app.adapter)
            .authorship(of: failure.failedToken, for: failure.subject)
        let signer = finding.signer
        var envelope = event.envelope
        envelope.reason = failure.reason
        if !isReissue, !envelope.hasWaited { envelope.signer = signer }
        switch failure.remedy(signedBy: signer) {
        case .notForUs(let why): return .skip(envelope, why)
        case .notFixable(let why):
            let rejection = Rejection(.notFixableByToken, "\(failure.reason): \(why)")
            guard failure.evidence == .key, let subject = failure.subject else {
                return .reject(envelope, rejection, .resolve)
            }
            return .blameKey(
                request(for: subject, failure, envelope, remedy: .mintOnce, finding, vouched), rejection,
                version: finding.version)
        case .mint, .mintOnce: break
        }
        if app.proof == .ownToken, !isReissue, !signer.isOurs, !failure.hadNoToken {
            let unproven = Rejection(
                .unproven,
                "the app takes only reports that hold a token signed by a version of \(app.keyRing) for their user")
            return .reject(envelope, unproven, .admit)
        }
        if let deadline = failure.deadline, deadline <= now {
            return .reject(
                envelope, Rejection(.challengeExpired, "the challenge's deadline, \(deadline), has passed"), .admit)
        }
        guard let subject = failure.subject else {
            return .reject(envelope, Rejection(.malformedReport, "the report names nobody to mint for"), .decode)
        }
        let remedy = failure.remedy(signedBy: signer)
        return .mint(request(for: subject, failure, envelope, remedy: remedy, finding, vouched))
    }

    private func request(
        for subject: Subject, _ failure: AuthenticationFailure, _ envelope: Envelope, remedy: Remedy,
        _ finding: TokenProof.Authorship, _ vouched: VouchedUser?
    ) -> MintRequest {
        MintRequest(
            envelope, app, subject, failure, remedy: remedy,
            isOfActiveKey: finding.signer == .active && finding.isUnexpired(at: now, for: failure.evidence),
            grants: vouched?.grants,
            observedAt: ObservedTime.believed(observedAt, producedAt: event.envelope.producedAt, at: now))
    }
}

extension VouchedUser {
    /// Whether `reported` names nobody but this user: the same id, or some of the same ids.
    fileprivate func covers(_ reported: Subject) -> Bool {
        switch (subject.identity, reported.identity) {
        case (.user(let vouched), .user(let user)): vouched.hasSameBytes(as: user)
        case (.identifiers(let vouched), .identifiers(let identifiers)):
            identifiers.allSatisfy { reported in
                vouched.contains {
                    $0.name.hasSameBytes(as: reported.name) && $0.value.hasSameBytes(as: reported.value)
                }
            }
        default: false
        }
    }
}

/// When a failure was observed, as far as a device's clock is believed.
enum ObservedTime {
    /// How far a device's clock may be away from the record's own timestamp, in microseconds: a minute. A clock that is further
    /// behind would make every failure look older than the token that answers it.
    static let bound: Int64 = 60_000_000

    /// `observed`, moved towards `produced` until it is within the bound, and never after `now`: a producer's clock that is ahead would
    /// make an old failure look newer than the token that answers it.
    static func believed(_ observed: UnixTime, producedAt produced: UnixTime?, at now: UnixTime) -> UnixTime {
        guard let produced = produced.map({ min($0, now) }) else { return min(observed, now) }
        let near = min(
            max(observed, produced.advanced(byMicroseconds: -bound)), produced.advanced(byMicroseconds: bound))
        return min(near, now)
    }
}
