extension Configuration {
    /// The traces and metrics that a worker sends to a collector, besides its log and its admin server.
    public struct Telemetry: Sendable, WithDefaults {
        /// The collector; nil to send nothing.
        public var collector: Collector?
        /// The share of events without trace context that begin a trace, from 0 to 1.
        public var sample = 0.0

        /// Every default.
        public init() {}
    }

    /// A collector that speaks OTLP over HTTP.
    public struct Collector: Sendable, WithDefaults {
        /// The collector's base URL: https, or http where no header is sent or the collector is on this machine.
        public var endpoint = ""
        /// The headers of each request, in the order of the file.
        public var headers: [Property] = []
        /// The file of the certificate authorities it is checked against, in PEM; nil for the system's.
        public var certificateAuthority: String?
        /// The timeout of a request, 100 ms to a minute.
        public var timeout = Duration.seconds(10)
        /// The interval between exports of metrics, 1 s to an hour.
        public var interval = Duration.seconds(60)

        /// Nowhere yet.
        public init() {}
    }
}

extension Configuration.Telemetry {
    static let section = SectionDescription(
        "telemetry", "Traces and metrics for a collector. Without otlp nothing is sent, and no event is followed.",
        sections: [
            traces, Configuration.Collector.section,
        ])

    static let traces = SectionDescription("traces", "", keys: settings.map(\.description))

    static let settings: [Setting<Self>] = [
        .share(
            "sample", \.sample, in: 0...1,
            """
            How many of the events without a traceparent begin a trace. One that has a traceparent is followed where its sampled flag \
            is set, and never else.
            """)
    ]
}

extension Configuration.Collector {
    static let section = SectionDescription(
        "otlp", "The collector: OTLP over HTTP, as JSON.",
        keys: [endpointKey.description, headersKey.description, authorityKey.description] + settings.map(\.description),
        isRare: true, ifAbsent: .nothing)

    static let endpointKey = DeclaredKey.endpoint(
        "endpoint", example: "http://127.0.0.1:4318", isRequired: true,
        "Its base URL; /v1/traces and /v1/metrics are put behind it. https where headers go beyond this machine.")

    static let headersKey = DeclaredKey.mapping(
        "headers", .texts, example: "{ authorization_file: secrets/otlp-authorization }", isSecret: true,
        "What goes with each request. A name with _file behind it reads its value from that file, mode 600.")

    static let authorityKey = DeclaredKey.text(
        "certificate_authority", form: .path, example: "ca.pem",
        "Certificate authorities in PEM, where the endpoint's certificate is not from one the system knows.")

    static let settings: [Setting<Self>] = [
        .duration(
            "timeout", \.timeout, in: .milliseconds(100)...(.seconds(60)), "How long an answer may take."),
        .duration(
            "interval", \.interval, in: .seconds(1)...(.seconds(3600)),
            "How often the metrics are sent. Spans go at once, or after a second."),
    ]
}
