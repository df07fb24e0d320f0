import AdapterKit

/// The requests to OneSignal's user API, and the meaning of its answers ("View user", "View user identity").
struct OneSignalLookup {
    let appID: String

    /// One request a user. A user without a single id cannot be asked about, nor could a token be made.
    func requests(for subjects: [Subject], mode: LookupMode) -> Lookup {
        let users = subjects.compactMap(\.user).filter { !$0.isEmpty }
        guard mode != .off, !users.isEmpty, users.count == subjects.count else { return .none }
        return .requests(
            users.enumerated().map { index, user in
                LookupRequest(method: .get, path: path(to: user, mode), subjects: index..<(index + 1))
            })
    }

    /// Returns the verdict of `response` on `subject`. OneSignal has no answer of its own for a deleted user: that is a
    /// 404 as well.
    func verdict(on response: LookupResponse, for subject: Subject) -> LookupVerdict {
        switch response.status {
        case 200: verdict(on: response.body, for: subject)
        case 404: .unknown
        case let status: .unanswered(LookupFailure(status: status))
        }
    }

    // MARK: The question

    private func path(to user: String, _ mode: LookupMode) -> String {
        let whole =
            "/apps/\(PercentEncoding.pathSegment(appID))/users/by/external_id/\(PercentEncoding.pathSegment(user))"
        return mode == .enrich ? whole : whole + "/identity"
    }

    // MARK: The answer

    private func verdict(on body: [UInt8], for subject: Subject) -> LookupVerdict {
        guard let root = try? JSONDocument(parsing: body).root,
            let named = root["identity"]?["external_id"]?.string, let subscriptions = Subscriptions(root)
        else { return .unanswered(LookupFailure(status: 200)) }
        guard named.hasSameBytes(as: subject.user) else {
            return .unanswered(LookupFailure(.mismatched, "the answer's external_id is not the one asked for"))
        }
        return .exists(Enrichment(subscriptions.claim.map { [Subscriptions.name: $0] } ?? [:]))
    }

    /// A user's Email and SMS subscriptions as the claim wants them.
    ///
    /// Disabled ones are among them: `enabled` is whether OneSignal may send there, and the claim lists the addresses
    /// that the device may speak for. A user who opted out must be able to opt in again.
    private struct Subscriptions {
        /// The enrichment's name, and the answer's member.
        static let name = "subscriptions"

        /// The claim's value; nil where the user has none.
        let claim: [UInt8]?

        /// The subscriptions of a user, which an answer may leave out; nil where it has them in another form than the
        /// documented one.
        init?(_ user: JSONValue) {
            guard let list = user[Self.name], !list.isNull else {
                claim = nil
                return
            }
            guard list.isArray else { return nil }
            var seen: Set<[UInt8]> = []
            let pairs = list.elements.compactMap(Self.pair).filter { seen.insert($0).inserted }
            var json = JSONWriter()
            json.beginArray()
            for pair in pairs { json.raw(pair) }
            json.endArray()
            claim = pairs.isEmpty ? nil : json.bytes
        }

        /// A subscription's type and token; nil for a push subscription, and for one without an address.
        private static func pair(_ subscription: JSONValue) -> [UInt8]? {
            guard let type = subscription["type"]?.string, type == "Email" || type == "SMS",
                let token = subscription["token"]?.string, !token.isEmpty
            else { return nil }
            var json = JSONWriter()
            json.beginObject()
            json.member("type", type)
            json.member("token", token)
            json.endObject()
            return json.bytes
        }
    }
}
