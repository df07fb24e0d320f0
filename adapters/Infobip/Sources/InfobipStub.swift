public import AdapterKit
public import AdapterStubs

/// Infobip's People API in small: one person by external id, and a match of several.
public struct InfobipStub: VendorStub {
    /// The answer to a request for a missing person, which Infobip does not document.
    public enum MissingPerson: Sendable, CaseIterable {
        /// 404 `NOT_FOUND`.
        case notFound
        /// 200 with another person.
        case otherPerson
    }

    /// The answer to a request for a missing person.
    public var missingPerson = MissingPerson.notFound
    /// Whether the API key has the scope `people:read`. Without it every request is a 403.
    public var hasScope = true

    private let setting: StubSetting
    /// 5 requests a second for an account.
    private var personLimit = StubLimit(InfobipAdapter.lookupRate)
    /// Matches are allowed 15 a second.
    private var matchLimit = StubLimit(LookupTerms.Rate(15))

    /// A stub with this setting.
    public init(_ setting: StubSetting) { self.setting = setting }

    /// Returns the vendor's answer to `request`.
    public mutating func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
        guard let authorization = request.header("authorization"),
            authorization.hasSameBytes(as: setting.authorization)
        else { return error(401, "UNAUTHORIZED", "Invalid login details") }
        guard hasScope else { return error(403, "FORBIDDEN", "Forbidden") }
        switch (request.method, request.path) {
        case ("GET", "/people/2/persons"):
            if let wait = personLimit.admit(at: time) { return throttled(wait) }
            return person(request.query)
        case ("POST", "/people/2/persons/match"):
            if let wait = matchLimit.admit(at: time) { return throttled(wait) }
            return match(request.body)
        default: return error(404, "NOT_FOUND", "Requested URL not found")
        }
    }

    /// The real API lists everyone where the identifier is empty; here such a request gets an error.
    private func person(_ query: [String: String]) -> StubResponse {
        guard let id = query["identifier"], !id.isEmpty, query["type"] == "EXTERNAL_ID" else {
            return error(400, "BAD_REQUEST", "identifier and type EXTERNAL_ID are required")
        }
        guard setting.standing(of: id) == .known else {
            switch missingPerson {
            case .notFound: return error(404, "NOT_FOUND", "Person not found")
            case .otherPerson: return person(id + "-other")
            }
        }
        return person(id)
    }

    private func person(_ id: String) -> StubResponse {
        var json = JSONWriter()
        json.beginObject()
        json.member("id", 1001)
        json.member("externalId", id)
        json.member("firstName", "Ann")
        json.name("contactInformation")
        json.raw(#"{"push":[{"applicationId":"app-code-A","registrationId":"r-1"}]}"#)
        json.endObject()
        return StubResponse(status: 200, json: String(decoding: json.bytes, as: UTF8.self))
    }

    private func match(_ body: [UInt8]) -> StubResponse {
        let list = (try? JSONDocument(parsing: body).root)?["identities"]
        let ids = list?.elements.compactMap { identity in
            identity["type"]?.string == "EXTERNAL_ID" ? identity["identifier"]?.string : nil
        }
        guard let ids, ids.count == list?.elements.count, (1...InfobipLookup.batch).contains(ids.count),
            ids.allSatisfy({ !$0.isEmpty })
        else { return error(400, "BAD_REQUEST", "identities must be 1 to 50, each of type EXTERNAL_ID and not empty") }
        var json = JSONWriter()
        json.beginObject()
        json.name("matches")
        json.beginArray()
        for (index, id) in ids.enumerated() where setting.standing(of: id) == .known {
            json.beginObject()
            json.member("type", "EXTERNAL_ID")
            json.member("identifier", id)
            json.member("personId", 1001 + Int64(index))
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return StubResponse(status: 200, json: String(decoding: json.bytes, as: UTF8.self))
    }

    private func throttled(_ wait: Int64) -> StubResponse {
        error(429, "TOO_MANY_REQUESTS", "Too many requests", headers: [("retry-after", String(wait))])
    }

    private func error(
        _ status: Int, _ messageID: String, _ text: String, headers: [(name: String, value: String)] = []
    ) -> StubResponse {
        var json = JSONWriter()
        json.beginObject()
        json.name("requestError")
        json.beginObject()
        json.name("serviceException")
        json.beginObject()
        json.member("messageId", messageID)
        json.member("text", text)
        json.endObject()
        json.endObject()
        json.endObject()
        return StubResponse(status: status, headers: headers, json: String(decoding: json.bytes, as: UTF8.self))
    }
}
