package import JOSE

/// A canary's users of one app. Each app of a ring is judged by itself: a vendor may have the new key for one of them alone.
package struct RotationStratum: Sendable, Equatable {
    /// The outcome of the users.
    package struct Outcome: Sendable, Equatable, CustomStringConvertible {
        /// Users who got a token of the new version from the campaign's own event.
        package let answered: Int
        /// Users who got it from another event.
        package let superseded: Int
        /// Users whose token the vendor rejected.
        package let rejected: Int
        /// Users who asked for another token within the watch.
        package let askedAgain: Int
        /// Users that the vendor does not know any more.
        package let gone: Int

        /// A result with these counts.
        package init(answered: Int, superseded: Int, rejected: Int, askedAgain: Int = 0, gone: Int = 0) {
            self.answered = answered
            self.superseded = superseded
            self.rejected = rejected
            self.askedAgain = askedAgain
            self.gone = gone
        }

        /// The counts in a line.
        package var description: String {
            "\(answered) answered, \(superseded) superseded, \(rejected) rejected" + more
        }

        /// The counts of what is rare, as the end of a line; empty where all are 0.
        package var more: String {
            (askedAgain > 0 ? ", \(askedAgain) asked for another token" : "")
                + (gone > 0 ? ", \(gone) gone at the vendor" : "")
        }
    }

    /// The app.
    package let app: String
    /// The app's users in the canary. Each of them held a live token when the canary was made.
    package let users: Int
    /// All users of the app who held a live token then, without the users of earlier canaries.
    package let live: Int
    /// The outcome of its users; nil before the canary was judged.
    package var outcome: Outcome?

    /// The canary's `users` of `app`, out of `live` ones.
    package init(app: String, users: Int, live: Int) {
        self.app = app
        self.users = users
        self.live = live
    }
}

extension RotationStratum: CustomStringConvertible {
    /// The counts in a line.
    package var description: String {
        "\(app): \(users) of \(live.of("user")) with a live token\(outcome.map { ", \($0)" } ?? "")"
    }
}

extension RotationStratum {
    init?(_ value: JSONValue) {
        guard let app = value["app"]?.string, let users = value["users"]?.number.flatMap({ Int(exactly: $0) }),
            let live = value["live"]?.number.flatMap({ Int(exactly: $0) }), users > 0, live >= users
        else { return nil }
        self.init(app: app, users: users, live: live)
        func count(_ name: String) -> Int? { value[name]?.number.flatMap { Int(exactly: $0) } }
        if let answered = count("answered"), let superseded = count("superseded"), let rejected = count("rejected") {
            outcome = Outcome(
                answered: answered, superseded: superseded, rejected: rejected,
                askedAgain: count("asked_again") ?? 0, gone: count("gone") ?? 0)
        }
    }

    /// Writes the member `name` with `strata`; nothing where there are none.
    package static func write(_ strata: [RotationStratum], _ name: String, to json: inout JSONWriter) {
        guard !strata.isEmpty else { return }
        json.name(name)
        json.beginArray()
        for stratum in strata {
            json.beginObject()
            json.member("app", stratum.app)
            json.member("users", Int64(stratum.users))
            json.member("live", Int64(stratum.live))
            if let outcome = stratum.outcome {
                json.member("answered", Int64(outcome.answered))
                json.member("superseded", Int64(outcome.superseded))
                json.member("rejected", Int64(outcome.rejected))
                if outcome.askedAgain > 0 { json.member("asked_again", Int64(outcome.askedAgain)) }
                if outcome.gone > 0 { json.member("gone", Int64(outcome.gone)) }
            }
            json.endObject()
        }
        json.endArray()
    }

    /// Returns the strata in `value`; empty where the member is missing, and nil where it is invalid.
    static func list(_ value: JSONValue?) -> [RotationStratum]? {
        guard let value else { return [] }
        guard value.isArray else { return nil }
        let strata = value.elements.compactMap(RotationStratum.init)
        return strata.count == value.elements.count ? strata : nil
    }
}
