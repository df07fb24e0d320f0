import AdapterKit

/// A cache of the vendors' answers about users, with expiry and bounded memory.
///
/// The cache has two generations. A look-up moves an answer to the young one. When the young one is full, the old one
/// is dropped. So there are at most `capacity` answers, and unused ones are dropped first.
struct AnswerCache: Sendable {
    /// An answer of a vendor.
    enum Answer: Sendable, Equatable {
        case exists(Enrichment)
        case gone
        case unknown
    }

    private struct Entry: Sendable {
        let answer: Answer
        let expiresAt: UnixTime
        /// The app that the answer is for.
        let app: String
    }

    private var capacity: Int
    private var young: [SubjectID: Entry] = [:]
    private var old: [SubjectID: Entry] = [:]

    /// Creates a cache of at most `capacity` answers, at least two.
    init(capacity: Int) { self.capacity = max(2, capacity) }

    var count: Int { young.count + old.count }

    /// Returns the answer about `id`; nil if there is none or it has expired.
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

    /// Changes the capacity, and drops the answers of apps for which `isGone` returns true.
    mutating func resize(to capacity: Int, droppingApps isGone: (String) -> Bool) {
        self.capacity = max(2, capacity)
        // Each generation may have half of the answers. If one is too large, any of its answers may be dropped.
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
