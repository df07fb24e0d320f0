import CRdKafka

/// The library behind this module.
public enum KafkaLibrary {
    /// Its version, as the system has it.
    public static var version: String { unsafe String(cString: rd_kafka_version_str()) }
}
