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
    private(set) var last: Int64 = 0
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

/// A cache of the apps' active keys and token forms, so that a batch of a thousand apps needs no look-up by name. Each
/// app must outlive the cache, or `keep` must drop the app first.
private struct KnownKeys {
    private struct Known {
        let id: ObjectIdentifier
        var key: SigningKeyReference?
        /// The number of the refresh at which the key was looked up.
        var look: Int
        var form: TokenForm?
        var frame: TokenFrame?
    }

    private var known: [Known] = []
    /// The places in `known`, by the app's identity.
    private var places: [ObjectIdentifier: Int] = [:]
    /// The place of the latest look-up: events of one app often follow one another.
    private var last = 0
    private var revision: Int?
    private var look = 0
    var count: Int { known.count }

    mutating func keep(only kept: [App]) {
        let ids = Set(kept.map(ObjectIdentifier.init))
        known.removeAll { !ids.contains($0.id) }
        places = Dictionary(known.enumerated().map { ($1.id, $0) }) { first, _ in first }
        last = 0
    }

    /// Looks keys up again if `revision`, the signer's, shows that they may have changed.
    mutating func look(at revision: Int?) {
        if revision == nil || revision != self.revision { look &+= 1 }
        self.revision = revision
    }

    /// Returns the key that signs for `app`, as of the latest refresh; nil if its ring has none.
    mutating func key(of app: App, from signing: any SigningPort) -> SigningKeyReference? {
        let place = place(of: app)
        if known[place].look == look { return known[place].key }
        let key = signing.activeKey(of: app.keyRing)
        if known[place].key != key { (known[place].form, known[place].frame) = (nil, nil) }
        (known[place].key, known[place].look) = (key, look)
        return key
    }

    /// Returns the form of `app`'s tokens by `recipe` and `key` with the validity `life`. Reuses the latest form or its
    /// shared parts.
    ///
    /// - Throws: the errors of `TokenForm`.
    mutating func form(
        of app: App, _ recipe: Recipe, _ key: SigningKeyReference, valid life: Validity
    ) throws(Rejection) -> TokenForm {
        let place = place(of: app)
        let isKnown = known[place].key == key
        let form: TokenForm
        if isKnown, let last = known[place].form, last.recipe === recipe {
            if last.life == life { return last }
            form = last.valid(life)
        } else {
            form = try TokenForm(recipe, keyID: key.keyID, valid: life)
        }
        if isKnown { known[place].form = form }
        return form
    }

    /// Returns the frame of `app`'s tokens that `key` signs within the second `seconds`.
    ///
    /// - Parameter text: the second, in the form of RFC 3339.
    mutating func frame(
        of app: App, _ key: SigningKeyReference, issuedAt seconds: Int64, _ text: [UInt8]
    ) -> TokenFrame {
        let place = place(of: app)
        let isKnown = known[place].key == key
        if isKnown, let frame = known[place].frame, frame.seconds == seconds { return frame }
        let frame = TokenFrame(app, key, issuedAt: seconds, text)
        if isKnown { known[place].frame = frame }
        return frame
    }

    private mutating func place(of app: App) -> Int {
        let id = ObjectIdentifier(app)
        if last < known.count, known[last].id == id { return last }
        if let place = places[id] {
            last = place
        } else {
            last = known.count
            places[id] = last
            // A refresh number that never occurred, so that the key is looked up.
            known.append(Known(id: id, key: nil, look: look &- 1))
        }
        return last
    }
}

/// The share by which a subject's token lifetime is shortened, so that tokens that are minted together do not expire
/// together.
///
/// Without a spread, all tokens of a rotation expire at about the same time. With a spread of 0.1, their expiry times
/// are spread over a tenth of the lifetime. All workers shorten the same subject's tokens by the same share.
struct LifetimeSpread {
    /// The number of different cuts, at equal distances: tokens of one second share the text of their times in groups.
    private static let steps: Int64 = 64

    private let share: Double

    init(_ share: Double) { self.share = share }

    /// Returns the lifetime of `subject`'s tokens, in seconds: at most `lifetime`, and at least the vendor's minimum.
    func life(of subject: [UInt8], lifetime: Int64, allowed: ClosedRange<Int64>) -> Int64 {
        guard share > 0 else { return lifetime }
        let step = Double(Self.fingerprint(of: subject) % UInt64(Self.steps)) / Double(Self.steps)
        let cut = Int64((Double(lifetime) * min(share, 1) * step).rounded(.down))
        return min(lifetime, max(allowed.lowerBound, lifetime - cut))
    }

    /// Returns the 64-bit FNV-1a hash with its upper half folded in: equal in every process, and evenly spread in the
    /// lowest bits.
    private static func fingerprint(of bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash ^ hash >> 32
    }
}

/// A generator that wraps an `any` generator for functions that need a concrete type.
struct AnyGenerator: RandomNumberGenerator, Sendable {
    var base: any RandomNumberGenerator & Sendable
    mutating func next() -> UInt64 { base.next() }
}
