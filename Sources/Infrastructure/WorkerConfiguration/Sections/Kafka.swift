extension Configuration {
    /// The Kafka cluster: brokers, group, client properties and OAuth tokens.
    public struct Kafka: Sendable, WithDefaults {
        /// The brokers; `embedded` or `embedded:PORT` for librdkafka's own mock cluster in this process.
        public var bootstrapServers = "127.0.0.1:9092"
        /// The consumer group of the live lane, and the beginning of the others' names.
        public var group = "remint"
        /// This worker's name among its group's; nil for one derived from the host's.
        public var instance: String?
        /// librdkafka properties, in the order of the file.
        public var properties: [Property] = []
        /// Whether brokers beyond this machine may be spoken to in plain text.
        public var isInsecure = false
        /// The source of the SASL/OAUTHBEARER tokens; nil if none are used.
        public var oauth: OAuth?

        /// Every default.
        public init() {}

        /// Whether the broker runs in this process.
        public var isEmbedded: Bool { Self.isEmbedded(bootstrapServers) }
        /// The port of the embedded broker; nil for one that the system chooses, and for brokers in other processes.
        public var embeddedPort: UInt16? { Self.embeddedPort(in: bootstrapServers) }

        /// Returns whether `text` names the embedded broker: `embedded` or `embedded:PORT`.
        package static func isEmbedded(_ text: String) -> Bool { text == "embedded" || embeddedPort(in: text) != nil }

        /// Returns the port in `embedded:PORT`; nil for any other string.
        package static func embeddedPort(in text: String) -> UInt16? {
            let name = "embedded:"
            guard text.hasPrefix(name), text.dropFirst(name.count).allSatisfy({ "0"..."9" ~= $0 }),
                let port = UInt16(text.dropFirst(name.count)), port > 0
            else { return nil }
            return port
        }
    }

    /// A librdkafka property. However it is printed, its value is not: it may be a password.
    public struct Property: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        /// The property's name.
        public let name: String
        /// The property's value, which may be a secret.
        public let value: String
        /// The property's place in the file.
        public let place: FileLocation
        /// Whether the configuration's file has the value itself, and neither the environment nor a file that it names.
        public var isLiteral = false

        /// The property's name and place, without its value.
        public var description: String { "\(name) (\(place.file):\(place.line))" }
        /// The same as `description`.
        public var debugDescription: String { description }
        /// The property's name alone.
        public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
    }
}

extension Configuration.Kafka {
    static let section = SectionDescription(
        "kafka", "", keys: [serversKey.description] + settings.map(\.description) + [propertiesKey.description],
        sections: [Configuration.OAuth.section], ifAbsent: .refused)

    static let serversKey = FileKey.text(
        "bootstrap_servers", example: "${REMINT_BROKERS:-\(Configuration.Kafka().bootstrapServers)}",
        isRequired: true,
        """
        Brokers as host:port, separated by commas. The port is required. With "embedded", the worker starts \
        librdkafka's mock cluster in its own process and logs the address. With "embedded:PORT", the mock cluster uses \
        this port of this machine.
        """)

    static let group: Setting<Self> = .text(
        "group", \.group,
        """
        Consumer group of the live lane. The consumer groups of the retry and bulk lanes are <group>-retries and \
        <group>-bulk. The workers of one group share the partitions.
        """)

    private static let instance: Setting<Self> = .text(
        "instance", ifPresent: \.instance, example: "worker-0",
        """
        Name of this worker in its group. The worker uses the name in its transactional id (<group>-<instance>) and in \
        its member names (group.instance.id). The name must be unique among live workers, and stay the same after a \
        restart: the worker then gets its partitions back at once. By default, the worker derives a name from the \
        host; each process on the host has a different name.
        """)

    static let settings: [Setting<Self>] = [
        group, instance,
        .bool(
            "insecure", \.isInsecure,
            """
            Whether connections to brokers on other machines may be in plain text. If false, these brokers need TLS: \
            set security.protocol: ssl or sasl_ssl in properties.
            """),
    ]

    /// The properties that the configuration may not set, by name: those that the delivery guarantees depend on, and
    /// those with a key of their own.
    package static let ownProperties = [
        "auto.commit.enable",
        // The worker decides, counts and logs where a partition is read from.
        "auto.offset.reset",
        "bootstrap.servers",
        // Deliveries are waited for one by one.
        "delivery.report.only.error",
        "enable.auto.commit", "enable.auto.offset.store", "enable.idempotence", "enable.partition.eof", "group.id",
        "group.instance.id", "group.protocol", "isolation.level", "log.queue", "metadata.broker.list",
        "offset.store.method", "partition.assignment.strategy",
        // All tokens of a user are in one partition, in their order.
        "partitioner",
        // Code that nobody checks, in a process with keys; and a cluster that keeps nothing.
        "plugin.library.paths", "test.mock.num.brokers",
        "topic.blacklist", "transactional.id",
    ]

    static let propertiesKey = FileKey.mapping(
        "properties", .properties, example: "{ client.id: remint }", isSecret: true,
        """
        Properties of librdkafka, such as security.protocol: sasl_ssl. With the suffix _file (sasl.password_file), \
        Remint reads the property's value from a file. Other accounts must not be able to read this file (mode 600), \
        except for ssl.ca.pem_file and ssl.certificate.pem_file. Remint always verifies certificates and host names. \
        Remint refuses these properties, because the worker sets them itself: \
        \(ownProperties.joined(separator: ", ")).
        """)
}
