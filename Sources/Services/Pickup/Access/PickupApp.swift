import Access
import AdapterKit
import WorkerConfiguration

/// An app as the gateway serves it, with the naming of its users.
struct PickupApp: Sendable {
    let name: String
    let adapter: any Adapter
    /// The lifetime of the app's tokens, in seconds.
    let lifetime: Int64
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

/// The apps of a configuration as devices see them: the sessions that open each app.
struct DeviceApps {
    private let apps: [String]
    private let pickup: Configuration.Pickup

    init(_ configuration: Configuration, _ pickup: Configuration.Pickup) {
        apps = configuration.apps.map(\.name)
        self.pickup = pickup
    }

    /// Requires that at least one app is open to sessions, if there are sessions.
    ///
    /// - Throws: `PickupError` with the lines to add.
    func requireOne() throws(PickupError) {
        guard let session = pickup.sessions.first, pickup.apps.isEmpty else { return }
        let lines = apps.map { "\($0): { issuer: \"\(session.issuer)\" }" }.joined(separator: ", ")
        throw PickupError(
            "pickup.\(session.name) opens no app; name the apps that devices reach: pickup: apps: { \(lines) }")
    }

    /// A line for each app.
    var lines: [String] {
        apps.map { app in
            let ways = pickup.ways(into: app).map { way in
                let audience = way.audience.map { "audience \($0)" } ?? "any audience"
                return "pickup.\(way.session) (issuer \(way.issuer), \(audience), user \(way.claim))"
            }
            let keys = pickup.apiKeys.filter { $0.apps.isEmpty || $0.apps.contains(app) }.map(\.name)
            let backends = keys.isEmpty ? "no API key" : "API keys \(keys.joined(separator: ", "))"
            let devices =
                ways.isEmpty ? "not open to devices: pickup.apps does not name it" : ways.joined(separator: ", ")
            return "app \(app): \(devices); \(backends)"
        }
    }
}
