import Kafka

/// The reaction that an error of a transactional call requires.
///
/// The order of the questions matters: librdkafka 2.0.2 marks some fencing errors as merely requiring an abort, and an
/// error without any mark is as final as a fatal one.
enum TransactionVerdict: Sendable, Equatable {
    /// Stop, because another producer took over.
    case fenced
    /// The clients are of no further use: make new ones.
    case unusable
    /// Abort, and take the events again.
    case abort
    /// Repeat the same call, with the same arguments, after a moment.
    case retry

    init(_ error: KafkaError) {
        if error.isFenced {
            self = .fenced
        } else if error.isFatal {
            self = .unusable
        } else if error.requiresAbort {
            self = .abort
        } else if error.isRetriable {
            self = .retry
        } else {
            self = .unusable
        }
    }
}
