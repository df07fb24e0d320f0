import AdapterKit

/// Turns subjects into signing requests: recipe, times and key put together, straight into bytes.
///
/// What an app's tokens of one key and one second share is filled in once and kept. The apps must outlive the minter.
struct Minter {
    /// A form, and the key it was filled in for.
    private struct Form {
        let key: SigningKeyReference
        let form: TokenForm
    }

    /// The last form of each app, by the app's identity: an app signs with one key at a time.
    private var forms: [ObjectIdentifier: Form] = [:]
    private var random: AnyGenerator
    private var versions = VersionClock()
    /// The second that was written last, and how: thousands of tokens share it.
    private var written: (seconds: Int64, text: [UInt8]) = (0, Array(UnixTime(seconds: 0).description.utf8))
    /// How long a look-up's credential lives where the vendor allows it, in seconds.
    private static let credentialLife: Int64 = 300

    init(random: any RandomNumberGenerator & Sendable) { self.random = AnyGenerator(base: random) }

    /// Every version from now on is above `version`.
    mutating func raiseVersions(above version: Int64) { versions.raise(above: version) }

    /// A token that lacks its signature alone.
    struct Draft: Sendable {
        let request: SigningRequest
        let token: ReplacementToken
    }

    mutating func draft(
        _ order: MintOrder, of event: Event, with key: SigningKeyReference, adding enrichment: Enrichment,
        at now: UnixTime
    ) throws(Rejection) -> Draft {
        let (app, subject) = (order.app, order.subject)
        let recipe = try recipe(for: subject, app, key)
        let expiresAt = try expiry(app, recipe, key, now)
        let form = try form(of: app, recipe, key, from: now.seconds, to: expiresAt)
        let input = try form.signingInput(for: subject, adding: enrichment, random: &random)
        let token = ReplacementToken(
            event: event, app: app, subject: subject, key: order.subjectKey, algorithm: recipe.algorithm,
            keyID: key.version, issuedAt: now.seconds, issuedAtText: text(of: now), expiresAt: expiresAt,
            version: versions.next(at: now))
        return Draft(request: SigningRequest(key: key, input: input), token: token)
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
        let life = max(recipe.lifetime.allowed.lowerBound, min(Self.credentialLife, app.lifetime))
        let form = try TokenForm(
            recipe, keyID: key.keyID, issuedAt: now.seconds, expiresAt: now.advanced(bySeconds: life).seconds)
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
        _ app: App, _ recipe: Recipe, _ key: SigningKeyReference, _ now: UnixTime
    ) throws(Rejection) -> Int64 {
        let wanted = now.seconds + app.lifetime
        guard let retireAfter = key.retireAfter, retireAfter.seconds < wanted else { return wanted }
        guard retireAfter.seconds - now.seconds >= recipe.lifetime.allowed.lowerBound else {
            throw Rejection(
                .keyUnavailable,
                "the active key of \(app.keyRing) retires at \(retireAfter), too soon for another token")
        }
        return retireAfter.seconds
    }

    private mutating func form(
        of app: App, _ recipe: Recipe, _ key: SigningKeyReference, from issuedAt: Int64, to expiresAt: Int64
    ) throws(Rejection) -> TokenForm {
        let id = ObjectIdentifier(app)
        if let last = forms[id], last.key == key, last.form.recipe === recipe, last.form.issuedAt == issuedAt,
            last.form.expiresAt == expiresAt
        {
            return last.form
        }
        let form = try TokenForm(recipe, keyID: key.keyID, issuedAt: issuedAt, expiresAt: expiresAt)
        forms[id] = Form(key: key, form: form)
        return form
    }
}

/// Versions that only grow: microseconds since 1970, or one more than the last where the clock stood still or went back.
struct VersionClock {
    private var last: Int64 = 0

    mutating func raise(above version: Int64) { last = max(last, version) }

    mutating func next(at now: UnixTime) -> Int64 {
        last = max(last == .max ? .max : last + 1, now.microseconds)
        return last
    }
}
