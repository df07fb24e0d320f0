import Pipeline

/// The subject keys of tokens that a `LedgerTable` counted and a filter matches, so that the topic need not be read
/// again for them.
///
/// The keys are in one piece of memory, one behind the other. If they exceed it, all are forgotten.
struct LedgerNotes {
    private struct Note {
        let start: Int
        let subject: SubjectHash
        let offset: Int64
        let issuedAt: Int64
    }

    private let limit: Int
    private var keys: [UInt8] = []
    private var notes: [Note] = []
    /// Whether every token was noted.
    private(set) var isComplete = true

    /// Notes without a key.
    ///
    /// - Parameter limit: the limit on their memory, in bytes.
    init(limit: Int) { self.limit = limit }

    /// Notes the token of the record at `offset` with its key, whose hash is `subject`.
    mutating func note(_ key: [UInt8], _ subject: SubjectHash, offset: Int64, issuedAt: Int64) {
        guard isComplete else { return }
        guard keys.count + key.count + (notes.count + 1) * MemoryLayout<Note>.stride <= limit else {
            isComplete = false
            (keys, notes) = ([], [])
            return
        }
        notes.append(Note(start: keys.count, subject: subject, offset: offset, issuedAt: issuedAt))
        keys += key
    }

    /// Calls `body` with each note's key and its hash, offset and time of issue.
    func each(_ body: (_ key: ArraySlice<UInt8>, _ subject: SubjectHash, _ offset: Int64, _ issuedAt: Int64) -> Void) {
        for (place, note) in notes.enumerated() {
            let end = place + 1 < notes.count ? notes[place + 1].start : keys.count
            body(keys[note.start..<end], note.subject, note.offset, note.issuedAt)
        }
    }
}
