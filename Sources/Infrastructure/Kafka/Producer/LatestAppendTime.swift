import CRdKafka
import Synchronization

/// The last time that a broker gave a delivered record. Noted once for each report of deliveries, which has up to
/// thousands of records.
final class LatestAppendTime: Sendable {
    /// The number that librdkafka's embedded broker answers in place of a time, in milliseconds (2.0.2,
    /// `rdkafka_mock_handlers.c`: `LogAppendTimeMs` of a produce response).
    private static let noTime: Int64 = 1234

    private let latest = Mutex<AppendTime?>(nil)

    /// Notes the time of a delivered record if a broker set it.
    func note(_ message: UnsafePointer<rd_kafka_message_t>) {
        guard unsafe message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = unsafe rd_kafka_message_timestamp(message, &kind)
        guard kind == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME, timestamp >= 0, timestamp != Self.noTime else { return }
        latest.withLock { $0 = AppendTime(milliseconds: timestamp, readAt: .now) }
    }

    /// Returns the time that was noted since the last call.
    func take() -> AppendTime? {
        latest.withLock { latest in
            defer { latest = nil }
            return latest
        }
    }
}
