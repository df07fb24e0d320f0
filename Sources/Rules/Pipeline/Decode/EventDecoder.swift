public import AdapterKit

/// Decodes an event in any of the four forms of a record.
///
/// The headers identify the form: a content type for CloudEvents structured mode, `ce_specversion` for binary mode,
/// `remint-app` for a raw report. Any other record is a JSON envelope. The decoder refuses a content type that
/// contradicts the other headers. Otherwise, if an edge passed on a device's content type with a raw report, the report
/// could vouch for itself.
public struct EventDecoder: Sendable {
    /// The maximum length of an id or a device name, in bytes. Both are copied to headers and values.
    private static let longestName = 1024

    private let limits: JSONDocument.Limits

    /// Creates a decoder that refuses values of more than `maximumBytes`.
    public init(maximumBytes: Int) { limits = .init(bytes: maximumBytes, depth: 32) }

    /// Decodes the event in `record`.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`, with `.eventTooLarge`, or with `.unknownApp` if the event names no
    ///   app.
    public func decode(_ record: InputRecord) throws(Rejection) -> Event { try decode(record, by: JSONReader()) }

    /// Decodes the event in `record`, whose value `json` parses.
    ///
    /// - Throws: see `decode(_:)`.
    func decode(_ record: InputRecord, by json: JSONReader) throws(Rejection) -> Event {
        guard let value = record.body.valuePart, !value.isEmpty else { throw malformed("the record has no value") }
        guard value.count <= limits.bytes else {
            throw Rejection(.eventTooLarge, "the value is larger than worker.max_event_bytes, \(limits.bytes)")
        }
        let root = try parse(record.body.bytes, Self.payload(record.body.bytes, value), by: json)
        let headers = EventHeaders(record.body)
        if Self.isStructured(headers) {
            guard !headers.has(.specVersion), !headers.has(.app) else {
                throw malformed(
                    "the content type is a structured CloudEvent's, and ce_specversion or remint-app marks another form; send one form"
                )
            }
            return try structured(root, record, headers)
        }
        if let version = headers.text(.specVersion) { return try binary(root, record, headers, version: version) }
        if let app = headers.text(.app) { return try raw(root, record, headers, app: app) }
        return try envelope(root, record, headers)
    }

    /// Returns the value without the prefix of Confluent's wire format: a zero byte and the schema id of four bytes.
    /// JSON never begins with a zero byte, so the prefix is unambiguous.
    private static func payload(_ bytes: [UInt8], _ value: Range<Int>) -> Range<Int> {
        guard value.count > 5, bytes[value.lowerBound] == 0 else { return value }
        return value.dropFirst(5)
    }

    // MARK: The four forms

    private func envelope(_ root: JSONValue, _ record: InputRecord, _ headers: EventHeaders) throws(Rejection) -> Event
    {
        guard root.isObject else {
            throw malformed(
                "the value is not a JSON object; send {\"app\":…,\"report\":…}, or a report with the header remint-app")
        }
        let body: Event.Body
        switch (root["report"], root["reissue"]) {
        case (.some(let report), nil): body = .report(report)
        case (nil, .some(let request)): body = .reissue(request)
        case (nil, nil): throw malformed("the envelope has neither \"report\" nor \"reissue\"")
        case (.some, .some): throw malformed("the envelope has both \"report\" and \"reissue\"; send two events")
        }
        let envelope = try self.envelope(
            record, headers, app: text(root, "app"), id: text(root, "id"),
            observedAt: root["observed_at"].flatMap(Self.time), device: text(root, "device"))
        return Event(
            envelope: envelope, body: body,
            vouched: try VouchedMember.value(root["vouched"], besides: headers))
    }

    /// Decodes CloudEvents 1.0, JSON format: the value is the whole event.
    private func structured(_ root: JSONValue, _ record: InputRecord, _ headers: EventHeaders) throws(Rejection)
        -> Event
    {
        guard root.isObject else { throw malformed("a structured CloudEvent is a JSON object") }
        try require(version: text(root, "specversion"))
        guard let data = root["data"] else {
            throw malformed("the CloudEvent has no JSON \"data\"; data_base64 is not taken for a report")
        }
        let envelope = try self.envelope(
            record, headers, app: text(root, "app"), id: text(root, "id"), observedAt: root["time"].flatMap(Self.time),
            device: text(root, "subject"), members: root)
        return Event(
            envelope: envelope, body: Self.body(data, ofType: try text(root, "type")),
            vouched: try VouchedMember.value(root["vouched"], besides: headers))
    }

