import Kafka

/// Aborts that come one after the other for the same reason, which are no accident.
struct EqualAborts {
    /// The number of equal aborts in a row at which the worker logs one.
    private static let told = 3
    private var code: KafkaError.Code?
    private var count = 0

    /// Counts an abort.
    ///
    /// - Returns: Whether the worker logs this one.
    mutating func isTelling(_ code: KafkaError.Code) -> Bool {
        count = self.code == code ? count + 1 : 1
        self.code = code
        return count == Self.told
    }
}
