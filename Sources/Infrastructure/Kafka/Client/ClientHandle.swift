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

    /// Notes the statistics of an event.
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
