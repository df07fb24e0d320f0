/// The subjects of whom nothing older counts while the token topic's past is read: their newest token ended, or was erased.
///
/// Bounded: where there are too many, no more of the past is taken.
struct PastSubjects: Sendable {
    /// The memory of one, with the room that a set keeps.
    private static let memory = 24
    /// The part of a cache's memory that they may take.
    private static let share = 16

    private var subjects: Set<Int> = []
    private(set) var isOpen = true
    private var isOver = false

    /// Their memory, in bytes.
    var bytes: Int { subjects.count * Self.memory }

    /// The past is about to be read; it is not where some of it was forgotten already.
    mutating func open() { isOpen = !isOver }

    /// The past was read as far as it is wanted.
    mutating func finish() {
        isOpen = false
        subjects = []
    }

    /// No more of the past is taken, ever: something was forgotten, and what is older must not be taken for newer.
    mutating func close() {
        isOver = true
        finish()
    }

    /// Nothing older of `key` counts.
    mutating func settle(_ key: [UInt8], within capacity: Int) {
        guard isOpen else { return }
        // A subject that is taken for another one is minted for anew.
        subjects.insert(key.hashValue)
        if bytes > capacity / Self.share { close() }
    }

    /// Whether nothing older of `key` counts.
    func isSettled(_ key: [UInt8]) -> Bool { !subjects.isEmpty && subjects.contains(key.hashValue) }
}
