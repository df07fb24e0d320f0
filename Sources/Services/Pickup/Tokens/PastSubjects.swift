/// The subjects whose older tokens do not count while the gateway reads the token topic's past: their newest token
/// expired, or was erased.
///
/// The set is bounded: where there are too many subjects, no more of the past is taken.
struct PastSubjects: Sendable {
    /// The memory of one subject in the set, in bytes.
    private static let memory = 24
    /// The limit of the set: a cache's memory divided by this.
    private static let share = 16

    private var subjects: Set<Int> = []
    private(set) var isOpen = true
    private var isOver = false

    /// The memory of the set, in bytes.
    var bytes: Int { subjects.count * Self.memory }

    /// Begins the reading of the past, unless some of it was forgotten already.
    mutating func open() { isOpen = !isOver }

    /// Ends the reading of the past.
    mutating func finish() {
        isOpen = false
        subjects = []
    }

    /// Stops taking tokens of the past for good: something was forgotten, and an older token must not count as a newer
    /// one.
    mutating func close() {
        isOver = true
        finish()
    }

    /// Notes that no older token of `key` counts.
    mutating func settle(_ key: [UInt8], within capacity: Int) {
        guard isOpen else { return }
        // A subject with the hash of another one gets a new token.
        subjects.insert(key.hashValue)
        if bytes > capacity / Self.share { close() }
    }

    /// Returns whether no older token of `key` counts.
    func isSettled(_ key: [UInt8]) -> Bool { !subjects.isEmpty && subjects.contains(key.hashValue) }
}
