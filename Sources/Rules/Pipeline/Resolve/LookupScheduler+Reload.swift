import AdapterKit

extension LookupScheduler {
    /// Replaces the accounts.
    ///
    /// The cached answers stay, and so do the limits of each account. The open questions of a changed app are dropped:
    /// its events ask again.
    ///
    /// - Parameters:
    ///   - names: the previous names of the accounts that stay.
    ///   - fixed: the accounts with another endpoint or other credentials; their failures no longer count.
    ///   - capacity: the maximum number of cached answers.
    ///   - kept: the apps that did not change.
    mutating func replaceAccounts(
        with accounts: [LookupAccount], before names: [String: String], fixed: Set<String>, capacity: Int,
        keeping kept: [App]
    ) {
        let known = Set(kept.map(ObjectIdentifier.init))
        let isGone = { (app: App) in !known.contains(ObjectIdentifier(app)) }
        var old = self.accounts
        var moved: [Int: Int] = [:]
        self.accounts = accounts.enumerated().map { place, account in
            guard let from = names[account.name].flatMap({ indices[$0] }), moved[from] == nil else {
                return AccountSchedule(account)
            }
            moved[from] = place
            var schedule = old[from]
            schedule.apply(account, isFixed: fixed.contains(account.name))
            return schedule
        }
        indices = Dictionary(accounts.enumerated().map { ($1.name, $0) }) { first, _ in first }
        var forgotten: [SubjectID] = []
        for place in old.indices where moved[place] == nil { forgotten += old[place].drop { _ in true } }
        for place in self.accounts.indices { forgotten += self.accounts[place].drop(of: isGone) }
        forgotten += move(moved, isGone)
        for id in forgotten { waiting[id] = nil }
        // The changed configuration may have fixed the failures.
        failures = [:]
        let unchanged = Set(kept.map(\.name))
        cache.resize(to: capacity) { !unchanged.contains($0) }
    }

    /// Keeps requests in flight if their account stays.
    ///
    /// - Returns: the users that these requests will give no answer about.
    private mutating func move(_ places: [Int: Int], _ isGone: (App) -> Bool) -> [SubjectID] {
        var forgotten: [SubjectID] = []
        for (id, request) in inFlight {
            guard let account = places[request.account] else {
                inFlight[id] = nil
                if !request.isOutdated { forgotten += request.questions.map(\.id) }
                continue
            }
            inFlight[id]?.account = account
            guard isGone(request.app), !request.isOutdated else { continue }
            inFlight[id]?.isOutdated = true
            forgotten += request.questions.map(\.id)
        }
        return forgotten
    }
}
