import Yams

/// Reads `kafka`: the brokers, the group, and librdkafka's own properties.
struct KafkaReader {
    private typealias Keys = Configuration.Kafka

    let source: ConfigurationSource

    func read(_ section: Section, into kafka: inout Configuration.Kafka) {
        let servers = servers(section)
        var brokers: BrokerList?
        if let servers, !Keys.isEmbedded(servers.value) {
            do throws(BrokerList.Problem) {
                let list = try BrokerList(servers.value)
                kafka.bootstrapServers = list.text
                brokers = list
            } catch { section.diagnostics.error(servers.node, "\(section.path(of: Keys.serversKey)): \(error)") }
        } else if let servers {
            kafka.bootstrapServers = servers.value
        }
        section.read(Keys.settings, into: &kafka)
        if let suffix = Self.laneSuffixes.first(where: kafka.group.hasSuffix) {
            section.diagnostics.error(
                section.value(of: Keys.group),
                "\(section.path(of: Keys.group)) must not end in \(suffix): the lanes of the group without it have that name; choose another"
            )
        }
        if let properties = section.read(Keys.propertiesKey) {
            kafka.properties = properties.all.compactMap { key, name, value in
                property(name, key, value, properties)
            }
        }
        if let servers, let brokers, isProtocolKnown(section) {
            requireEncryption(kafka, brokers, servers.node, section)
            requireProtocol(kafka, brokers, servers.node, section)
        }
        let oauth = Configuration.OAuth.section
        kafka.oauth = OAuthReader(source: source).read(section.section(oauth), isThere: section.value(of: oauth) != nil)
        if section.value(of: oauth) != nil { requireMechanism(kafka, section) }
        section.finish()
    }

    /// Returns the brokers' text with its place; nil after reporting an error.
    private func servers(_ section: Section) -> (value: String, node: Node)? {
        if let node = section.value(of: Keys.serversKey), node.sequence != nil {
            section.diagnostics.refuse(
                node,
                "\(section.path(of: Keys.serversKey)) must be a string: host:port, several brokers separated by commas")
        }
        return section.placed(Keys.serversKey)
    }

    /// Returns whether the clients' protocol can be read; false where its value or all properties were refused.
    private func isProtocolKnown(_ section: Section) -> Bool {
        let properties = section.value(of: Keys.propertiesKey)
        let diagnostics = section.diagnostics
        return !diagnostics.isRefused(properties)
            && !diagnostics.isRefused(properties?.mapping?["security.protocol"])
    }

    private func property(_ name: String, _ key: Node, _ value: Node, _ section: Section) -> Configuration.Property? {
        guard let text = value.scalar?.string else {
            section.diagnostics.error(value, "\(section.path(name)) must be a string or a number")
            return nil
        }
        let base = name.hasSuffix("_file") ? String(name.dropLast(5)) : name
        guard base == name || section.key(base) == nil else {
            section.diagnostics.error(key, "\(base) stands here too; keep one of them")
            return nil
        }
        guard !Configuration.Kafka.ownProperties.contains(base) else {
            section.diagnostics.error(key, "\(base) is set by the worker itself; remove it")
            return nil
        }
        guard !section.diagnostics.isRefused(value) else { return nil }
        guard let text = base == name ? text : contents(ofFile: text, of: base, named: name, value, section) else {
            return nil
        }
        if Self.isUnverified(base, text) {
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

    private func contents(
        ofFile path: String, of base: String, named name: String, _ node: Node, _ section: Section
    ) -> String? {
        Self.publicTexts.contains(base)
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
    private func requireMechanism(_ kafka: Configuration.Kafka, _ section: Section) {
        for property in kafka.properties where ["sasl.mechanism", "sasl.mechanisms"].contains(property.name) {
            guard property.value.uppercased() != "OAUTHBEARER" else { continue }
            section.diagnostics.error(
                at: property.place, "\(property.name) is another mechanism than kafka.oauth is for; remove one of them")
        }
        let isSASL = kafka.properties.contains {
            $0.name == "security.protocol" && $0.value.lowercased().hasPrefix("sasl_")
        }
        guard !isSASL, isProtocolKnown(section) else { return }
        section.diagnostics.error(
            section.key(of: Configuration.OAuth.section),
            "kafka.oauth needs kafka.properties security.protocol: sasl_ssl")
    }

    /// Requires TLS, because tokens are sent here. Plain text needs a broker on this machine, or explicit permission.
    private func requireEncryption(
        _ kafka: Configuration.Kafka, _ brokers: BrokerList, _ node: Node, _ section: Section
    ) {
        let encrypted = kafka.properties.contains {
            $0.name == "security.protocol" && ["ssl", "sasl_ssl"].contains($0.value.lowercased())
        }
        guard !kafka.isEmbedded, !encrypted, !kafka.isInsecure else { return }
        guard !brokers.addresses.allSatisfy(\.isLocal) else { return }
        section.diagnostics.error(
            node,
            "brokers beyond this machine need kafka.properties security.protocol: ssl or sasl_ssl; or write kafka.insecure: true"
        )
    }

    /// Requires addresses with the client's protocol: librdkafka skips a broker whose address names another one.
    private func requireProtocol(
        _ kafka: Configuration.Kafka, _ brokers: BrokerList, _ node: Node, _ section: Section
    ) {
        let property = kafka.properties.last { $0.name == "security.protocol" }?.value.uppercased() ?? "PLAINTEXT"
        guard let scheme = brokers.addresses.lazy.compactMap(\.scheme).first(where: { $0 != property }) else { return }
        section.diagnostics.error(
            node,
            "kafka.bootstrap_servers names the protocol \(scheme), and kafka.properties has security.protocol: \(property.lowercased()); make them the same"
        )
    }
}
