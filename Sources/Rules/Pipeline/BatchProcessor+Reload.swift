import AdapterKit

/// The configuration of a processor, which can be replaced between two batches.
public struct ProcessorTerms: Sendable {
    /// The apps.
    public var apps: [App]
    /// The names of the apps that did not change.
    public var unchanged: Set<String>
    /// Topics that belong to single apps, but to none of `apps`.
    public var reservedTopics: Set<String>
    /// The size above which a value is dead-lettered as `event_too_large`, in bytes.
    public var maximumEventBytes: Int
    /// The rules of coalescing and of the loop guard. The capacity for subjects does not change.
    public var admission: AdmissionRules
    /// The rules for retries.
    public var retries: RetryPolicy
    /// The credentials of the apps' look-ups.
    public var accounts: [LookupAccount]
    /// The previous names of the accounts that stay, by their names.
    public var accountsBefore: [String: String]
    /// The accounts that stay, but with another endpoint or other credentials.
    public var fixedAccounts: Set<String>
    /// The maximum number of cached answers of vendors.
    public var rememberedAnswers: Int

    /// Creates terms with these parts.
    public init(
        apps: [App], unchanged: Set<String>, reservedTopics: Set<String> = [], maximumEventBytes: Int,
        admission: AdmissionRules, retries: RetryPolicy, accounts: [LookupAccount] = [],
        accountsBefore: [String: String] = [:], fixedAccounts: Set<String> = [], rememberedAnswers: Int = 100_000
    ) {
        self.apps = apps
        self.unchanged = unchanged
        self.reservedTopics = reservedTopics
        self.maximumEventBytes = maximumEventBytes
        self.admission = admission
        self.retries = retries
        self.accounts = accounts
        self.accountsBefore = accountsBefore
        self.fixedAccounts = fixedAccounts
        self.rememberedAnswers = rememberedAnswers
    }
}

extension BatchProcessor {
    /// Applies `terms` from the next batch on. Every unsettled event is settled by them, so an event of a removed app
    /// is treated as one of an unknown app.
    ///
    /// The memory of tokens, suspensions and vendors stays. So do the vendors' answers about users of unchanged apps.
    /// Events that wait for an answer have to be checked again.
    public mutating func apply(_ terms: ProcessorTerms) {
        // An unchanged app stays the same object: requests in flight refer to it.
        let before = reader.apps
        let kept = terms.apps.compactMap { terms.unchanged.contains($0.name) ? before[$0.name] : nil }
        let same = Dictionary(kept.map { ($0.name, $0) }) { first, _ in first }
        let apps = AppDirectory(
            terms.apps.map { same[$0.name] ?? $0 }, liveTopic: before.liveTopic, bulkTopic: before.bulkTopic,
            reserved: terms.reservedTopics)
        reader.replaceApps(with: apps, maximumBytes: terms.maximumEventBytes)
        settler.apply(terms.retries, for: apps.names)
        admission.apply(terms.admission, for: apps.names)
        minter.keep(only: kept)
        resolver.scheduler.replaceAccounts(
            with: terms.accounts, before: terms.accountsBefore, fixed: terms.fixedAccounts,
            capacity: terms.rememberedAnswers, keeping: kept)
    }
}
