import AdapterKit

extension LookupScheduler {
    /// Goes on with other accounts.
    ///
    /// What is known of users stays, and so do each account's limits. What was asked for an app that is configured otherwise is
    /// forgotten: whoever waits for it asks anew.
    ///
    /// - Parameters:
    ///   - names: what accounts that go on were called before.
    ///   - mended: the accounts that are asked elsewhere or with something else: whether they work is to be seen anew.
    ///   - capacity: how many answers are remembered at most.
    ///   - kept: the apps that go on as they were.
    mutating func goOn(
        with accounts: [LookupAccount], before names: [String: String], mended: Set<String>, capacity: Int,
        keeping kept: [App]
    ) {
        let known = Set(kept.map(ObjectIdentifier.init))
        let isGone = { (app: App) in !known.contains(ObjectIdentifier(app)) }
        var old = lines
        var moved: [Int: Int] = [:]
        lines = accounts.enumerated().map { place, account in
            guard let from = names[account.name].flatMap({ indices[$0] }), moved[from] == nil else {
                return AccountSchedule(account)
            }
            moved[from] = place
            var line = old[from]
            line.goOn(as: account, isMended: mended.contains(account.name))
            return line
        }
        indices = Dictionary(accounts.enumerated().map { ($1.name, $0) }) { first, _ in first }
        var forgotten: [SubjectID] = []
        for line in old.indices where moved[line] == nil { forgotten += old[line].drop { _ in true } }
        for line in lines.indices { forgotten += lines[line].drop(of: isGone) }
        forgotten += move(moved, isGone)
        for id in forgotten { waiting[id] = nil }
        // Why they failed may be what was mended.
        failures = [:]
        let unchanged = Set(kept.map(\.name))
        cache.goOn(capacity: capacity) { !unchanged.contains($0) }
    }

    /// Requests under way go on where their account does.
    ///
    /// - Returns: about whom nothing is to be learned from them.
    private mutating func move(_ lines: [Int: Int], _ isGone: (App) -> Bool) -> [SubjectID] {
        var forgotten: [SubjectID] = []
        for (id, flight) in flights {
            guard let line = lines[flight.line] else {
                flights[id] = nil
                if !flight.isOutdated { forgotten += flight.questions.map(\.id) }
                continue
            }
            flights[id]?.line = line
            guard isGone(flight.app), !flight.isOutdated else { continue }
            flights[id]?.isOutdated = true
            forgotten += flight.questions.map(\.id)
        }
        return forgotten
    }
}