    /// Decodes CloudEvents 1.0, Kafka binding, binary mode: the attributes are headers, and the value is the data.
    private func binary(
        _ data: JSONValue, _ record: InputRecord, _ headers: EventHeaders, version: String
    ) throws(Rejection) -> Event {
        try require(version: version)
        let envelope = try self.envelope(
            record, headers, app: headers.text(.cloudApp), id: headers.text(.cloudID),
            observedAt: headers.text(.cloudTime),
            device: headers.text(.cloudSubject), unseen: headers.text(.cloudUnseen))
        return Event(
            envelope: envelope, body: Self.body(data, ofType: headers.text(.cloudType)),
            vouched: try VouchedMember.value(of: .cloudVouched, in: headers))
    }

    /// Decodes a raw report, unchanged from the SDK. All other facts are in headers.
    private func raw(
        _ report: JSONValue, _ record: InputRecord, _ headers: EventHeaders, app: String
    ) throws(Rejection) -> Event {
        let envelope = try self.envelope(
            record, headers, app: app, id: headers.text(.id),
            observedAt: headers.text(.observedAt), device: headers.text(.device))
        return Event(
            envelope: envelope, body: .report(report),
            vouched: try VouchedMember.value(of: .vouched, in: headers))
    }

    /// The `type` of a CloudEvent that requests a new token. For every other type, the data is a report.
    static let reissueType = "remint.reissue.requested.v1"

    private static func body(_ data: JSONValue, ofType type: String?) -> Event.Body {
        type == reissueType ? .reissue(data) : .report(data)
    }

    /// Returns whether the content type is that of structured mode. Media types are case-insensitive (RFC 9110, section
    /// 8.3.1) and may have parameters.
    private static func isStructured(_ headers: EventHeaders) -> Bool {
        guard let type = headers.text(.contentType) else { return false }
        return type.prefix { $0 != ";" && $0 != " " }.lowercased() == "application/cloudevents+json"
    }

    // MARK: Parts

    private func envelope(
        _ record: InputRecord, _ headers: EventHeaders, app: String?, id: String?, observedAt: String?, device: String?,
        members: JSONValue? = nil, unseen: String? = nil
    ) throws(Rejection) -> Envelope {
        guard let app, !app.isEmpty else { throw Rejection(.unknownApp, "the event names no app") }
        // Two readers of such a record may disagree on the app.
        guard Self.names(app, alone: .app, headers), Self.names(app, alone: .cloudApp, headers) else {
            throw malformed("the event names two apps, or one twice")
        }
        guard (id?.utf8.count ?? 0) <= Self.longestName, (device?.utf8.count ?? 0) <= Self.longestName else {
            throw malformed("an id or a device has more than \(Self.longestName) bytes")
        }
        let provenance = Provenance(record)
        // A time that nobody can read is a side fact: the report counts without it.
        let observed = observedAt.flatMap(RFC3339.parse)
        return Envelope(
            app: app, id: id.flatMap { $0.isEmpty ? nil : $0 } ?? provenance.coordinates,
            observedAt: observed ?? provenance.timestamp, hasUnreadableTime: observedAt != nil && observed == nil,
            device: device.flatMap { $0.isEmpty ? nil : $0 }, hasWaited: record.lane == .retries,
            traceHeaders: Self.traceHeaders(of: record, headers, members), provenance: provenance,
            unseen: unseen.flatMap { Int64($0) })
    }

    /// Returns the trace context to pass on: the event's own span if the event is traced, else the context of the
    /// record.
    private static func traceHeaders(
        of record: InputRecord, _ headers: EventHeaders, _ members: JSONValue?
    ) -> [RecordHeader] {
        if let trace = record.trace { return trace.headers }
        if headers.has(.traceParent) || headers.has(.traceState) || headers.has(.cloudTraceParent) {
            let carried = TraceCarrier(record.body).headers
            if !carried.isEmpty { return carried }
        }
        return members.map { TraceCarrier($0).headers } ?? []
    }

    /// Returns whether the header `name` is missing, or exists once and names `app`.
    private static func names(_ app: String, alone name: EventHeaders.Name, _ headers: EventHeaders) -> Bool {
        let count = headers.count(of: name)
        return count == 0 || count == 1 && headers.says(name, app)
    }

    private func require(version: String?) throws(Rejection) {
        guard version == "1.0" else { throw malformed("the CloudEvent's specversion is not 1.0") }
    }

    /// Returns the time in `member`, also one that is no string; nil for null.
    private static func time(_ member: JSONValue) -> String? {
        member.isNull ? nil : member.string ?? ""
    }

    private func text(_ root: JSONValue, _ name: String) throws(Rejection) -> String? {
        guard let value = root[name], !value.isNull else { return nil }
        guard let text = value.string else { throw malformed("\"\(name)\" is not a string") }
        return text
    }

    private func parse(_ bytes: [UInt8], _ value: Range<Int>, by json: JSONReader) throws(Rejection) -> JSONValue {
        do throws(JSONError) { return try json.parse(bytes, in: value, limits: limits) } catch {
            throw malformed("the value is not usable JSON: \(error)")
        }
    }

    private func malformed(_ detail: String) -> Rejection { Rejection(.malformedEvent, detail) }
}
