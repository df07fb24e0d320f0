import CRdKafka

/// A consumer's identity in its group, as a transaction sends it along (KIP-447).
///
/// `@unchecked Sendable`: never changed after the initializer; librdkafka copies it for a transaction, and it is freed
/// with the last reference.
@safe
public final class ConsumerGroupMetadata: @unchecked Sendable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }

    deinit { unsafe rd_kafka_consumer_group_metadata_destroy(pointer) }
}
