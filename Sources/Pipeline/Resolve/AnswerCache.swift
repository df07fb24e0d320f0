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
        /// The app it was asked for.
        let app: String
    }

    private var capacity: Int
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

    mutating func keep(_ answer: Answer, about id: SubjectID, of app: String, until moment: UnixTime) {
        old[id] = nil
        keep(Entry(answer: answer, expiresAt: moment, app: app), id)
    }

    /// Goes on with room for `capacity` answers, and without those for apps that `isGone` names.
    mutating func goOn(capacity: Int, without isGone: (String) -> Bool) {
        self.capacity = max(2, capacity)
        // Each generation may hold half; of one that is too large, which answers go is as good as any.
        let half = self.capacity / 2
        for generation in [\AnswerCache.young, \AnswerCache.old] {
            self[keyPath: generation] = self[keyPath: generation].filter { !isGone($1.app) }
            let surplus = self[keyPath: generation].count - half
            for id in self[keyPath: generation].keys.prefix(max(0, surplus)) { self[keyPath: generation][id] = nil }
        }
    }

    private mutating func keep(_ entry: Entry, _ id: SubjectID) {
        if young.count >= capacity / 2, young[id] == nil {
            old = young
            young = [:]
        }
        young[id] = entry
    }
}
