public import AdapterKit
public import AdapterStubs

/// Dotdigital's REST API in small: push profiles and contacts, by whichever identifier they are asked for.
public struct DotdigitalStub: VendorStub {
    /// True if the stub answers a request over the rate limit with a 400 and `ERROR_APIUSAGE_EXCEEDED`, as the older
    /// scheme does, instead of a 429.
    public var throttlesWithBadRequest = false

    private let setting: StubSetting
    /// 5 requests a second: the real figures are not published.
    private var limit = StubLimit(DotdigitalAdapter.lookupRate)

    /// A stub with this setting.
    public init(_ setting: StubSetting) { self.setting = setting }

    /// Returns the vendor's answer to `request`.
    public mutating func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
        guard let authorization = request.header("authorization"),
            authorization.hasSameBytes(as: setting.authorization)
        else { return StubResponse(status: 401, json: #"{"message":"ERROR_UNAUTHORIZED"}"#) }
        if let wait = limit.admit(at: time) { return throttled(wait) }
        let parts = request.pathParts
        guard request.method == "GET" else { return StubResponse(status: 405) }
        if parts.count == 3, parts[0] == "cpaas", parts[1] == "profiles" {
            return profile(parts[2], includesDeleted: request.query["includeDeleted"] == "true")
        }
        if parts.count == 4, parts[0] == "contacts", parts[1] == "v3" { return contact(parts[3], by: parts[2]) }
        return StubResponse(status: 404, headers: [("content-type", "text/html")], body: Array("<html>".utf8))
    }

    private func throttled(_ wait: Int64) -> StubResponse {
        guard !throttlesWithBadRequest else {
            return StubResponse(status: 400, json: #"{"message":"ERROR_APIUSAGE_EXCEEDED"}"#)
        }
        return StubResponse(
            status: 429,
            headers: [
                ("X-RateLimit-Limit", "5"), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", String(wait)),
                ("X-RateLimit-Scope", "account"),
            ], json: #"{"errorCode":"TOO_MANY_REQUESTS","description":"The rate limit is exceeded.","details":[]}"#)
    }

    /// A profile, which the first start of a session makes; a deleted one on request, marked.
    private func profile(_ id: String, includesDeleted: Bool) -> StubResponse {
        let standing = setting.standing(of: id)
        guard standing == .known || (standing == .gone && includesDeleted) else { return StubResponse(status: 404) }
        var json = JSONWriter()
        json.beginObject()
        json.member("id", id)
        json.member("_createdOn", "2026-11-20T10:00:00.000Z")
        json.member("_updatedOn", "2026-11-20T10:00:00.000Z")
        json.member("_lastActivityOn", "2026-11-20T10:00:00.000Z")
        json.name("_systemProfile")
        json.bool(false)
        if standing == .gone {
            json.name("_deleted")
            json.bool(true)
            json.member("_deletedOn", "2026-11-21T10:00:00.000Z")
        }
        json.member("email", "user@example.com")
        json.endObject()
        return StubResponse(status: 200, json: String(decoding: json.bytes, as: UTF8.self))
    }

    /// A contact. A deleted one is not found.
    private func contact(_ value: String, by identifier: String) -> StubResponse {
        let number = Int64(value)
        if identifier == "contactId", number == nil {
            return error(400, "contacts:invalidId", "The contact id is not a number.")
        }
        guard setting.standing(of: value) == .known else {
            return error(404, "contacts:contactNotFound", "The contact was not found.")
        }
        var json = JSONWriter()
        json.beginObject()
        json.member("contactId", identifier == "contactId" ? number ?? 0 : 1001)
        json.member("status", "subscribed")
        json.member("created", "2026-11-20T10:00:00.000Z")
        json.member("updated", "2026-11-20T10:00:00.000Z")
        json.name("identifiers")
        json.beginObject()
        let others = [("email", "user@example.com"), ("mobileNumber", "+15550100")]
        for (name, text) in others where name != identifier { json.member(name, text) }
        if identifier != "contactId" { json.member(identifier, value) }
        json.endObject()
        json.name("dataFields")
        json.raw("{}")
        json.name("lists")
        json.raw("[]")
        json.endObject()
        return StubResponse(status: 200, json: String(decoding: json.bytes, as: UTF8.self))
    }

    private func error(_ status: Int, _ code: String, _ description: String) -> StubResponse {
        StubResponse(
            status: status,
            json: "{\"errorCode\":\"\(code)\",\"description\":\"\(description)\",\"details\":[]}")
    }
}
