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
    /// - Throws: `UserRow.BadRow` where the adapter accepts no such user.
    package init(
        user: [UInt8], app: String, adapter: any Adapter, id: String, at time: UnixTime
    ) throws(UserRow.BadRow) {
        guard let root = try? JSONDocument(parsing: user).root else { throw UserRow.BadRow("the user is not JSON") }
        let subject: Subject
        do throws(Rejection) { subject = try adapter.user(reissuing: root) } catch {
            throw UserRow.BadRow("\(error.code.rawValue): \(error.detail)")
        }
        key = subject.key(app: app)
        var json = JSONWriter(capacity: user.count + 160)
        json.beginObject()
        json.member("app", app)
        json.name("reissue")
        json.raw(Reissue.request(for: user))
        json.member("id", id)
        json.member("observed_at", time.description)
        json.endObject()
        value = json.bytes
    }
}
