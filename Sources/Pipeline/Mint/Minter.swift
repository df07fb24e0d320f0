import AdapterKit

/// Turns subjects into signing requests: recipe, times and key put together, straight into bytes.
///
/// What an app's tokens of one key share is filled in once and kept. The apps must outlive the minter, or what it knows of them.
struct Minter {
    private var known = KnownKeys()
    private var random: AnyGenerator
    private var versions = VersionClock()
    /// The second that was written last, and how: thousands of tokens share it.
    private var written: (seconds: Int64, text: [UInt8]) = (0, Array(UnixTime(seconds: 0).description.utf8))
    /// How long a look-up's credential lives where the vendor allows it, in seconds.
    private static let credentialLife: Int64 = 300

    init(random: any RandomNumberGenerator & Sendable) { self.random = AnyGenerator(base: random) }

    /// The highest version given so far, or that is to be exceeded.
    var highestVersion: Int64 { versions.last }

    /// Every version from now on is above `version`.
    mutating func raiseVersions(above version: Int64) { versions.raise(above: version) }

    /// A batch begins. Keys are asked for again where `revision`, the signer's, says that they may have changed.
    mutating func look(at revision: Int?) { known.look(at: revision) }

    /// Forgets what it knows of all apps but these: another one could get the place of one that is no more in memory, and with
    /// it its keys.
    mutating func keep(only apps: [App]) { known.keep(only: apps) }

    /// How many apps it knows something of.
    var knownApps: Int { known.count }

    /// The key that signs for `app` in this batch; nil where its ring has none.
    mutating func key(of app: App, from signing: any SigningPort) -> SigningKeyReference? {
        known.key(of: app, from: signing)
    }

    /// Returns the end of `request` where no key may sign for it.
    func keyUnavailable(for request: MintRequest) -> Ending {
        .failed(Rejection(.keyUnavailable, "the key ring \(request.app.keyRing) has no active key"), .mint)
    }

    /// Drafts the token that `request`, the event at place `index` of its batch, calls for; returns its end where `key` cannot sign it or retires
    /// too soon, or where the subject lacks what a claim needs.
    mutating func draft(
        _ request: MintRequest, at index: Int, on ticket: Admission.Ticket, with key: SigningKeyReference,
        adding found: Enrichment, at now: UnixTime
    ) -> Disposition<Draft> {
        do throws(Rejection) {
            let recipe = try recipe(for: request.subject, request.app, key)
            let expiry = try expiry(request.app, request.subjectKey, recipe, key, now)
            let life = Validity(from: now.seconds, to: expiry)
            let form = try known.form(of: request.app, recipe, key, valid: life)
            // What the edge grants is the user's own word, and newer than what the vendor has.
            let enrichment = request.grants.map { found.overridden(by: $0) } ?? found
            let input = try form.signingInput(
                for: request.subject, adding: enrichment, isFinishedInPlace: false, random: &random)
            let frame = known.frame(of: request.app, key, issuedAt: life.issuedAt, text(of: now))
            return .next(
                Draft(
                    index, request, ticket, key: key, input: input, valid: life, frame: frame,
                    version: versions.next(at: now)))
        } catch { return .ended(.failed(error, .mint), of: request.event) }
    }

    private mutating func text(of time: UnixTime) -> [UInt8] {
        if written.seconds != time.seconds {
            written = (time.seconds, Array(UnixTime(seconds: time.seconds).description.utf8))
        }
        return written.text
    }

    /// A token for `subject` that goes to nobody but the vendor, as a look-up's credential: it lives as short as it may.
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

    /// The configured life, cut at the key's own end; what is left must still be a life the vendor's devices can use.
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

/// Versions that only grow: microseconds since 1970, or one more than the last where the clock stood still or went back.
struct VersionClock {
    private(set) var last: Int64 = 0

    mutating func raise(above version: Int64) { last = max(last, version) }

    mutating func next(at now: UnixTime) -> Int64 {
        last = max(last == .max ? .max : last + 1, now.microseconds)
        return last
    }
}
