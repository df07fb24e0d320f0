public import AdapterKit
public import AdapterStubs

/// OneSignal's user API in small: the identity of a user and the whole user, for one app.
///
/// With `lookup_auth: minted_jwt` it verifies the bearer token for the user in the path, else it compares `Authorization`
/// with the setting's. A user who is gone is a 404, like one who was never there.
public struct OneSignalStub: VendorStub {
    private let setting: StubSetting
    private let adapter: OneSignalAdapter
    /// 1 request a second for an app (OneSignal, "Rate limits").
    private var limit = StubLimit(LookupTerms.Rate(1))

    /// A stub for `adapter`'s app.
    public init(_ setting: StubSetting, for adapter: OneSignalAdapter) {
        self.setting = setting
        self.adapter = adapter
    }

    /// Returns the vendor's answer to `request`.
    public mutating func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
        let parts = request.pathParts
        guard request.method == "GET", parts.count == 6 || (parts.count == 7 && parts[6] == "identity"),
            parts[0] == "apps", Array(parts[2..<5]) == ["users", "by", "external_id"]
        else { return Self.error(404, "Not found.") }
        guard isAllowed(request, app: parts[1], user: parts[5], at: time) else {
            return Self.error(401, "Unauthorized.")
        }
        if let wait = limit.admit(at: time) {
            return Self.error(429, "API rate limit exceeded.", headers: [("retry-after", String(wait))])
        }
        guard setting.standing(of: parts[5]) == .known else { return Self.error(404, "User not found.") }
        return StubResponse(status: 200, json: user(parts[5], app: parts[1], isWhole: parts.count == 6))
    }

    private func isAllowed(_ request: StubRequest, app: String, user: String, at time: UnixTime) -> Bool {
        guard app.hasSameBytes(as: adapter.settings.appID), let authorization = request.header("authorization") else {
            return false
        }
        switch adapter.settings.lookupAuthorization {
        case .key: return authorization.hasSameBytes(as: setting.authorization)
        case .mintedJWT:
            let scheme = "Bearer "
            guard authorization.hasPrefix(scheme) else { return false }
            let token = Array(authorization.utf8.dropFirst(scheme.utf8.count))
            return adapter.verify(token, against: setting.keys, expecting: Subject(user: user), at: time).isAccepted
        }
    }

    /// A user with an address of each kind that a token can name, one of them opted out, and a device.
    private func user(_ id: String, app: String, isWhole: Bool) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.name("identity")
        json.beginObject()
        json.member("external_id", id)
        json.member("onesignal_id", "8c1f5d0a-1111-4222-8333-444444444444")
        json.endObject()
        if isWhole {
            json.name("properties")
            json.raw(#"{"tags":{},"last_active":1800000000}"#)
            json.name("subscriptions")
            json.beginArray()
            let email = "\(PercentEncoding.encoded(id))@example.com"
            let kinds = [("Email", email, true), ("SMS", "+15550100", false), ("iOSPush", "0f0f", true)]
            for (index, kind) in kinds.enumerated() {
                json.beginObject()
                json.member("id", "subscription-\(index)")
                json.member("app_id", app)
                json.member("type", kind.0)
                json.member("token", kind.1)
                json.name("enabled")
                json.bool(kind.2)
                json.endObject()
            }
            json.endArray()
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func error(
        _ status: Int, _ message: String, headers: [(name: String, value: String)] = []
    ) -> StubResponse {
        StubResponse(status: status, headers: headers, json: "{\"errors\":[\"\(message)\"]}")
    }
}
