extension Configuration {
    /// The traces that a worker sends to a collector.
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

        /// Nowhere yet.
        public init() {}
    }
}

extension Configuration.Telemetry {
    static let section = SectionDescription(
        "telemetry",
        "Traces for a collector. Without otlp, Remint sends nothing, and traces no event.",
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
        "otlp", "Collector that receives the traces: OTLP over HTTP, as JSON.",
        keys: [endpointKey.description, headersKey.description, authorityKey.description] + settings.map(\.description),
        isRare: true, ifAbsent: .nothing)

    static let endpointKey = DeclaredKey.endpoint(
        "endpoint", example: "http://127.0.0.1:4318", isRequired: true,
        """
        Base URL of the collector. Remint appends /v1/traces. The URL must be https if Remint sends headers to another \
        machine.
        """)

    static let headersKey = DeclaredKey.mapping(
        "headers", .texts, example: "{ authorization_file: secrets/otlp-authorization }", isSecret: true,
        """
        Headers of each request. With the suffix _file, Remint reads the header's value from a file, mode 600.
        """)

    static let authorityKey = DeclaredKey.text(
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
}
