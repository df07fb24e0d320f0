import Access
import AdapterKit
import WorkerConfiguration

/// An app as the gateway serves it, with the naming of its users.
struct PickupApp: Sendable {
    let name: String
    let adapter: any Adapter
    /// The lifetime of the app's tokens, in seconds.
    let lifetime: Int64
    /// The topic of the app's events.
    let topic: String
    /// The sessions that open the app; empty for an app that backends alone reach.
    let ways: [SessionWay]
    /// The id's name, for vendors that name users by several ids.
    private let id: String?

    init(_ app: Configuration.App, _ pickup: Configuration.Pickup, topic: String) {
        name = app.name
        adapter = app.adapter
        lifetime = app.lifetime
        self.topic = topic
        ways = pickup.ways(into: app.name).map { way in
            SessionWay(kind: way.session, issuer: way.issuer, audience: way.audience, claim: way.claim)
        }
        id = pickup.apps[app.name]?.id
    }

    /// Returns the members that vouch for `user`, as the adapter names them.
    func vouched(_ user: String) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        if let id {
            json.name("ids")
            json.beginObject()
            json.member(id, user)
            json.endObject()
        } else {
            json.member("user", user)
        }
        json.endObject()
        return json.bytes
    }

    /// Returns the subject that `members` vouch for.
    ///
    /// - Throws: `Problem` where the members are not the adapter's.
    func subject(vouchedBy members: [UInt8]) throws(Problem) -> Subject {
        do throws(Rejection) {
            guard let root = try? JSONDocument(parsing: members, limits: .init(bytes: 16 << 10, depth: 8)).root else {
                throw Rejection(.malformedEvent, "what vouches for the user is not JSON")
            }
            return try adapter.user(vouchedBy: root).subject
        } catch { throw Problem(error.code, error.detail) }
    }

    /// Requires that `members` have those that every token of the app needs, beside the user.
    ///
    /// - Throws: `Problem` where one is missing.
    func requireMembers(vouchedBy members: [UInt8]) throws(Problem) {
        guard needsMembers else { return }
        let root = try? JSONDocument(parsing: members, limits: .init(bytes: 16 << 10, depth: 8)).root
        let vouched = root.flatMap { try? adapter.user(vouchedBy: $0) }
        if let refusal = adapter.refusalOfMissingMembers(in: vouched) { throw Problem(refusal.code, refusal.detail) }
    }

    /// Whether every token of the app needs members beside the user, which a request for a token must then vouch for.
    var needsMembers: Bool { !adapter.requiredVouched.isEmpty }

    /// Returns the value of a re-issue request: `{"user":…}` or `{"ids":{…}}`.
    static func request(for subject: Subject) -> [UInt8] {
        switch subject.identity {
        case .user(let user):
            var json = JSONWriter()
            json.string(user)
            return Reissue.request(for: json.bytes)
        case .identifiers:
            return Reissue.request(for: ByteWriter.bytes { subject.write(to: &$0) })
        }
    }
}
