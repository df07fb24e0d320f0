import CRdKafka

/// librdkafka's configuration: names and values, later ones winning. Any property may be set.
package struct ClientProperties: Sendable, ExpressibleByDictionaryLiteral {
    private(set) var values: [(name: String, value: String)] = []
    /// The source of the clients' SASL/OAUTHBEARER tokens; nil if they need none.
    package var tokens: BearerTokenProvider?

    /// An empty set of properties.
    package init() {}

    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { self[name] = value }
    }

    package subscript(name: String) -> String? {
        get { values.last { $0.name == name }?.value }
        set {
            values.removeAll { $0.name == name }
            if let newValue { values.append((name, newValue)) }
        }
    }

    /// Returns these properties, overridden by `others`.
    package func merging(_ others: ClientProperties) -> ClientProperties {
        var merged = self
        for (name, value) in others.values { merged[name] = value }
        merged.tokens = others.tokens ?? tokens
        return merged
    }

    /// Returns these properties, with `defaults` where they have no value.
    package func withDefaults(_ defaults: ClientProperties) -> ClientProperties { defaults.merging(self) }

    /// Checks every property with librdkafka itself, one by one, without making a client.
    ///
    /// - Returns: The errors, each with the property's name. A value never appears in them.
    package func problems() -> [(name: String, message: String)] {
        guard let configuration = unsafe rd_kafka_conf_new() else { return [] }
        defer { unsafe rd_kafka_conf_destroy(configuration) }
        return values.compactMap { name, value in
            unsafe Self.set(name, value, on: configuration).map { (name, $0) }
        }
    }

    package enum ClientKind: Sendable {
        case producer
        case consumer
    }

    /// Makes a client with these properties and ends it at once, without a connection: only then librdkafka checks
    /// their combination, files and credentials.
    ///
    /// - Returns: The reason why no client can be made; nil if one can.
    package func refusal(of kind: ClientKind) -> String? {
        var properties = self
        properties["bootstrap.servers"] = nil
        properties["log_level"] = "0"
        let configuration: OpaquePointer
        do throws(KafkaError) { unsafe configuration = try unsafe properties.makeConfiguration() } catch {
            return error.message
        }
        // librdkafka makes no client of OAUTHBEARER without a handler for a token's end.
        if tokens != nil { unsafe rd_kafka_conf_set_events(configuration, RD_KAFKA_EVENT_OAUTHBEARER_TOKEN_REFRESH) }
        var text = [CChar](repeating: 0, count: 512)
        let type = kind == .producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER
        guard let client = unsafe rd_kafka_new(type, configuration, &text, text.count) else {
            // librdkafka owns the configuration only once it made a client.
            unsafe rd_kafka_conf_destroy(configuration)
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        unsafe rd_kafka_destroy(client)
        return nil
    }

    /// Returns a configuration that a client takes over, or that the caller destroys.
    func makeConfiguration() throws(KafkaError) -> OpaquePointer {
        guard let configuration = unsafe rd_kafka_conf_new() else {
            throw KafkaError(.invalidArgument, "out of memory")
        }
        for (name, value) in values {
            if let problem = unsafe Self.set(name, value, on: configuration) {
                unsafe rd_kafka_conf_destroy(configuration)
                throw KafkaError(.invalidArgument, "the property \(name) \(problem)")
            }
        }
        return unsafe configuration
    }

    /// Sets a property, and returns the problem if it is wrong, otherwise nil. librdkafka's own text repeats the value,
    /// which may be a password, so it is not passed on.
    private static func set(_ name: String, _ value: String, on configuration: OpaquePointer) -> String? {
        switch unsafe rd_kafka_conf_set(configuration, name, value, nil, 0) {
        case RD_KAFKA_CONF_OK: nil
        case RD_KAFKA_CONF_UNKNOWN:
            "is not one that librdkafka \(KafkaLibrary.version) knows; correct its name or remove it"
        default: unsafe wordsOnJava(name, configuration) ?? "does not take that value; correct it or remove it"
        }
    }

    /// Returns librdkafka's words on a property that only the Java client has, which name the replacement; nil for any
    /// other. The value in the configuration may be a secret, so the question has another one.
    private static func wordsOnJava(_ name: String, _ configuration: OpaquePointer) -> String? {
        var text = [CChar](repeating: 0, count: 512)
        _ = unsafe rd_kafka_conf_set(configuration, name, "-", &text, text.count)
        let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return words.hasPrefix("Java ") ? "is Java's: \(words)" : nil
    }
}

/// The library behind this module.
package enum KafkaLibrary {
    package static var version: String { unsafe String(cString: rd_kafka_version_str()) }
}
