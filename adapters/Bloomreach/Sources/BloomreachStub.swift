public import AdapterKit
public import AdapterStubs

/// `customers/attributes` of one Engagement project in small: it checks path, method, key and body, and has every customer
/// but those whose ids its setting names. Bloomreach does not distinguish a deleted customer from one it never met, and
/// neither does the stub.
public struct BloomreachStub: VendorStub {
    /// The status of the answer about a customer that it does not have: 404, or any other, since only the message
    /// distinguishes the two.
    public var unknownStatus = 404
    /// Ids, by name, that the key may not read.
    public var forbiddenIDs: Set<String> = []
    /// Whether the limit is used up, whoever did it.
    public var isThrottled = false

    private let authorization: String?
    private let project: String
    private let missing: Set<[UInt8]>
    private var limits = BloomreachAttributes.rates.map(StubLimit.init)

    /// A `project` that answers by `setting`.
    public init(_ setting: StubSetting, project: String) {
        authorization = setting.authorization
        self.project = project
        missing = Set(setting.gone.union(setting.unknown).map { Array($0.utf8) })
    }

    /// Returns the vendor's answer to `request`.
    public mutating func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
        let parts = request.pathParts
        guard parts.count == 6, Array(parts[..<3]) == ["data", "v2", "projects"],
            Array(parts[4...]) == ["customers", "attributes"]
        else { return StubResponse(status: 404, body: Array("404 page not found".utf8)) }
        guard request.method == "POST" else { return Self.refusal(405, "method not allowed") }
        // A key belongs to a project: in another one it is not found.
        guard let authorization, authorization.hasSameBytes(as: request.header("authorization")),
            project.hasSameBytes(as: parts[3])
        else { return Self.refusal(401, "access key not found") }
        if let seconds = exceeded(at: time) {
            return Self.refusal(429, "too many requests", headers: [("retry-after", String(seconds))])
        }
        return attributes(request.body)
    }

    private mutating func exceeded(at time: UnixTime) -> Int64? {
        if isThrottled { return 1 }
        return limits.indices.compactMap { limits[$0].admit(at: time) }.max()
    }

    // MARK: The attributes

    private func attributes(_ body: [UInt8]) -> StubResponse {
        guard let root = try? JSONDocument(parsing: body).root, let ids = root["customer_ids"], !ids.members.isEmpty,
            ids.members.allSatisfy({ $0.value.isString }), let attributes = root["attributes"],
            !attributes.elements.isEmpty, attributes.elements.allSatisfy({ $0["type"]?.string != nil })
        else { return Self.refusal(400, "bad request: customer_ids and attributes are required") }
        if ids.members.contains(where: { missing.contains(Array(($0.value.string ?? "").utf8)) }) {
            return Self.unknownCustomer(unknownStatus)
        }
        var json = JSONWriter()
        json.beginObject()
        json.name("results")
        json.beginArray()
        for attribute in attributes.elements { write(attribute, of: ids, to: &json) }
        json.endArray()
        json.name("success")
        json.bool(true)
        json.endObject()
        return StubResponse(status: 200, json: String(decoding: json.bytes, as: UTF8.self))
    }

    /// One result. Ids of the customer that the request does not name are not set, and other attributes are not known here.
    private func write(_ attribute: JSONValue, of ids: JSONValue, to json: inout JSONWriter) {
        json.beginObject()
        if let name = attribute["id"]?.string, attribute["type"]?.string == "id",
            !forbiddenIDs.contains(where: { $0.hasSameBytes(as: name) })
        {
            json.name("success")
            json.bool(true)
            json.name("value")
            if let id = ids[name]?.string { json.string(id) } else { json.null() }
        } else {
            json.name("success")
            json.bool(false)
            json.member("error", "No permission")
        }
        json.endObject()
    }

    // MARK: Failures

    private static func unknownCustomer(_ status: Int) -> StubResponse {
        StubResponse(status: status, json: #"{"errors":{"_global":["Customer does not exist"]},"success":false}"#)
    }

    private static func refusal(
        _ status: Int, _ error: String, headers: [(name: String, value: String)] = []
    ) -> StubResponse {
        var json = JSONWriter()
        json.beginObject()
        json.name("success")
        json.bool(false)
        json.member("error", error)
        json.endObject()
        return StubResponse(status: status, headers: headers, json: String(decoding: json.bytes, as: UTF8.self))
    }
}
