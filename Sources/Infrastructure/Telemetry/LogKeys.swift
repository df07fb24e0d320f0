package import Logging

/// The keys of every log line's details. Messages are constant; each variable value is under one of these keys.
///
/// The values never contain a token, a user, a claim or a key.
public enum LogKey {
    /// The id of the line's event: `worker.consuming`. It stays the same when the message changes.
    public static let event = "remint.event"
    public static let app = "remint.app"
    /// The stable code of a dead letter.
    public static let errorCode = "remint.error.code"
    /// Traces that events belong to, by their ids (W3C Trace Context).
    public static let traces = "remint.traces"
    public static let detail = "remint.detail"
    /// The length of an outage so far, or of one that is over: `1m50s`.
    public static let outage = "remint.outage"
    /// The number of lines about the same fault that were written at `debug`.
    public static let repeats = "remint.repeats"
    /// The service that logs, where a process runs several: `worker` or `gateway`.
    public static let service = "remint.service"
    public static let version = "remint.version"
    /// The kind of build, and the libraries' versions.
    public static let build = "remint.build"
    /// The effective limits, by their configuration keys.
    public static let limits = "remint.limits"
    /// Names of configuration keys, as the file writes them.
    public static let configurationKeys = "remint.configuration.keys"
    public static let delivery = "remint.delivery"
    public static let lane = "remint.lane"
    /// The worker's name among its group's.
    public static let instance = "remint.instance"
    public static let users = "remint.users"
    public static let keyRing = "remint.key.ring"
    /// A credential at a vendor's REST API, by the name of the first app that has it.
    public static let account = "remint.lookup.account"
    /// The reason that a look-up has no answer.
    public static let lookupFailure = "remint.lookup.failure"
    public static let keyVersion = "remint.key.version"
    public static let signerSocket = "remint.signer.socket"
    /// The id of the user on the other side of a signer's socket.
    public static let signerUser = "remint.signer.user"
    public static let signatures = "remint.signatures"
    /// The number of signatures that a policy refused.
    public static let signaturesRefused = "remint.signatures.refused"
    /// The number of signatures that a key could not make.
    public static let signaturesFailed = "remint.signatures.failed"
    public static let connections = "remint.connections"
    public static let adminAddress = "remint.admin.address"
    public static let pickupAddress = "remint.pickup.address"
    public static let topic = "kafka.topic"
    public static let partitions = "kafka.partitions"
    /// An offset of a partition, such as the one at which it begins.
    public static let offset = "kafka.offset"
    /// The offset up to which this process had committed a partition.
    public static let committedOffset = "kafka.offset.committed"
    public static let records = "kafka.records"
    public static let kafkaError = "kafka.error"
    /// The part of librdkafka that a line is from.
    public static let libraryFacility = "kafka.facility"
    /// A broker's address.
    public static let bootstrapServers = "kafka.bootstrap_servers"
}

/// Lines with an id. Every log line of the program has one, which tests and alerts match instead of the message.
extension Logger {
    package func debug(
        _ event: StaticString, _ message: @autoclosure () -> Message, error: (any Error)? = nil,
        metadata: @autoclosure () -> Metadata = [:]
    ) { write(.debug, event, message, error, metadata) }

    package func info(
        _ event: StaticString, _ message: @autoclosure () -> Message, error: (any Error)? = nil,
        metadata: @autoclosure () -> Metadata = [:]
    ) { write(.info, event, message, error, metadata) }

    package func notice(
        _ event: StaticString, _ message: @autoclosure () -> Message, error: (any Error)? = nil,
        metadata: @autoclosure () -> Metadata = [:]
    ) { write(.notice, event, message, error, metadata) }

    package func warning(
        _ event: StaticString, _ message: @autoclosure () -> Message, error: (any Error)? = nil,
        metadata: @autoclosure () -> Metadata = [:]
    ) { write(.warning, event, message, error, metadata) }

    package func error(
        _ event: StaticString, _ message: @autoclosure () -> Message, error: (any Error)? = nil,
        metadata: @autoclosure () -> Metadata = [:]
    ) { write(.error, event, message, error, metadata) }

    package func critical(
        _ event: StaticString, _ message: @autoclosure () -> Message, error: (any Error)? = nil,
        metadata: @autoclosure () -> Metadata = [:]
    ) { write(.critical, event, message, error, metadata) }

    private func write(
        _ level: Level, _ event: StaticString, _ message: () -> Message, _ error: (any Error)?,
        _ metadata: () -> Metadata
    ) {
        guard level >= logLevel else { return }
        log(
            level: level, message(), error: error,
            metadata: metadata().merging([LogKey.event: "\(event)"]) { $1 })
    }
}
