public import AdapterKit
package import Records

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

/// A decoded record: its envelope, and a report or a request.
public struct Event: Sendable {
    public enum Body: Sendable {
        case report(JSONValue)
        case reissue(JSONValue)
    }

    /// The event's facts except its body.
    public let envelope: Envelope
    public let body: Body
    /// The user that the edge has authenticated, in the adapter's members; nil if the edge vouches for none.
    public let vouched: JSONValue?
}

/// The facts about an event except its body. They outlive the parsed JSON and do not refer to it. A class, because many
/// functions pass it on.
public final class Envelope: Sendable {
    public let app: String
    /// The event's id: the producer's, or the record's coordinates.
    public let id: String
    /// The time of the failure, as stated by the producer, or the record's timestamp.
    public let observedAt: UnixTime?
    /// Whether the producer stated a time that is no RFC 3339 date-time. The record's timestamp is used instead.
    let hasUnreadableTime: Bool
    public let device: String?
    /// Whether the event waited in a retry tier before, and so was counted.
    public let hasWaited: Bool
    /// The headers `traceparent` and `tracestate` for the published record (W3C Trace Context).
    public let traceHeaders: [RecordHeader]
    /// The event's origin and its hops.
    let provenance: Provenance
    /// The highest version of a token that the producer may have missed; nil for none. A newer token answers the event
    /// only if its version is higher.
    let unseen: Int64?

    /// The time at which the record was produced; nil if it is unknown.
    public var producedAt: UnixTime? { provenance.timestamp }
    /// The topic at which a worker first consumed the event; for a retry tier's record without an origin, the tier's
    /// topic.
    public var topic: String { provenance.origin.topic }
    /// Whether to count the time that nobody can read: once, before any retry tier.
    var countsUnreadableTime: Bool { hasUnreadableTime && !hasWaited }

    init(
        app: String, id: String, observedAt: UnixTime?, hasUnreadableTime: Bool, device: String?, hasWaited: Bool,
        traceHeaders: [RecordHeader], provenance: Provenance, unseen: Int64?
    ) {
        self.app = app
        self.id = id
        self.observedAt = observedAt
        self.hasUnreadableTime = hasUnreadableTime
        self.device = device
        self.hasWaited = hasWaited
        self.traceHeaders = traceHeaders
        self.provenance = provenance
        self.unseen = unseen
    }
}

struct ReadEvent: Sendable {
    let envelope: Envelope
    /// The vendor's own name of the failure; nil until the report is read.
    var reason: String?
    /// The signer of the reported token; nil until the report is read, and for an event that was counted before.
    var signer: TokenSigner?
}

/// The place in a record for the user that the edge has authenticated.
///
/// Each form has one place for it. A record with the user in any other place, or with a duplicate, is refused: its
/// writer meant it to count, and to ignore it would answer for another user.
private enum VouchedMember {
    private static let limits = JSONDocument.Limits(bytes: 16 << 10, depth: 8)

    /// Checks that no header names the user except the header `allowed`.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`.
    private static func checkHeaders(_ headers: EventHeaders, allowed: EventHeaders.Name?) throws(Rejection) {
        // The header of a raw report, and the extension attribute in CloudEvents' binary mode.
        try check(.vouched, in: headers, allowed: allowed)
        try check(.cloudVouched, in: headers, allowed: allowed)
    }

    private static func check(
        _ name: EventHeaders.Name, in headers: EventHeaders, allowed: EventHeaders.Name?
    ) throws(Rejection) {
        let count = headers.count(of: name)
        guard count == 0 || count == 1 && name == allowed else {
            throw Rejection(
                .malformedEvent, "the header \(name.text) is not where this form of event has it, or is there twice")
        }
    }

    /// Returns the value of the header `header`, where the record with `headers` has the user; nil without the header.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`.
    static func value(of header: EventHeaders.Name, in headers: EventHeaders) throws(Rejection) -> JSONValue? {
        try checkHeaders(headers, allowed: header)
        guard headers.has(header) else { return nil }
        guard let text = headers.text(header) else { throw unreadable }
        return try parse(text)
    }

    /// Returns the value of `member`, where the record has the user: an object, or its JSON as a string, because
    /// CloudEvents' attributes are strings; nil if it is missing or null.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`.
    static func value(_ member: JSONValue?, besides headers: EventHeaders) throws(Rejection) -> JSONValue? {
        try checkHeaders(headers, allowed: nil)
        guard let member, !member.isNull else { return nil }
        guard let text = member.string else { return member }
        return try parse(text)
    }

    private static func parse(_ text: String) throws(Rejection) -> JSONValue {
        do throws(JSONError) { return try JSONDocument(parsing: Array(text.utf8), limits: limits).root } catch {
            throw unreadable
        }
    }

    private static let unreadable = Rejection(.malformedEvent, "\"vouched\" is not the JSON of an object")
}

/// The header of an edge that may have missed tokens of the event's user.
///
/// A worker publishes nothing for an event that a newer token answers: the edge reads that token from the token topic.
/// An edge that has just begun to read, or has dropped the token, would wait in vain. It names the highest version that
/// it may have missed, and the worker mints a token unless the newer one is above that version. The limit of tokens per
/// user and loop window still applies, so the header does not bypass it.
package enum UnseenTokens {
    package static let header = "ce_unseen"

    /// Returns the header for tokens up to `version`.
    package static func header(upTo version: Int64) -> RecordHeader { RecordHeader(header, "\(version)") }
}
