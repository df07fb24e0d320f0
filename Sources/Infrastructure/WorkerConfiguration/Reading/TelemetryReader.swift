import Formats
import Yams

/// Reads `telemetry`: where traces and metrics go.
struct TelemetryReader {
    private typealias Keys = Configuration.Collector

    let source: ConfigurationSource

    /// Reads the section's words into `telemetry`.
    func read(_ section: Section, into telemetry: inout Configuration.Telemetry) {
        let traces = section.section(Configuration.Telemetry.traces)
        traces.read(Configuration.Telemetry.settings, into: &telemetry)
        traces.finish()
        let collector = Configuration.Collector.section
        if section.value(of: collector) != nil { telemetry.collector = self.collector(section.section(collector)) }
        section.finish()
    }

    private func collector(_ section: Section) -> Configuration.Collector? {
        defer { section.finish() }
        var collector = Configuration.Collector()
        section.read(Configuration.Collector.settings, into: &collector)
        collector.certificateAuthority = authority(section)
        let headers = section.read(Keys.headersKey)
        if let headers {
            collector.headers = headers.all.compactMap { key, name, value in header(name, key, value, headers) }
        }
        guard let (url, node) = section.placed(Keys.endpointKey) else { return nil }
        collector.endpoint = url.text
        if let headers, !url.isEncrypted, !url.isLoopback, !headers.all.isEmpty {
            section.diagnostics.error(
                node, "\(section.path(of: Keys.endpointKey)) must be https: what \(headers.name) holds goes there")
        }
        return collector
    }

    private func authority(_ section: Section) -> String? {
        guard let (path, node) = section.placed(Keys.authorityKey) else { return nil }
        let name = section.path(of: Keys.authorityKey)
        _ = section.contents(ofFile: path, node, named: name, source)
        return section.diagnostics.resolve(path)
    }

    /// The headers that the exporter itself sets.
    private static let own: Set<String> = [
        "content-type", "content-length", "content-encoding", "transfer-encoding", "host", "user-agent", "connection",
    ]

    private func header(_ name: String, _ key: Node, _ value: Node, _ section: Section) -> Configuration.Property? {
        guard let text = value.scalar?.string else {
            section.diagnostics.error(value, "\(section.path(name)) must be a string")
            return nil
        }
        let base = name.hasSuffix("_file") ? String(name.dropLast(5)) : name
        guard base == name || section.key(base) == nil else {
            section.diagnostics.error(key, "\(section.path(base)) stands here too; keep one of them")
            return nil
        }
        guard !base.isEmpty, base.utf8.allSatisfy(Self.isToken), !Self.own.contains(base.lowercased()) else {
            section.diagnostics.error(
                key, "\(section.path(name)) is no header that can be chosen; write one such as authorization")
            return nil
        }
        let found = base == name ? text : section.secret(ofFile: text, value, named: section.path(name), source)
        guard let found else { return nil }
        // As a header can carry it (RFC 9110, section 5.5).
        guard (1...4096).contains(found.utf8.count), found.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            let origin = base == name ? section.path(name) : "the file of \(section.path(name))"
            section.diagnostics.error(value, "\(origin) must be up to 4096 visible ASCII characters")
            return nil
        }
        return Configuration.Property(name: base, value: found, place: section.diagnostics.place(of: key))
    }

    /// Returns whether `byte` may be part of a header's name (RFC 9110, section 5.6.2).
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
