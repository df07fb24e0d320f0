import AdapterKit

/// The tokens that a batch makes, by their subjects: which event each answers, and which others.
struct BatchSubjects: Sendable {
    /// The tokens of one subject.
    private struct Tokens {
        let id: SubjectID
        /// The place of the draft that answers other events too; nil where each draft answers a challenge of its own.
        var leader: Int?
        var count: Int
    }

    private var tokens: [Tokens] = []
    /// A table of places in `tokens`, each one more, with linear probing; zero for none. The ids are evenly spread already, under a
    /// key of this process.
    private var table: [Int32]
    /// The moment of the first report that each draft answers, by the draft's place; nil where it answers none.
    private var reports: [UnixTime?] = []
    /// The number of drafts that are at the signer, and stay as they are.
    private var taken = 0

    /// No tokens of a batch of `count` events.
    init(_ count: Int) {
        // At most half full, and never without a free place.
        var size = 2
        while size < count * 2 { size *= 2 }
        table = Array(repeating: 0, count: size)
        tokens.reserveCapacity(count)
        reports.reserveCapacity(count)
    }

    /// Returns the place of the draft that answers every event of `id`; nil where there is none.
    func leader(of id: SubjectID) -> Int? {
        let number = Int(table[place(of: id)])
        return number > 0 ? tokens[number - 1].leader : nil
    }

    /// Returns the number of tokens that are being made for `id`.
    func count(of id: SubjectID) -> Int {
        let number = Int(table[place(of: id)])
        return number > 0 ? tokens[number - 1].count : 0
    }

    /// Returns the place of `id` in the table, or the free one for it.
    private func place(of id: SubjectID) -> Int {
        var place = Int(truncatingIfNeeded: id.high) & (table.count - 1)
        while table[place] != 0, tokens[Int(table[place]) - 1].id != id { place = (place + 1) & (table.count - 1) }
        return place
    }

    /// Adds a draft for `id` that answers a report of `time`.
    ///
    /// - Parameter isShared: whether it answers the subject's other events too.
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

    /// Whether a report of `time` would be the first that the draft at place `leader` answers. A draft that is being signed already
    /// stays as it is.
    func isFirst(_ time: UnixTime, of leader: Int) -> Bool {
        leader >= taken && reports[leader].map { time < $0 } ?? true
    }

    /// Lets the draft at place `leader` answer a report of `time` too, before all others: its failure is as old as that.
    mutating func join(_ leader: Int, reportedAt time: UnixTime) { reports[leader] = time }

    /// Returns the moment of the first report that the draft at `place` answers.
    func reportedAt(_ place: Int) -> UnixTime? { reports[place] }

    /// Hands the drafts since the last call to the signer.
    ///
    /// - Returns: the place of the first of them, and the moment of the first report that each of them answers.
    mutating func takeReports() -> (first: Int, reports: [UnixTime?]) {
        defer { taken = reports.count }
        return (taken, Array(reports[taken...]))
    }

    /// Returns the end of an event that followed another one of its batch. The reason is the other event's; how many attempts are left is
    /// each one's own.
    ///
    /// - Parameter failure: what kept the other one from its token; nil where it got one.
    static func follow(_ failure: Rejection?) -> Ending {
        failure.map { .failed($0, .mint) } ?? .superseded(.sameBatch)
    }
}
