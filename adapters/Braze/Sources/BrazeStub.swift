public import AdapterKit
public import AdapterStubs

/// Braze's `/users/export/ids` in small: it checks path, method, key and body, keeps both limits, and knows everybody
/// but those that its setting names. Braze does not distinguish a deleted user from one it never met, and neither does
/// the stub.
public struct BrazeStub: VendorStub {
    /// A fault of Braze as a whole.
    public enum Fault: Sendable, CaseIterable {
        /// Maintenance: 202, and the request is queued.
        case queued
        /// The limit is used up, whoever did it: 429.
        case throttled
        /// 500.
        case broken
    }

    /// The current fault; nil where there is none.
    public var fault: Fault?
    /// Ids that were renamed: asked about the first, Braze answers with the second.
    public var renamed: [(old: String, new: String)] = []

    private let authorization: String?
    private let missing: Set<[UInt8]>
    private var limits = BrazeExportRequest.rates.map(StubLimit.init)

    /// A Braze that answers by `setting`.
    public init(_ setting: StubSetting) {
        authorization = setting.authorization
        missing = Set(setting.gone.union(setting.unknown).map { Array($0.utf8) })
    }

    /// Returns the vendor's answer to `request`.
    public mutating func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
        guard request.path == BrazeExportRequest.path else { return Self.refusal(404, "Not Found") }
        guard request.method == "POST" else { return Self.refusal(405, "Method Not Allowed") }
        guard let authorization, authorization.hasSameBytes(as: request.header("authorization")) else {
            return Self.refusal(401, "Invalid API Key")
        }
        if fault == .throttled { return Self.throttled(seconds: 1, at: time) }
        if let seconds = exceeded(at: time) { return Self.throttled(seconds: seconds, at: time) }
        switch fault {
        case .queued: return Self.refusal(202, "queued")
        case .broken: return Self.refusal(500, "Internal Server Error")
        case .throttled, .none: return export(request.body)
        }
    }

    // MARK: Limits

    /// For how many seconds some limit is exceeded. A request that one limit refuses counts for none.
    private mutating func exceeded(at time: UnixTime) -> Int64? {
        var limits = limits
        let waits = limits.indices.compactMap { limits[$0].admit(at: time) }
        if let longest = waits.max() { return longest }
        self.limits = limits
        return nil
    }

    private static func throttled(seconds: Int64, at time: UnixTime) -> StubResponse {
        // Whole seconds, and never too early: a fraction of the present second counts as a second.
        let reset = time.advanced(bySeconds: seconds).advanced(byMicroseconds: 999_999)
        let limit = BrazeExportRequest.rates.first?.requests ?? 0
        return refusal(
            429, "You have exceeded your rate limit",
            headers: [
                ("retry-after", String(seconds)), ("x-ratelimit-limit", String(limit)), ("x-ratelimit-remaining", "0"),
                ("x-ratelimit-reset", String(reset.seconds)),
            ])
    }

    // MARK: The export

    private func export(_ body: [UInt8]) -> StubResponse {
        guard let root = try? JSONDocument(parsing: body).root, root.isObject else {
            return Self.refusal(400, "The request body is not a JSON object")
        }
        guard let list = root["external_ids"], list.isArray, !list.elements.isEmpty else {
            return Self.refusal(400, "'external_ids' must be an array of strings")
        }
        let ids = list.elements.compactMap(\.string)
        guard ids.count == list.elements.count else {
            return Self.refusal(400, "'external_ids' must be an array of strings")
        }
        guard ids.count <= BrazeExportRequest.batch else {
            return Self.refusal(400, "'external_ids' holds more than \(BrazeExportRequest.batch) ids")
        }
        guard let fields = root["fields_to_export"], fields.isArray, !fields.elements.isEmpty,
            fields.elements.allSatisfy(\.isString)
        else { return Self.refusal(400, "'fields_to_export' must be an array of strings") }
        return success(ids, fields: fields.elements.compactMap(\.string))
    }

    private func success(_ ids: [String], fields: [String]) -> StubResponse {
        var json = JSONWriter()
        json.beginObject()
        json.member("message", "success")
        json.name("users")
        json.beginArray()
        for (place, id) in ids.enumerated() where !isMissing(id) { write(id, at: place, fields: fields, to: &json) }
        json.endArray()
        let invalid = ids.filter(isMissing)
        if !invalid.isEmpty {
            json.name("invalid_user_ids")
            json.beginArray()
            for id in invalid { json.string(id) }
            json.endArray()
        }
        json.endObject()
        return StubResponse(status: 201, json: String(decoding: json.bytes, as: UTF8.self))
    }

    /// One user, with as many of the fields as were asked for. Empty ones are left out.
    private func write(_ id: String, at place: Int, fields: [String], to json: inout JSONWriter) {
        json.beginObject()
        if fields.contains("external_id") {
            json.member("external_id", renamed.first { $0.old.hasSameBytes(as: id) }?.new ?? id)
        }
        if fields.contains("braze_id") { json.member("braze_id", "braze-\(place)") }
        json.endObject()
    }

    private func isMissing(_ id: String) -> Bool { missing.contains(Array(id.utf8)) }

    private static func refusal(
        _ status: Int, _ message: String, headers: [(name: String, value: String)] = []
    ) -> StubResponse {
        var json = JSONWriter()
        json.beginObject()
        json.member("message", message)
        json.endObject()
        return StubResponse(status: status, headers: headers, json: String(decoding: json.bytes, as: UTF8.self))
    }
}
