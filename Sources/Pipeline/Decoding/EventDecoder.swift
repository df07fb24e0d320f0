public import AdapterKit

/// Reads an event out of a record in any of its four forms.
///
/// The headers say which: CloudEvents structured mode by its content type, binary mode by `ce_specversion`, a raw report by
/// `remint-app`; anything else is a JSON envelope.
public struct EventDecoder: Sendable {
    /// Ids and devices are passed on in headers and values; longer ones name nothing.
    private static let longestName = 1024

    private let limits: JSONDocument.Limits

    /// A decoder that refuses values of more than `maximumBytes`.
    public init(maximumBytes: Int) { limits = .init(bytes: maximumBytes, depth: 32) }

    /// The event in `record`.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`, `.eventTooLarge` or, where it names no app, `.unknownApp`.
    public func decode(_ record: InputRecord) throws(Rejection) -> Event {
        guard let value = record.contents.valuePart, !value.isEmpty else { throw malformed("the record has no value") }
        guard value.count <= limits.bytes else {
            throw Rejection(.eventTooLarge, "the value is larger than worker.max_event_bytes, \(limits.bytes)")
        }
        let root = try parse(record.contents.bytes, value)
        if isStructured(record) {
            return try structured(root, record)
        }
        if record.text("ce_specversion") != nil { return try binary(root, record) }
        if record.text("remint-app") != nil { return try raw(root, record) }
        return try envelope(root, record)
    }

    // MARK: The four forms

    private func envelope(_ root: JSONValue, _ record: InputRecord) throws(Rejection) -> Event {
        guard root.isObject else {
            throw malformed(
                "the value is not a JSON object; send {\"app\":…,\"report\":…}, or a report with the header remint-app")
        }
        guard let report = root["report"] else { throw malformed("the envelope has no \"report\"") }
        return try event(
            record, app: text(root, "app"), report: report, id: text(root, "id"), observedAt: text(root, "observed_at"),
            device: text(root, "device"))
    }

    /// CloudEvents 1.0, JSON format: the whole event is the value.
    private func structured(_ root: JSONValue, _ record: InputRecord) throws(Rejection) -> Event {
        guard root.isObject else { throw malformed("a structured CloudEvent is a JSON object") }
        try require(version: text(root, "specversion"))
        guard let report = root["data"] else {
            throw malformed("the CloudEvent has no JSON \"data\"; data_base64 is not taken for a report")
        }
        return try event(
            record, app: text(root, "app"), report: report, id: text(root, "id"), observedAt: text(root, "time"),
            device: text(root, "subject"))
    }

    /// CloudEvents 1.0, Kafka binding, binary mode: attributes in headers, the report is the value.
    private func binary(_ report: JSONValue, _ record: InputRecord) throws(Rejection) -> Event {
        try require(version: record.text("ce_specversion"))
        return try event(
            record, app: record.text("ce_app"), report: report, id: record.text("ce_id"),
            observedAt: record.text("ce_time"), device: record.text("ce_subject"))
    }

    /// The report exactly as the SDK produced it; what else is known stands in headers.
    private func raw(_ report: JSONValue, _ record: InputRecord) throws(Rejection) -> Event {
        try event(
            record, app: record.text("remint-app"), report: report, id: record.text("remint-id"),
            observedAt: record.text("remint-observed-at"), device: record.text("remint-device"))
    }

    /// Media types do not mind their case (RFC 9110, section 8.3.1) and may have parameters.
    private func isStructured(_ record: InputRecord) -> Bool {
        guard let type = record.text("content-type") else { return false }
        return type.prefix { $0 != ";" && $0 != " " }.lowercased() == "application/cloudevents+json"
    }

    // MARK: Parts

    private func event(
        _ record: InputRecord, app: String?, report: JSONValue, id: String?, observedAt: String?, device: String?
    ) throws(Rejection) -> Event {
        guard let app, !app.isEmpty else { throw Rejection(.unknownApp, "the event names no app") }
        for text in [id, device] where (text?.utf8.count ?? 0) > Self.longestName {
            throw malformed("an id or a device has more than \(Self.longestName) bytes")
        }
        let provenance = Provenance(record)
        var observed = provenance.timestamp
        if let observedAt {
            guard let time = RFC3339.parse(observedAt) else {
                throw malformed("the observed time is not an RFC 3339 date-time")
            }
            observed = time
        }
        return Event(
            app: app, report: report, id: id.flatMap { $0.isEmpty ? nil : $0 } ?? provenance.coordinates,
            observedAt: observed,
            device: device.flatMap { $0.isEmpty ? nil : $0 },
            traceHeaders: Self.traceHeaders(of: record))
    }

    private static func traceHeaders(of record: InputRecord) -> [Header] {
        guard record.contents.has("traceparent") || record.contents.has("tracestate") else { return [] }
        return record.headers.filter { $0.name == "traceparent" || $0.name == "tracestate" }
    }

    private func require(version: String?) throws(Rejection) {
        guard version == "1.0" else { throw malformed("the CloudEvent's specversion is not 1.0") }
    }

    private func text(_ root: JSONValue, _ name: String) throws(Rejection) -> String? {
        guard let value = root[name], !value.isNull else { return nil }
        guard let text = value.string else { throw malformed("\"\(name)\" is not a string") }
        return text
    }

    private func parse(_ bytes: [UInt8], _ value: Range<Int>) throws(Rejection) -> JSONValue {
        do throws(JSONError) { return try JSONDocument(parsing: bytes, in: value, limits: limits).root } catch {
            throw malformed("the value is not usable JSON: \(error)")
        }
    }

    private func malformed(_ detail: String) -> Rejection { Rejection(.malformedEvent, detail) }
}
