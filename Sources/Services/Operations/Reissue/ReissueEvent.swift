package import AdapterKit

/// An event of the bulk lane that asks for a new token: `{"app":…,"reissue":{"user":…},"id":…,"observed_at":…}`.
package struct ReissueEvent: Sendable, Equatable {
    /// The record's key: the subject's, so that a user's events keep their order.
    package let key: [UInt8]
    /// The record's value.
    package let value: [UInt8]

    /// - Parameters:
    ///   - user: a JSON string, or an object of ids by name.
    ///   - app: the app.
    ///   - adapter: the app's adapter, which decides whether it can be asked for this user.
    ///   - id: the event's id; the same row of the same job has the same id.
    ///   - time: the time of the request.
    /// - Throws: `UserRow.BadRow` where the adapter accepts no such user, and where the vendor's tokens need a member that the
    ///   edge must vouch for.
    package init(
        user: [UInt8], app: String, adapter: any Adapter, id: String, at time: UnixTime
    ) throws(UserRow.BadRow) {
        try self.init(user: user, app: app, adapter: adapter, id: id, observedAt: time.description)
    }

    /// The same for a time that is text already: a batch of events has one.
    init(
        user: [UInt8], app: String, adapter: any Adapter, id: String, observedAt: String
    ) throws(UserRow.BadRow) {
        key = try Self.key(of: user, app: app, adapter: adapter)
        // A batch job names users and vouches for nothing else.
        if let refusal = adapter.refusalOfMissingMembers(in: nil) {
            throw UserRow.BadRow("\(refusal.code.rawValue): \(refusal.detail)")
        }
        var json = JSONWriter(capacity: user.count + 160)
        json.beginObject()
        json.member("app", app)
        json.name("reissue")
        json.raw(Reissue.request(for: user))
        json.member("id", id)
        json.member("observed_at", observedAt)
        json.endObject()
        value = json.bytes
    }

    /// Returns the key of an event for `user`.
    ///
    /// - Throws: `UserRow.BadRow` where the adapter takes no such user.
    static func key(of user: [UInt8], app: String, adapter: any Adapter) throws(UserRow.BadRow) -> [UInt8] {
        guard let root = try? JSONDocument(parsing: user).root else { throw UserRow.BadRow("the user is not JSON") }
        do throws(Rejection) { return try adapter.user(reissuing: root).key(app: app) } catch {
            throw UserRow.BadRow("\(error.code.rawValue): \(error.detail)")
        }
    }
}
