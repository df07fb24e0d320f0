import WorkerConfiguration

/// Which accounts of look-ups go on under which names. An account is called by the first app that has it, so that its name changes
/// where that app goes; its limits must not.
struct LookupSuccession: Sendable, Equatable {
    /// An account's name, and what stands for where and with what it is asked.
    typealias Account = (name: String, fingerprint: Fingerprint)

    /// What accounts that go on were called before, by their names.
    private(set) var before: [String: String] = [:]
    /// Those among them that are asked elsewhere or with something else.
    private(set) var mended: Set<String> = []

    /// Those that go on as they are, by their names, with what they were called before.
    var kept: [String: String] { before.filter { !mended.contains($0.key) } }

    init(from old: [Account], to new: [Account]) {
        var left = old
        func take(_ account: Account, where fits: (Account) -> Bool) {
            guard before[account.name] == nil, let place = left.firstIndex(where: fits) else { return }
            before[account.name] = left.remove(at: place).name
        }
        // First what is the same altogether; then what is the same under another name; then who is asked otherwise.
        for account in new {
            take(account) { $0.name == account.name && $0.fingerprint == account.fingerprint }
        }
        for account in new { take(account) { $0.fingerprint == account.fingerprint } }
        for account in new where before[account.name] == nil {
            take(account) { $0.name == account.name }
            if before[account.name] != nil { mended.insert(account.name) }
        }
    }
}
