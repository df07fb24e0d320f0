import AdapterKit

/// What the control topic says of one app: suspended, paused, or neither.
///
/// The topic is compacted and its key is the app, so that the last record says how things are: for every worker, and over every
/// restart. Value: `{"state":"suspended","since":"2026-11-24T03:00:00Z","by":"…","why":"…","users":12,"key_version":"2026-11"}`;
/// a null value lets the app's events go on.
public struct ControlRecord: Sendable, Equatable {
    /// The app.
    public let app: String
    /// What it is held by; nil where its events go on.
    public let suspension: Suspension?

    /// The app `app` is held by `suspension`.
    public init(app: String, suspension: Suspension?) {
        self.app = app
        self.suspension = suspension
    }

    /// Reads a record of the topic; nil where it is none of ours, which changes nothing.
    public init?(key: [UInt8]?, value: [UInt8]?) {
        guard let key, let app = String(validating: key, as: UTF8.self), !app.isEmpty else { return nil }
        self.app = app
        guard let value else {
            suspension = nil
            return
        }
        guard let root = try? JSONDocument(parsing: value, limits: .init(bytes: 16 << 10, depth: 4)).root,
            let cause = root["state"]?.string.flatMap(Suspension.Cause.init(rawValue:)),
            let since = root["since"]?.string.flatMap(RFC3339.parse)
        else { return nil }
        suspension = Suspension(
            app: app, cause: cause, since: since, by: root["by"]?.string ?? "", why: root["why"]?.string ?? "",
            users: root["users"]?.integer.flatMap { Int(exactly: $0) } ?? 0, keyVersion: root["key_version"]?.string)
    }

    /// The record's key.
    public var key: [UInt8] { Array(app.utf8) }

    /// The record's value; nil, a tombstone, where the app's events go on.
    public var value: [UInt8]? {
        guard let suspension else { return nil }
        var json = JSONWriter(capacity: 160)
        json.beginObject()
        json.member("state", suspension.cause.rawValue)
        json.member("since", suspension.since.description)
        json.member("by", suspension.by)
        json.member("why", suspension.why)
        if suspension.cause == .suspended { json.member("users", Int64(suspension.users)) }
        if let version = suspension.keyVersion { json.member("key_version", version) }
        json.endObject()
        return json.bytes
    }
}
