import AdapterKit

/// The tokens that a batch makes, by their subjects: which event each answers, and which others.
struct BatchSubjects: Sendable {
    /// What the batch makes for a subject.
    private struct Tokens {
        /// The place of the draft that answers other events too; nil where each draft answers a challenge of its own.
        let leader: Int?
        let count: Int
    }

    private var tokens: [SubjectID: Tokens] = [:]
    /// When the first report was made that each draft answers, by the draft's place; nil where it answers none.
    private var reports: [UnixTime?] = []
    /// How many of the drafts are at the signer, and stay as they are.
    private var taken = 0

    /// No tokens of a batch of `count` events.
    init(_ count: Int) {
        tokens.reserveCapacity(count)
        reports.reserveCapacity(count)
    }

    /// The place of the draft that answers every event of `id`; nil where there is none.
    func leader(of id: SubjectID) -> Int? { tokens[id]?.leader }

    /// How many tokens are being made for `id`.
    func count(of id: SubjectID) -> Int { tokens[id]?.count ?? 0 }

    /// Adds a draft for `id` that answers a report of `time`.
    ///
    /// - Parameter isShared: whether it answers the subject's other events too.
    mutating func append(_ id: SubjectID, reportedAt time: UnixTime?, isShared: Bool) {
        tokens[id] = Tokens(leader: isShared ? reports.count : nil, count: count(of: id) + 1)
        reports.append(time)
    }

    /// Whether a report of `time` would be the first that the draft at place `leader` answers. A draft that is being signed already
    /// stays as it is.
    func isFirst(_ time: UnixTime, of leader: Int) -> Bool {
        leader >= taken && reports[leader].map { time < $0 } ?? true
    }

    /// The draft at place `leader` answers a report of `time` too, before all others: its failure is as old as that.
    mutating func join(_ leader: Int, reportedAt time: UnixTime) { reports[leader] = time }

    /// When the first report was made that the draft at `place` answers.
    func reportedAt(_ place: Int) -> UnixTime? { reports[place] }

    /// The drafts since the last call go to the signer.
    ///
    /// - Returns: the place of the first of them, and when the first report was made that each of them answers.
    mutating func takeReports() -> (first: Int, reports: [UnixTime?]) {
        defer { taken = reports.count }
        return (taken, Array(reports[taken...]))
    }

    /// How an event ends that followed another one of its batch. The reason is the other event's; how many attempts are left is
    /// each one's own.
    ///
    /// - Parameter failure: what kept the other one from its token; nil where it got one.
    static func follow(_ failure: Rejection?) -> Ending {
        failure.map { .failed($0, .mint) } ?? .superseded(.sameBatch)
    }
}
