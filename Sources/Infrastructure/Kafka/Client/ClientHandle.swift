import CRdKafka
import Dispatch
import Logging
import Synchronization

/// An `rd_kafka_t` and the thread its blocking calls run on, so that none ever blocks a thread of the cooperative pool.
///
/// `@unchecked Sendable`: librdkafka's clients may be used from any thread. `destroy` is called once, by the owner, after
/// every other use.
@safe
final class ClientHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    let logger: Logger
    private let blockingCalls: DispatchQueue
    private let closed = Atomic(false)
    private let said = Mutex<KafkaError?>(nil)
    private let refusals = Mutex<Set<String>>([])
    let throttle = BrokerThrottle()
    /// The source of its OAUTHBEARER tokens; nil if it needs none.
    private let tokens: (provider: BearerTokenProvider, client: BearerClient)?

    init(_ type: rd_kafka_type_t, _ properties: ClientProperties, events: Int32, logger: Logger) throws(KafkaError) {
        // Logs come as events, like everything else.
        let configuration = try unsafe properties.merging(["log.queue": "true"]).makeConfiguration()
        unsafe rd_kafka_conf_set_events(configuration, events)
        if properties.tokens != nil { unsafe rd_kafka_conf_enable_sasl_queue(configuration, 1) }
        var text = [CChar](repeating: 0, count: 512)
        guard let pointer = unsafe rd_kafka_new(type, configuration, &text, text.count) else {
            // librdkafka owns the configuration only once it made a client.
            unsafe rd_kafka_conf_destroy(configuration)
            throw KafkaError(.invalidArgument, "no client could be made: \(Self.text(text))")
        }
        unsafe self.pointer = unsafe pointer
        self.logger = logger
        blockingCalls = DispatchQueue(label: "remint.kafka.blocking")
        unsafe rd_kafka_set_log_queue(pointer, nil)
        tokens = properties.tokens.map { provider in
            unsafe (provider, BearerClient(pointer, wakeup: provider.wakeup))
        }
        if let (provider, client) = tokens { provider.join(client, logger) }
    }

    /// Whether the client is gone or closing. Read and set on the client's own thread, where the closing has its turn:
    /// calls after it find no client.
    var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Begins the end. Called on the client's own thread.
    ///
    /// - Returns: false where that was done before.
    func beginClosing() -> Bool { !closed.exchange(true, ordering: .acquiringAndReleasing) }

    /// Runs a call that may block on this client's own thread.
    func blocking<Result: Sendable>(_ call: @escaping @Sendable (OpaquePointer) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            blockingCalls.async { [self] in unsafe continuation.resume(returning: call(pointer)) }
        }
    }

    /// Runs a call as `blocking` does, for a call that may throw.
    func blockingThrowing<Result: Sendable>(
        _ call: @escaping @Sendable (OpaquePointer) throws(KafkaError) -> Result
    ) async throws(KafkaError) -> Result {
        let result = unsafe await blocking { [self] pointer in
            Swift.Result { () throws(KafkaError) in
                if isClosed { throw .clientIsClosed }
                return try unsafe call(pointer)
            }
        }
        return try result.get()
    }

    /// Runs work on this client's own thread without waiting for it.
    func enqueue(_ work: @escaping @Sendable (OpaquePointer) -> Void) {
        blockingCalls.async { [self] in unsafe work(pointer) }
    }

    /// Frees the client. Blocks until its threads are gone, which a broken connection can delay.
    func destroy() {
        if let (provider, client) = tokens { provider.leave(client) }
        unsafe rd_kafka_destroy(pointer)
    }

    /// Handles an event every client may have. The caller destroys it.
    func handle(common event: OpaquePointer) -> KafkaError? {
        switch unsafe rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_LOG:
            if let topic = unsafe LibraryLog.write(event, to: logger) {
                refusals.withLock { _ = $0.insert(topic) }
            }
            return nil
        case RD_KAFKA_EVENT_STATS:
            unsafe throttle.note(event)
            return nil
        case RD_KAFKA_EVENT_ERROR:
            let error = unsafe self.error(of: event)
            // That all brokers are down follows from the errors before, and explains nothing.
            said.withLock { said in if said == nil || error.code != .allBrokersDown { said = error } }
            return error
        case RD_KAFKA_EVENT_OAUTHBEARER_TOKEN_REFRESH:
            let reason =
                "no source of OAUTHBEARER tokens: name one under kafka.oauth, or set sasl.mechanism to PLAIN or SCRAM"
            unsafe rd_kafka_oauthbearer_set_token_failure(pointer, reason)
            return nil
        default: return nil
        }
    }

    /// Returns the topics that no transaction may write, as far as was found since the last call. Only the library's log
    /// names them.
    func takeRefusals() -> Set<String> {
        refusals.withLock { refusals in
            defer { refusals = [] }
            return refusals
        }
    }

    /// The last error among the events; the one before it where it only means that all brokers are down.
    var lastError: KafkaError? { said.withLock { $0 } }

    /// Returns the error in an event: the instance's fatal error where there is one, because then nothing else counts.
    private func error(of event: OpaquePointer) -> KafkaError {
        let code = unsafe rd_kafka_event_error(event)
        let isFatal = unsafe code == RD_KAFKA_RESP_ERR__FATAL || rd_kafka_event_error_is_fatal(event) == 1
        if isFatal, let error = unsafe KafkaError(fatalOf: pointer) { return error }
        let message = unsafe rd_kafka_event_error_string(event).map { unsafe String(cString: $0) } ?? "unknown error"
        return KafkaError(KafkaError.Code(code), message, isFatal: isFatal)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The time for which brokers make a client wait because of a quota. librdkafka has no event for it: its statistics have the time.
struct BrokerThrottle: ~Copyable {
    private let milliseconds = Atomic(Int64(0))

    /// The longest wait of the last interval between two statistics.
    var longest: Duration { .milliseconds(milliseconds.load(ordering: .relaxed)) }

    func note(_ event: OpaquePointer) {
        guard let text = unsafe rd_kafka_event_stats(event) else { return }
        milliseconds.store(unsafe Self.longest(in: String(cString: text)), ordering: .relaxed)
    }

    /// Returns the longest throttle of any broker in librdkafka's statistics, in milliseconds. Each broker has a member
    /// `"throttle": { "min":0, "max":0, … }` (STATISTICS.md); no other part of them has this name.
    static func longest(in statistics: String) -> Int64 {
        statistics.components(after: "\"throttle\"").map { part in
            let window = part.prefix { $0 != "}" }
            let number = window.components(after: "\"max\"").first?.drop { $0 == ":" || $0 == " " }
            return number.flatMap { Int64($0.prefix(while: \.isNumber)) } ?? 0
        }.max() ?? 0
    }
}

extension StringProtocol {
    /// Returns the parts behind each `name`.
    fileprivate func components(after name: String) -> [SubSequence] {
        ranges(of: name).map { self[$0.upperBound...] }
    }
}

/// librdkafka's log lines, in swift-log.
enum LibraryLog {
    /// Writes a log event. The caller destroys it.
    ///
    /// - Returns: the topic that the coordinator refused to make part of a transaction, if the line is about one.
    static func write(_ event: OpaquePointer, to logger: Logger) -> String? {
        var facility: UnsafePointer<CChar>?
        var text: UnsafePointer<CChar>?
        var severity: Int32 = 0
        guard unsafe rd_kafka_event_log(event, &facility, &text, &severity) == 0, let text = unsafe text else {
            return nil
        }
        let line = unsafe String(cString: text)
        let part = unsafe facility.map { unsafe String(cString: $0) } ?? ""
        let level = level(ofPart: part) ?? level(ofSyslog: severity)
        logger.log(
            level: isOtherClients(line) ? .debug : level, "librdkafka",
            metadata: [
                "remint.event": "kafka.library",
                "kafka.facility": "\(part)",
                "kafka.text": "\(line)",
            ])
        return part == "ADDPARTS" ? refusedTopic(in: line) : nil
    }

    /// Returns the topic in the line of librdkafka 2.0.2 about a partition that the client may not make part of a
    /// transaction. Other errors pass, and are no reason to wait for a topic.
    static func refusedTopic(in line: String) -> String? {
        let parts = line.split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
        let refusal = unsafe String(cString: rd_kafka_err2str(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED))
        guard parts.count == 3, parts[0].hasSuffix("Failed to add partition "), parts[2].hasSuffix(refusal) else {
            return nil
        }
        return String(parts[1])
    }

    /// Returns whether a line is about properties of the other kind of client: consumers and producers share one
    /// configuration, and librdkafka logs the properties that one does not use.
    private static func isOtherClients(_ line: String) -> Bool {
        line.hasPrefix("[thrd:app]: Configuration property ") && line.contains("property and will be ignored by this")
    }

    /// Returns the log level of what the library tries again by itself, and what the client's own errors report where that
    /// does not help: a failed connection, and the request of a producer's id, which a cluster that has just begun refuses.
    private static func level(ofPart part: String) -> Logger.Level? {
        switch part {
        case "FAIL": .warning
        case "GETPID": .debug
        default: nil
        }
    }

    /// Returns the log level for a severity. librdkafka uses syslog's severities (RFC 5424, section 6.2.1). Its
    /// emergencies concern one connection, so none is more than an error here, and its messages about connections at
    /// level 6 do not deserve `info`.
    private static func level(ofSyslog severity: Int32) -> Logger.Level {
        switch severity {
        case ...3: .error
        case 4: .warning
        case 5: .notice
        case 6: .debug
        default: .trace
        }
    }
}

/// A client of the brokers, which its owner must close.
package protocol KafkaClient: Sendable {
    /// Closes the client. No other call may follow.
    ///
    /// - Returns: False if that took longer than `limit`; then it continues in the background.
    @discardableResult
    func close(within limit: Duration) async -> Bool
}

extension KafkaClient {
    /// Returns the result of `work` with the client, and closes the client whether `work` returns, throws or is canceled.
    ///
    /// - Parameter limit: The longest time for closing. After an error it is a second at most: nobody needs what the client
    ///   still holds, and the brokers may be the error's cause.
    /// - Throws: The error of `work`.
    package func whileOpen<Result, Failure: Error>(
        closingWithin limit: Duration = .seconds(1), _ work: (Self) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let result: Result
        do throws(Failure) { result = try await work(self) } catch {
            await close(within: min(limit, .seconds(1)))
            throw error
        }
        await close(within: limit)
        return result
    }
}
