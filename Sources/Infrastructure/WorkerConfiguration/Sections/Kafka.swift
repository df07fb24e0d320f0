import Yams

extension Configuration {
    /// The Kafka cluster: brokers, group, client properties and OAuth tokens.
    public struct Kafka: Sendable, WithDefaults {
        /// The brokers; `embedded` or `embedded:PORT` for librdkafka's own mock cluster in this process.
        package var bootstrapServers = "127.0.0.1:9092"
        package var group = "remint"
        /// This worker's name among its group's; nil for one derived from the host's.
        package var instance: String?
        /// librdkafka properties, in the order of the file.
        package var properties: [Property] = []
        /// Whether brokers beyond this machine may be spoken to in plain text.
        package var isInsecure = false
        /// The source of the SASL/OAUTHBEARER tokens; nil if none are used.
        package var oauth: OAuth?

        /// Whether the broker runs in this process.
        package var isEmbedded: Bool { Self.isEmbedded(bootstrapServers) }
        /// The port of the embedded broker; nil for one that the system chooses, and for brokers in other processes.
        package var embeddedPort: UInt16? { Self.embeddedPort(in: bootstrapServers) }

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
        package let name: String
        /// The property's value, which may be a secret.
        package let value: String
        package let place: FileLocation
        /// Whether the configuration's file has the value itself, and neither the environment nor a file that it names.
        package var isLiteral = false

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

// MARK: Reading

extension Configuration.Kafka {
    init(reading section: Section, _ source: ConfigurationSource) {
        let servers = Self.servers(section)
        var brokers: BrokerList?
        if let servers, !Self.isEmbedded(servers.value) {
            do throws(BrokerList.Problem) {
                let list = try BrokerList(servers.value)
                bootstrapServers = list.text
                brokers = list
            } catch { section.diagnostics.error(servers.node, "\(section.path(of: Self.serversKey)): \(error)") }
        } else if let servers {
            bootstrapServers = servers.value
        }
        section.read(Self.settings, into: &self)
        if let suffix = Self.laneSuffixes.first(where: group.hasSuffix) {
            section.error(
                Self.group,
                "must not end in \(suffix): the lanes of the group without it have that name; choose another")
        }
        if let properties = section.read(Self.propertiesKey) {
            self.properties = properties.all.compactMap { key, name, value in
                Self.property(name, key, value, properties, source)
            }
        }
        if let servers, let brokers, Self.isProtocolKnown(section) {
            requireEncryption(brokers, servers.node, section)
            requireProtocol(brokers, servers.node, section)
        }
        oauth = Configuration.OAuth.read(section, source)
        if section.value(of: Configuration.OAuth.section) != nil { requireMechanism(section) }
        section.finish()
    }

    /// Returns the brokers' text with its place; nil after reporting an error.
    private static func servers(_ section: Section) -> (value: String, node: Node)? {
        if let node = section.value(of: Self.serversKey), node.sequence != nil {
            section.diagnostics.refuse(
                node,
                "\(section.path(of: Self.serversKey)) must be a string: host:port, several brokers separated by commas")
        }
        return section.placed(Self.serversKey)
    }

    /// Returns whether the clients' protocol can be read; false where its value or all properties were refused.
    private static func isProtocolKnown(_ section: Section) -> Bool {
        let properties = section.value(of: Self.propertiesKey)
        let diagnostics = section.diagnostics
        return !diagnostics.isRefused(properties)
            && !diagnostics.isRefused(properties?.mapping?["security.protocol"])
    }

