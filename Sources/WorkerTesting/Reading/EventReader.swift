import AdapterKit
import DeclaredAdapters
import Pipeline
import Records
import WorkerConfiguration
import YAMLReading
import Yams

/// Reads the event of a test: a report or a request of an app's, or a record as it is.
struct EventReader {
    private let section: Section
    private let configuration: Configuration
    private let source: ConfigurationSource
    private var diagnostics: Diagnostics { section.diagnostics }

    init(_ section: Section, _ configuration: Configuration, source: ConfigurationSource) {
        self.section = section
        self.configuration = configuration
        self.source = source
    }

    private static let sources = ["report", "report_text", "reissue", "value", "value_file"]
    /// The members that go into an envelope. A record as it is has them in its own bytes.
    private static let envelope = ["app", "vouched", "device", "id", "observed_at"]

    /// Returns the record, produced at `time`; nil where it has errors.
    func read(at time: UnixTime) -> InputRecord? {
        let named = Self.sources.filter { section.value($0) != nil }
        let parts = Parts(
            key: section.text("key").map { Array($0.text.utf8) }, headers: headers(), topic: topic())
        guard named.count == 1 else {
            diagnostics.error(
                named.dropFirst().first.flatMap { section.key($0) } ?? section.node,
                named.isEmpty
                    ? "\(section.name) has no event; write app and report, or value: the record as it is"
                    : "\(section.path(named[0])) stands here too; keep one of them")
            // Known, so that nothing more is said of them.
            for name in Self.envelope { _ = section.value(name) }
            return nil
        }
        return named[0].hasPrefix("value") ? asItIs(parts, time) : enveloped(named[0], parts, time)
    }

    private struct Parts {
        let key: [UInt8]?
        var headers: [RecordHeader]
        let topic: String?
    }

    private func record(_ value: [UInt8], _ parts: Parts, of app: Configuration.App?, _ time: UnixTime) -> InputRecord {
        let topic = parts.topic ?? app?.topics.first ?? configuration.topics.invalidations
        let tier = configuration.retryTopics.firstIndex(of: topic)
        return InputRecord(
            origin: RecordPosition(topic: topic, partition: 0, offset: 0), timestamp: time, key: parts.key,
            value: value, headers: parts.headers,
            lane: tier != nil ? .retries : topic == configuration.topics.invalidationsBulk ? .bulk : .live, tier: tier)
    }

    private func topic() -> String? {
        guard let (topic, node) = section.requiredTextIfPresent("topic") else { return nil }
        let known = configuration.inputTopics
        guard !known.contains(topic) else { return topic }
        let meant = Spelling.nearest(to: topic, among: known).map { "did you mean \($0)?" }
        diagnostics.error(
            node, "no worker reads a topic called \(topic); \(meant ?? "known: \(known.joined(separator: ", "))")")
        return nil
    }

    private func headers() -> [RecordHeader] {
        guard section.value("headers") != nil else { return [] }
        let headers = section.section("headers")
        return headers.all.compactMap { _, name, _ in headers.text(name).map { RecordHeader(name, $0.text) } }
    }

    // MARK: A record as it is

    private func asItIs(_ parts: Parts, _ time: UnixTime) -> InputRecord? {
        for name in Self.envelope where section.value(name) != nil {
            diagnostics.error(
                section.key(name),
                "\(section.path(name)) belongs to report or reissue; a raw record has its own: remove it")
        }
        guard let (path, node) = section.requiredTextIfPresent("value_file") else {
            // A text is the value itself, anything else is JSON.
            let value = section.value("value")?.scalar.map { Array($0.string.utf8) } ?? section.json("value")
            return value.map { record($0, parts, of: nil, time) }
        }
        guard let text = source.file(diagnostics.resolve(path)) else {
            diagnostics.error(
                node, "the file of \(section.path("value_file")) cannot be read; fix the path or create the file")
            return nil
        }
        return record(Array(text.utf8), parts, of: nil, time)
    }

    // MARK: An app's event

    private func enveloped(_ kind: String, _ parts: Parts, _ time: UnixTime) -> InputRecord? {
        let app = app()
        let vouched = section.json("vouched"), device = section.text("device")?.text, id = section.text("id")?.text
        let observedAt = section.time("observed_at")
        guard let app else { return nil }
        if kind == "report_text" {
            var parts = parts
            parts.headers.append(RecordHeader("remint-app", app.name))
            let more = [
                ("remint-id", id), ("remint-device", device), ("remint-observed-at", observedAt?.description),
                ("remint-vouched", vouched.map { String(decoding: $0, as: UTF8.self) }),
            ]
            parts.headers += more.compactMap { name, text in text.map { RecordHeader(name, $0) } }
            return section.text(kind).map { record(Array($0.text.utf8), parts, of: app, time) }
        }
        guard let body = section.json(kind) else { return nil }
        var json = JSONWriter()
        json.beginObject()
        json.member("app", app.name)
        json.name(kind)
        json.raw(body)
        if let vouched {
            json.name("vouched")
            json.raw(vouched)
        }
        for (name, text) in [("id", id), ("device", device), ("observed_at", observedAt?.description)] {
            if let text { json.member(name, text) }
        }
        json.endObject()
        return record(json.bytes, parts, of: app, time)
    }

    private func app() -> Configuration.App? {
        guard let (name, node) = section.requiredText("app", example: configuration.apps.first?.name) else {
            return nil
        }
        if let app = configuration.apps.first(where: { $0.name == name }) { return app }
        let known = configuration.apps.map(\.name)
        let meant = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
        diagnostics.error(node, "no app is called \(name); \(meant ?? "known: \(known.joined(separator: ", "))")")
        return nil
    }
}
