import AdapterKit

/// What vendors said of users, for as long as it is believed, in bounded memory.
///
/// Two generations: what is asked for moves to the younger one, and when that is full the older one is forgotten whole. So
/// at most `capacity` answers are kept, and those that nobody asks for go first.
struct AnswerCache: Sendable {
    /// An answer that may be acted upon.
    enum Answer: Sendable, Equatable {
        case exists(Enrichment)
        case gone
        case unknown
    }

    private struct Entry: Sendable {
        let answer: Answer
        let expiresAt: UnixTime
    }

    private let capacity: Int
    private var young: [SubjectID: Entry] = [:]
    private var old: [SubjectID: Entry] = [:]

    /// A cache of at most `capacity` answers, at least two.
    init(capacity: Int) { self.capacity = max(2, capacity) }

    var count: Int { young.count + old.count }

    /// The answer about `id`, where there is one that is still believed.
    mutating func answer(about id: SubjectID, at now: UnixTime) -> Answer? {
        if let entry = young[id] { return entry.expiresAt > now ? entry.answer : nil }
        guard let entry = old.removeValue(forKey: id), entry.expiresAt > now else { return nil }
        keep(entry, id)
        return entry.answer
    }

    mutating func keep(_ answer: Answer, about id: SubjectID, until moment: UnixTime) {
        old[id] = nil
        keep(Entry(answer: answer, expiresAt: moment), id)
    }

    private mutating func keep(_ entry: Entry, _ id: SubjectID) {
        if young.count >= capacity / 2, young[id] == nil {
            old = young
            young = [:]
        }
        young[id] = entry
    }
}
