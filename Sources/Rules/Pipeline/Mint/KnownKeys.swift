import AdapterKit

/// A cache of the apps' active keys and token forms, so that a batch of a thousand apps needs no look-up by name. Each
/// app must outlive the cache, or `keep` must drop the app first.
struct KnownKeys {
    private struct Known {
        let id: ObjectIdentifier
        var key: SigningKeyReference?
        /// The number of the refresh at which the key was looked up.
        var look: Int
        /// The latest form of the app's tokens.
        var form: TokenForm?
        /// The parts that the records of the app's tokens of one second share.
        var frame: TokenFrame?
    }

    private var known: [Known] = []
    /// The places in `known`, by the app's identity.
    private var places: [ObjectIdentifier: Int] = [:]
    /// The place of the latest look-up: events of one app often follow one another.
    private var last = 0
    private var revision: Int?
    private var look = 0

    /// The number of cached apps.
    var count: Int { known.count }

    /// Drops every app but these.
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
