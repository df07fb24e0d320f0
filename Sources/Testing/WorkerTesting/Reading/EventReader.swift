import AdapterKit
import DeclaredAdapters
import Pipeline
import Records
import WorkerConfiguration
import YAMLReading
import Yams

/// Reads the event of a test: a report or a request of an app's, or a record as it is.
struct EventReader {
    private typealias Keys = Configuration.Tests

    private let section: Section
    private let configuration: Configuration
    private let source: ConfigurationSource
    private var diagnostics: Diagnostics { section.diagnostics }

    init(_ section: Section, _ configuration: Configuration, source: ConfigurationSource) {
        self.section = section
        self.configuration = configuration
        self.source = source
    }

    /// The keys that hold an event; a test has one of them.
    private static let enveloped = [Keys.report.description, Keys.reportText.description, Keys.reissue.description]
    private static let plain = [Keys.value.description, Keys.valueFile.description]
    /// The members that go into an envelope. A record as it is has them in its own bytes.
    private static let envelope: [any DeclaredMember] = [
        Keys.app, Keys.vouched, Keys.device, Keys.id, Keys.observedAt,
    ]

    /// Returns the record, produced at `time`; nil where it has errors.
    func read(at time: UnixTime) -> InputRecord? {
        let named = (Self.enveloped + Self.plain).filter { section.value(of: $0) != nil }
        let parts = Parts(
            key: section.read(Keys.key).map { Array($0.utf8) }, headers: headers(), topic: topic())
        guard named.count == 1 else {
            diagnostics.error(
                named.dropFirst().first.flatMap { section.key(of: $0) } ?? section.node,
                named.isEmpty
                    ? "\(section.name) has no event; write app and report, or value: the record as it is"
                    : "\(section.path(of: named[0])) stands here too; keep one of them")
            // Known, so that nothing more is reported about them.
            for key in Self.envelope { _ = section.value(of: key) }
            return nil
        }
        let isPlain = Self.plain.contains { $0.name == named[0].name }
        return isPlain ? asItIs(parts, time) : enveloped(parts, time)
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
        guard let (topic, node) = section.placed(Keys.topic) else { return nil }
        let known = configuration.inputTopics
        guard !known.contains(topic) else { return topic }
        let meant = Spelling.nearest(to: topic, among: known).map { "did you mean \($0)?" }
        diagnostics.error(
            node, "no worker reads a topic called \(topic); \(meant ?? "known: \(known.joined(separator: ", "))")")
        return nil
    }

    private func headers() -> [RecordHeader] {
        guard let headers = section.read(Keys.headers) else { return [] }
        return headers.all.compactMap { _, name, _ in headers.text(name).map { RecordHeader(name, $0.text) } }
    }

    // MARK: A record as it is

    private func asItIs(_ parts: Parts, _ time: UnixTime) -> InputRecord? {
        for key in Self.envelope where section.value(of: key) != nil {
            section.error(
                key, at: section.key(of: key), "belongs to report or reissue; a raw record has its own: remove it")
        }
        guard let (path, node) = section.placed(Keys.valueFile) else {
            // A string is the value itself, anything else is JSON.
            let value = section.value(of: Keys.value)?.scalar.map { Array($0.string.utf8) } ?? section.read(Keys.value)
            return value.map { record($0, parts, of: nil, time) }
        }
        guard case .contents(let text) = source.file(diagnostics.resolve(path)) else {
            diagnostics.error(
                node,
                "the file of \(section.path(of: Keys.valueFile)) cannot be read; fix the path or create the file")
            return nil
        }
        return record(Array(text.utf8), parts, of: nil, time)
    }

    // MARK: An app's event

    private func enveloped(_ parts: Parts, _ time: UnixTime) -> InputRecord? {
        let app = app()
        let vouched = section.read(Keys.vouched), device = section.read(Keys.device), id = section.read(Keys.id)
        let observedAt = section.read(Keys.observedAt)
        guard let app else { return nil }
        if let text = section.read(Keys.reportText) {
            var parts = parts
            parts.headers.append(RecordHeader("remint-app", app.name))
            let more = [
                ("remint-id", id), ("remint-device", device), ("remint-observed-at", observedAt?.description),
                ("remint-vouched", vouched.map { String(decoding: $0, as: UTF8.self) }),
            ]
            parts.headers += more.compactMap { name, text in text.map { RecordHeader(name, $0) } }
            return record(Array(text.utf8), parts, of: app, time)
        }
        let kind = section.value(of: Keys.report) != nil ? Keys.report : Keys.reissue
        guard let body = section.read(kind) else { return nil }
        var json = JSONWriter()
        json.beginObject()
        json.member("app", app.name)
        json.name(kind.name)
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
        guard let (name, node) = section.requiredText(Keys.app.name, example: configuration.apps.first?.name) else {
            return nil
        }
        if let app = configuration.apps.first(where: { $0.name == name }) { return app }
        let known = configuration.apps.map(\.name)
        let meant = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
        diagnostics.error(node, "no app is called \(name); \(meant ?? "known: \(known.joined(separator: ", "))")")
        return nil
    }
}
