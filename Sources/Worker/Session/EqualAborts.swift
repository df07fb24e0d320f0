import Kafka

/// Aborts that come one after the other for the same reason, which are no accident.
struct EqualAborts {
    /// So many are told of.
    private static let told = 3
    private var code: KafkaError.Code?
    private var count = 0

    /// Counts an abort.
    ///
    /// - Returns: whether it is the one to tell of.
    mutating func isTelling(_ code: KafkaError.Code) -> Bool {
        count = self.code == code ? count + 1 : 1
        self.code = code
        return count == Self.told
    }
}
