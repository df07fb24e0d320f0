import Formats
import Yams

extension Configuration {
    /// The traces that a worker sends to a collector.
    public struct Telemetry: Sendable, WithDefaults {
        /// The collector; nil to send nothing.
        package var collector: Collector?
        /// The share of events without trace context that begin a trace, from 0 to 1.
        package var sample = 0.0
    }

    /// A collector that speaks OTLP over HTTP.
    public struct Collector: Sendable, WithDefaults {
        /// The collector's base URL: https, or http where no header is sent or the collector is on this machine.
        package var endpoint = ""
        /// The headers of each request, in the order of the file.
        package var headers: [Property] = []
        /// The file of the certificate authorities it is checked against, in PEM; nil for the system's.
        package var certificateAuthority: String?
        /// The timeout of a request, 100 ms to a minute.
        package var timeout = Duration.seconds(10)
    }
}

extension Configuration.Telemetry {
    static let section = SectionDescription(
        "telemetry",
        "Traces for a collector. Without otlp, Remint sends nothing, and traces no event.",
        sections: [
            traces, Configuration.Collector.section,
        ])

    init(reading section: Section, _ source: ConfigurationSource) {
        let traces = section.section(Self.traces)
        traces.read(Self.settings, into: &self)
        traces.finish()
        let collector = Configuration.Collector.section
        if section.value(of: collector) != nil {
            self.collector = Configuration.Collector(reading: section.section(collector), source)
        }
        section.finish()
    }

    static let traces = SectionDescription("traces", "", keys: settings.map(\.description))

    static let settings: [Setting<Self>] = [
        .share(
            "sample", \.sample, in: 0...1,
            """
            Share of the events without a traceparent that the worker traces. If an event has a traceparent, the \
            worker traces the event only if the sampled flag of its traceparent is set.
            """)
    ]
}

extension Configuration.Collector {
    static let section = SectionDescription(
        "otlp", "Collector that receives the traces: OTLP over HTTP, as JSON.",
        keys: .of(endpointKey, headersKey, authorityKey) + settings.map(\.description),
        isRare: true, ifAbsent: .nothing)

    static let endpointKey = FileKey.endpoint(
        "endpoint", example: "http://127.0.0.1:4318", isRequired: true,
        """
        Base URL of the collector. Remint appends /v1/traces. The URL must be https if Remint sends headers to another \
        machine.
        """)

    static let headersKey = FileKey.mapping(
        "headers", .mapping(of: .scalar), example: "{ authorization_file: secrets/otlp-authorization }", isSecret: true,
        """
        Headers of each request. With the suffix _file, Remint reads the header's value from a file, mode 600.
        """)

    static let authorityKey = FileKey.text(
        "certificate_authority", form: .path, example: "ca.pem",
        """
        File with the certificate authorities of the endpoint's certificate, in PEM. Default: the authorities of the \
        system.
        """)

    static let settings: [Setting<Self>] = [
        .duration(
            "timeout", \.timeout, in: .milliseconds(100)...(.seconds(60)),
            "Longest time that Remint waits for the collector's answer.")
    ]

    // MARK: Reading

    fileprivate init?(reading section: Section, _ source: ConfigurationSource) {
        defer { section.finish() }
        section.read(Self.settings, into: &self)
        certificateAuthority = Self.authority(section, source)
        let headers = section.read(Self.headersKey)
        if let headers {
            self.headers = headers.all.compactMap { key, name, value in
                Self.header(name, key, value, headers, source)
            }
        }
        guard let (url, node) = section.placed(Self.endpointKey) else { return nil }
        endpoint = url.text
        if let headers, !url.isEncrypted, !url.isLoopback, !headers.all.isEmpty {
            section.error(Self.endpointKey, at: node, "must be https: what \(headers.name) holds goes there")
        }
    }

    private static func authority(_ section: Section, _ source: ConfigurationSource) -> String? {
        guard let (path, node) = section.placed(authorityKey) else { return nil }
        let name = section.path(of: authorityKey)
        _ = section.contents(ofFile: path, node, named: name, source)
        return section.diagnostics.resolve(path)
    }

    /// The headers that the exporter itself sets.
    private static let own: Set<String> = [
        "content-type", "content-length", "content-encoding", "transfer-encoding", "host", "user-agent", "connection",
    ]

    private static func header(
        _ name: String, _ key: Node, _ value: Node, _ section: Section, _ source: ConfigurationSource
    ) -> Configuration.Property? {
        guard let text = value.scalar?.string else {
            section.diagnostics.error(value, "\(section.path(name)) must be a string")
            return nil
        }
        let base = name.hasSuffix("_file") ? String(name.dropLast(5)) : name
        guard base == name || section.key(base) == nil else {
            section.diagnostics.error(key, "\(section.path(base)) stands here too; keep one of them")
            return nil
        }
        guard !base.isEmpty, base.utf8.allSatisfy(isToken), !own.contains(base.lowercased()) else {
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

extension Configuration {
    /// The log's level and format.
    public struct Log: Sendable, WithDefaults {
        /// The format of log lines.
        public enum Format: String, Sendable, CaseIterable {
            case json, text
        }
        package var level = "info"
        package var format = Format.json

        package init() {}

        package init(level: String, format: Format = .json) {
            self.level = level
            self.format = format
        }

        /// swift-log's levels.
        package static let levels: [String] = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
    }
}

extension Configuration.Log: DeclaredSection {
    static let section = SectionDescription("log", "", keys: settings.map(\.description))

    static let level: Setting<Self> = .word(
        "level", \.level, of: levels, change: .reloads, "Minimum level of the logged lines.")

    static let format: Setting<Self> = .choice("format", \.format, "Format of the log lines on standard error.")

    static let settings = [level, format]
}
