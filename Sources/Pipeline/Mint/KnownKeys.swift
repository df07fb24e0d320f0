import AdapterKit

/// The apps' keys, and the forms of their tokens, as they were when they were last asked for: a thousand apps' keys are not
/// looked up by their names for each batch. The apps must outlive it, or be forgotten by `keep` before they end.
struct KnownKeys {
    private struct Known {
        let key: SigningKeyReference?
        /// As of which look at the signer.
        var look: Int
        /// The last form of the app's tokens.
        var form: TokenForm?
    }

    /// By the app's identity.
    private var apps: [ObjectIdentifier: Known] = [:]
    private var revision: Int?
    private var look = 0

    /// How many apps it knows.
    var count: Int { apps.count }

    /// Forgets every app but these.
    mutating func keep(only kept: [App]) {
        let ids = Set(kept.map(ObjectIdentifier.init))
        apps = apps.filter { ids.contains($0.key) }
    }

    /// Keys are asked for again where `revision`, the signer's, says that they may have changed.
    mutating func look(at revision: Int?) {
        if revision == nil || revision != self.revision { look &+= 1 }
        self.revision = revision
    }

    /// The key that signs for `app`, as of the last look; nil where its ring has none.
    mutating func key(of app: App, from signing: any SigningPort) -> SigningKeyReference? {
        let id = ObjectIdentifier(app)
        let known = apps[id]
        if let known, known.look == look { return known.key }
        let key = signing.activeKey(of: app.keyRing)
        apps[id] = Known(key: key, look: look, form: known?.key == key ? known?.form : nil)
        return key
    }

    /// The form of `app`'s tokens by `recipe` under `key` that live for `life`: the last one, or what is the same in it.
    ///
    /// - Throws: as `TokenForm`.
    mutating func form(
        of app: App, _ recipe: Recipe, _ key: SigningKeyReference, valid life: Validity
    ) throws(Rejection) -> TokenForm {
        let id = ObjectIdentifier(app)
        let known = apps[id]
        let isKnown = known?.key == key
        let form: TokenForm
        if isKnown, let last = known?.form, last.recipe === recipe {
            if last.life == life { return last }
            form = last.valid(life)
        } else {
            form = try TokenForm(recipe, keyID: key.keyID, valid: life)
        }
        if isKnown { apps[id]?.form = form }
        return form
    }
}
