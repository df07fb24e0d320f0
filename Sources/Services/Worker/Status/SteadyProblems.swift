/// The problems of a worker's dependencies, each shown for at least half a minute once it comes and goes: an alert waits
/// for a problem that lasts, and one that ends every few seconds would never fire. A value without a clock.
struct SteadyProblems<Dependency: Hashable & Sendable>: Sendable {
    /// The time without a problem after which it is over. A problem that comes back sooner comes and goes.
    static var rest: Duration { .seconds(30) }
    /// The number of quick returns from which a problem is kept. One may be the next step of a repair.
    private static var returns: Int { 2 }

    private struct Entry {
        var problem: String
        var begin: Duration
        var end: Duration?
        var returns = 0

        func counts(at now: Duration) -> Bool {
            end.map { returns >= SteadyProblems.returns && now - $0 < SteadyProblems.rest } ?? true
        }
    }

    private var entries: [Dependency: Entry] = [:]

    /// Sets the problem of `dependency` at the time `now`, counted from any moment; nil where there is none.
    ///
    /// - Parameter isFault: false for the decision of an operator, which ends at once.
    mutating func set(_ dependency: Dependency, _ problem: String?, isFault: Bool = true, at now: Duration) {
        let before = entries[dependency]
        guard let problem else {
            if !isFault { entries[dependency] = nil }
            if before?.end == nil { entries[dependency]?.end = now }
            return
        }
        var entry = before ?? Entry(problem: problem, begin: now)
        entry.problem = problem
        if let end = entry.end {
            let isReturn = isFault && now - end < Self.rest
            entry = Entry(
                problem: problem, begin: isReturn ? entry.begin : now, returns: isReturn ? entry.returns + 1 : 0)
        }
        entries[dependency] = entry
    }

    /// Returns the problem of `dependency` that was set last; nil if it is over, even if it still counts.
    func present(_ dependency: Dependency) -> String? {
        entries[dependency].flatMap { $0.end == nil ? $0.problem : nil }
    }

    /// Returns the problems that count at the time `now`.
    func all(at now: Duration) -> [Dependency: String] {
        entries.filter { $0.value.counts(at: now) }.mapValues { entry in
            entry.end.map {
                "\(entry.problem) (over for \((now - $0).components.seconds)s; it comes and goes)"
            } ?? entry.problem
        }
    }

    /// Returns the begin of each problem that counts at the time `now`.
    func begins(at now: Duration) -> [Dependency: Duration] {
        entries.filter { $0.value.counts(at: now) }.mapValues(\.begin)
    }
}
