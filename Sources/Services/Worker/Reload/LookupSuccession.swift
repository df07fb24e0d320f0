import WorkerConfiguration

/// The look-up accounts that continue after a reload, and their new names. An account has the name of the first app
/// that uses it, so its name changes if that app is removed. Its limits must not change.
struct LookupSuccession: Sendable, Equatable {
    typealias Account = (name: String, fingerprint: Fingerprint)

    /// The former names of accounts that continue, by their new names.
    private(set) var before: [String: String] = [:]
    /// The continuing accounts whose endpoint or credentials changed.
    private(set) var fixed: Set<String> = []

    /// The former names of the accounts that continue unchanged, by their new names.
    var kept: [String: String] { before.filter { !fixed.contains($0.key) } }

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
            if before[account.name] != nil { fixed.insert(account.name) }
        }
    }
}
