import AdapterKit

/// The tokens that a batch mints, by subject, with the events that each token answers.
struct BatchSubjects: Sendable {
    private struct Tokens {
        let id: SubjectID
        /// The place of the draft that also answers other events; nil if each draft answers its own challenge.
        var leader: Int?
        var count: Int
    }

    private var tokens: [Tokens] = []
    /// A hash table with linear probing. Each entry is a place in `tokens` plus one; zero is free. The ids are evenly
    /// spread already, by a seed of this process.
    private var table: [Int32]
    /// The time of the first report that each draft answers, by the draft's place; nil if it answers none.
    private var reports: [UnixTime?] = []
    /// The number of drafts that the signer has. They do not change any more.
    private var taken = 0

    /// Creates an empty table for a batch of `count` events.
    init(_ count: Int) {
        // At most half full, and always with a free place.
        var size = 2
        while size < count * 2 { size *= 2 }
        table = Array(repeating: 0, count: size)
        tokens.reserveCapacity(count)
        reports.reserveCapacity(count)
    }

    /// Returns the place of the draft that answers every event of `id`; nil if there is none.
    func leader(of id: SubjectID) -> Int? {
        let number = Int(table[place(of: id)])
        return number > 0 ? tokens[number - 1].leader : nil
    }

    /// Returns the number of tokens that the batch mints for `id`.
    func count(of id: SubjectID) -> Int {
        let number = Int(table[place(of: id)])
        return number > 0 ? tokens[number - 1].count : 0
    }

    /// Returns the place of `id` in the table, or the free place for it.
    private func place(of id: SubjectID) -> Int {
        var place = Int(truncatingIfNeeded: id.high) & (table.count - 1)
        while table[place] != 0, tokens[Int(table[place]) - 1].id != id { place = (place + 1) & (table.count - 1) }
        return place
    }

    /// Adds a draft for `id` that answers a report made at `time`.
    ///
    /// - Parameter isShared: whether the draft also answers the subject's other events.
    mutating func append(_ id: SubjectID, reportedAt time: UnixTime?, isShared: Bool) {
        let leader = isShared ? reports.count : nil
        reports.append(time)
        let place = place(of: id)
        if table[place] > 0 {
            let number = Int(table[place]) - 1
            tokens[number].leader = leader
            tokens[number].count += 1
        } else {
            tokens.append(Tokens(id: id, leader: leader, count: 1))
            table[place] = Int32(tokens.count)
        }
    }

    /// Returns whether a report made at `time` would be the first that the draft at place `leader` answers. False for a
    /// draft that the signer has.
    func isFirst(_ time: UnixTime, of leader: Int) -> Bool {
        leader >= taken && reports[leader].map { time < $0 } ?? true
    }

    /// Makes the draft at place `leader` also answer a report made at `time`, which is earlier than its other reports.
    mutating func join(_ leader: Int, reportedAt time: UnixTime) { reports[leader] = time }

    /// Returns the time of the first report that the draft at `place` answers.
    func reportedAt(_ place: Int) -> UnixTime? { reports[place] }

    /// Hands the drafts since the last call to the signer.
    ///
    /// - Returns: the place of the first draft, and the time of the first report that each draft answers.
    mutating func takeReports() -> (first: Int, reports: [UnixTime?]) {
        defer { taken = reports.count }
        return (taken, Array(reports[taken...]))
    }

    /// Returns the ending of an event that followed another event of its batch. Both have the same reason; each has its
    /// own number of attempts.
    ///
    /// - Parameter failure: the reason that the other event got no token; nil if it got one.
    static func follow(_ failure: Rejection?) -> Ending {
        failure.map { .failed($0, .mint) } ?? .superseded(.sameBatch)
    }
}