    private static func property(
        _ name: String, _ key: Node, _ value: Node, _ section: Section, _ source: ConfigurationSource
    ) -> Configuration.Property? {
        guard let text = value.scalar?.string else {
            section.diagnostics.error(value, "\(section.path(name)) must be a string or a number")
            return nil
        }
        let base = name.hasSuffix("_file") ? String(name.dropLast(5)) : name
        guard base == name || section.key(base) == nil else {
            section.diagnostics.error(key, "\(base) stands here too; keep one of them")
            return nil
        }
        guard !ownProperties.contains(base) else {
            section.diagnostics.error(key, "\(base) is set by the worker itself; remove it")
            return nil
        }
        guard !section.diagnostics.isRefused(value) else { return nil }
        guard let text = base == name ? text : contents(ofFile: text, of: base, named: name, value, section, source)
        else {
            return nil
        }
        if isUnverified(base, text) {
            section.diagnostics.error(
                key, "certificates and host names are always checked; give a private CA with ssl.ca.location")
            return nil
        }
        return Configuration.Property(
            name: base, value: text, place: section.diagnostics.place(of: key),
            isLiteral: base == name && !section.diagnostics.isCompleted(value))
    }

    /// The suffixes of the groups of all lanes but the live one. A fleet whose group has such a suffix would join
    /// another fleet's lane.
    private static let laneSuffixes = ["-retries", "-bulk"]

    private static func contents(
        ofFile path: String, of base: String, named name: String, _ node: Node, _ section: Section,
        _ source: ConfigurationSource
    ) -> String? {
        publicTexts.contains(base)
            ? section.contents(ofFile: path, node, named: name, source)
            : section.secret(ofFile: path, node, named: name, source)
    }

    /// Certificates, which anybody may read and which can be many.
    private static let publicTexts: Set<String> = ["ssl.ca.pem", "ssl.certificate.pem"]

    private static func isUnverified(_ name: String, _ value: String) -> Bool {
        switch name {
        case "enable.ssl.certificate.verification": value.lowercased() != "true"
        case "ssl.endpoint.identification.algorithm": value.lowercased() != "https"
        default: false
        }
    }

    /// Requires SASL with OAUTHBEARER, the only mechanism that presents tokens to brokers.
    private func requireMechanism(_ section: Section) {
        for property in properties where ["sasl.mechanism", "sasl.mechanisms"].contains(property.name) {
            guard property.value.uppercased() != "OAUTHBEARER" else { continue }
            section.diagnostics.error(
                at: property.place, "\(property.name) is another mechanism than kafka.oauth is for; remove one of them")
        }
        let isSASL = properties.contains {
            $0.name == "security.protocol" && $0.value.lowercased().hasPrefix("sasl_")
        }
        guard !isSASL, Self.isProtocolKnown(section) else { return }
        section.diagnostics.error(
            section.key(of: Configuration.OAuth.section),
            "kafka.oauth needs kafka.properties security.protocol: sasl_ssl")
    }

    /// Requires TLS, because tokens are sent here. Plain text needs a broker on this machine, or explicit permission.
    private func requireEncryption(_ brokers: BrokerList, _ node: Node, _ section: Section) {
        let encrypted = properties.contains {
            $0.name == "security.protocol" && ["ssl", "sasl_ssl"].contains($0.value.lowercased())
        }
        guard !isEmbedded, !encrypted, !isInsecure else { return }
        guard !brokers.addresses.allSatisfy(\.isLocal) else { return }
        section.diagnostics.error(
            node,
            "brokers beyond this machine need kafka.properties security.protocol: ssl or sasl_ssl; or write kafka.insecure: true"
        )
    }

    /// Requires addresses with the client's protocol: librdkafka skips a broker whose address names another one.
    private func requireProtocol(_ brokers: BrokerList, _ node: Node, _ section: Section) {
        let property = properties.last { $0.name == "security.protocol" }?.value.uppercased() ?? "PLAINTEXT"
        guard let scheme = brokers.addresses.lazy.compactMap(\.scheme).first(where: { $0 != property }) else { return }
        section.diagnostics.error(
            node,
            "kafka.bootstrap_servers names the protocol \(scheme), and kafka.properties has security.protocol: \(property.lowercased()); make them the same"
        )
    }
}
