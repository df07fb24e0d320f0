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
        "telemetry",
        "Traces and metrics for a collector. Without otlp, Remint sends nothing, and traces no event.",
        sections: [
            traces, Configuration.Collector.section,
        ])

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
        "otlp", "Collector that receives the traces and metrics: OTLP over HTTP, as JSON.",
        keys: [endpointKey.description, headersKey.description, authorityKey.description] + settings.map(\.description),
        isRare: true, ifAbsent: .nothing)

    static let endpointKey = FileKey.endpoint(
        "endpoint", example: "http://127.0.0.1:4318", isRequired: true,
        """
        Base URL of the collector. Remint appends /v1/traces and /v1/metrics. The URL must be https if Remint sends \
        headers to another machine.
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
            "Longest time that Remint waits for the collector's answer."),
        .duration(
            "interval", \.interval, in: .seconds(1)...(.seconds(3600)),
            "Time between two exports of the metrics. Remint sends spans at once, or after a second."),
    ]
}
