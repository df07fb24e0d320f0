import AdapterKit

/// Turns subjects into signing requests: writes recipe, times and key straight to bytes.
///
/// The minter fills in the parts that an app's tokens of one key share once and caches them. Each app must outlive the
/// minter or its cache entry.
struct Minter {
    private var known = KnownKeys()
    private var random: AnyGenerator
    var versions = VersionClock()
    /// The second that was formatted last, and its text: thousands of tokens share it.
    private var written: (seconds: Int64, text: [UInt8]) = (0, Array(UnixTime(seconds: 0).description.utf8))
    /// The lifetime of a look-up's credential, if the vendor allows it, in seconds.
    private static let credentialLife: Int64 = 300

    init(random: any RandomNumberGenerator & Sendable) { self.random = AnyGenerator(base: random) }

    /// Begins batch `number`. Looks keys up again if `revision`, the signer's, shows that they may have changed.
    mutating func begin(_ number: Int, _ revision: Int?) {
        known.look(at: revision)
        versions.begin(number)
    }

    /// Drops the cache entries of all apps but these. A new app could get a freed app's address in memory, and with it
    /// that app's keys.
    mutating func keep(only apps: [App]) { known.keep(only: apps) }

    /// The number of apps in the cache.
    var knownApps: Int { known.count }

    /// Returns the key that signs for `app` in this batch; nil if its ring has none.
    mutating func key(of app: App, from signing: any SigningPort) -> SigningKeyReference? {
        known.key(of: app, from: signing)
    }

    /// Returns the ending of `request` if the ring has no active key.
    func keyUnavailable(for request: MintRequest) -> Ending {
        .failed(Rejection(.keyUnavailable, "the key ring \(request.app.keyRing) has no active key"), .mint)
    }

    /// Drafts the token for `request`, the event at place `index` of its batch. Returns an ending if `key` cannot sign
    /// the token or retires too soon, or if the subject lacks a value that a claim needs.
    mutating func draft(
        _ request: MintRequest, at index: Int, on ticket: Admission.Ticket, with key: SigningKeyReference,
        adding found: Enrichment, at now: UnixTime
    ) -> Disposition<Draft> {
        do throws(Rejection) {
            let recipe = try recipe(for: request.subject, request.app, key)
            let expiry = try expiry(request.app, request.subjectKey, recipe, key, now)
            let life = Validity(from: now.seconds, to: expiry)
            let form = try known.form(of: request.app, recipe, key, valid: life)
            // The edge's grants are the user's own and newer than the vendor's data.
            let enrichment = request.grants.map { found.overridden(by: $0) } ?? found
            let input = try form.signingInput(
                for: request.subject, adding: enrichment, isFinishedInPlace: false, random: &random)
            guard let version = versions.next(at: now) else { throw Self.clockBehindVersions }
            let frame = known.frame(of: request.app, key, issuedAt: life.issuedAt, text(of: now))
            return .next(
                Draft(
                    index, request, ticket, key: key, input: input, valid: life, frame: frame,
                    version: version))
        } catch { return .ended(.failed(error, .mint), of: request.event) }
    }

    private static let clockBehindVersions = Rejection(
        .mintFailed, "this worker's clock was set back by more than a day")

    private mutating func text(of time: UnixTime) -> [UInt8] {
        if written.seconds != time.seconds {
            written = (time.seconds, Array(UnixTime(seconds: time.seconds).description.utf8))
        }
        return written.text
    }

    /// Returns a signing request for a look-up's credential: a token for `subject` that only the vendor receives. Its
    /// lifetime is as short as the vendor allows.
    mutating func credential(
        for app: App, _ subject: Subject, with key: SigningKeyReference, at now: UnixTime
    ) throws(Rejection) -> SigningRequest {
        let recipe = try recipe(for: subject, app, key)
        let seconds = max(recipe.lifetime.allowed.lowerBound, min(Self.credentialLife, app.lifetime))
        let life = Validity(from: now.seconds, to: now.advanced(bySeconds: seconds).seconds)
        let form = try TokenForm(recipe, keyID: key.keyID, valid: life)
        return SigningRequest(key: key, input: try form.signingInput(for: subject, random: &random))
    }

    private func recipe(
        for subject: Subject, _ app: App, _ key: SigningKeyReference
    ) throws(Rejection) -> Recipe {
        let recipe = app.adapter.recipe(for: subject)
        guard key.algorithm == recipe.algorithm else {
            throw Rejection(
                .keyUnavailable,
                "the active key of \(app.keyRing) is for \(key.algorithm.rawValue), not \(recipe.algorithm.rawValue)")
        }
        return recipe
    }

    /// Returns the expiry by the configured lifetime, or the key's own end if that is earlier. Throws if the rest is
    /// shorter than the vendor's minimum.
    private func expiry(
        _ app: App, _ subject: [UInt8], _ recipe: Recipe, _ key: SigningKeyReference, _ now: UnixTime
    ) throws(Rejection) -> Int64 {
        let life = LifetimeSpread(app.spread).life(
            of: subject, lifetime: app.lifetime, allowed: recipe.lifetime.allowed)
        let wanted = now.seconds + life
        guard let retireAfter = key.retireAfter, retireAfter.seconds < wanted else { return wanted }
        guard retireAfter.seconds - now.seconds >= recipe.lifetime.allowed.lowerBound else {
            throw Rejection(
                .keyUnavailable,
                "the active key of \(app.keyRing) retires at \(retireAfter), too soon for another token")
        }
        return retireAfter.seconds
    }
}

/// A source of versions that only grow: microseconds since 1970, or the last version plus one if the clock stood still
/// or went back.
///
/// No version is above `ReadBackBound` by this clock, because no reader would accept it. A version that is not published
/// is forgotten: a clock that was far ahead for a moment must not raise the versions after it.
struct VersionClock {
    /// The highest version so far.
    private(set) var last: Int64 = 0
    /// The highest version that may be published.
    private var published: Int64 = 0
    /// The highest versions of the batches that are not confirmed, in order.
    private var open: [(batch: Int, last: Int64)] = []
    private var batch = 0

    mutating func raise(above version: Int64) { (last, published) = (max(last, version), max(published, version)) }

    /// Begins batch `number`.
    mutating func begin(_ number: Int) { batch = number }

    /// Returns the next version; nil if no reader would accept it, because this clock was set back.
    mutating func next(at now: UnixTime) -> Int64? {
        let version = max(last == .max ? .max : last + 1, now.microseconds)
        guard ReadBackBound.admits(version: version, at: now) else { return nil }
        last = version
        if open.last?.batch == batch { open[open.count - 1].last = version } else { open.append((batch, version)) }
        return version
    }

    /// Returns the highest version up to batch `number`.
    func last(throughBatch number: Int) -> Int64 { open.last { $0.batch <= number }?.last ?? published }

    /// Confirms the versions of the batches up to `number`, which were published.
    mutating func confirm(throughBatch number: Int) {
        published = max(published, last(throughBatch: number))
        open.removeAll { $0.batch <= number }
    }

    /// Forgets the unconfirmed versions, unless some of them may be published.
    mutating func rollBack(keepsVersions: Bool) {
        if keepsVersions { published = last }
        last = published
        open.removeAll()
    }
}
