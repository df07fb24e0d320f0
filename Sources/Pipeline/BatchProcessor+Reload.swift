import AdapterKit

/// What a processor goes by and may go on with otherwise, between two batches.
public struct ProcessorTerms: Sendable {
    /// The apps.
    public var apps: [App]
    /// The names of those among them that are as they were.
    public var unchanged: Set<String>
    /// Topics that belong to single apps, though to none of these.
    public var reservedTopics: Set<String>
    /// Values above are dead-lettered as `event_too_large`, in bytes.
    public var maximumEventBytes: Int
    /// What coalescing and the loop guard go by; how many subjects are remembered does not change.
    public var admission: AdmissionRules
    /// When an event is tried again.
    public var retries: RetryPolicy
    /// The credentials that the apps' look-ups go with.
    public var accounts: [LookupAccount]
    /// What accounts that go on were called before, by their names.
    public var accountsBefore: [String: String]
    /// The accounts that go on and are asked elsewhere or with something else from now on.
    public var mendedAccounts: Set<String>
    /// How many of the vendors' answers are kept at most.
    public var rememberedAnswers: Int

    /// Terms with these parts.
    public init(
        apps: [App], unchanged: Set<String>, reservedTopics: Set<String> = [], maximumEventBytes: Int,
        admission: AdmissionRules, retries: RetryPolicy, accounts: [LookupAccount] = [],
        accountsBefore: [String: String] = [:], mendedAccounts: Set<String> = [], rememberedAnswers: Int = 100_000
    ) {
        self.apps = apps
        self.unchanged = unchanged
        self.reservedTopics = reservedTopics
        self.maximumEventBytes = maximumEventBytes
        self.admission = admission
        self.retries = retries
        self.accounts = accounts
        self.accountsBefore = accountsBefore
        self.mendedAccounts = mendedAccounts
        self.rememberedAnswers = rememberedAnswers
    }
}

extension BatchProcessor {
    /// Goes on by `terms` from the next batch on: whatever has not ended by now ends by them, so that an event of an app that is
    /// no more ends as one of an app that never was.
    ///
    /// What is remembered of tokens, of what holds apps and of vendors stays; so do the vendors' answers about users of the apps
    /// that did not change. Events that wait for an answer are to be looked at again.
    public mutating func goOn(by terms: ProcessorTerms) {
        // An app that did not change stays the same object: questions under way are asked for it.
        let before = reader.apps
        let kept = terms.apps.compactMap { terms.unchanged.contains($0.name) ? before[$0.name] : nil }
        let same = Dictionary(kept.map { ($0.name, $0) }) { first, _ in first }
        let apps = AppDirectory(
            terms.apps.map { same[$0.name] ?? $0 }, liveTopic: before.liveTopic, bulkTopic: before.bulkTopic,
            reserved: terms.reservedTopics)
        reader.goOn(for: apps, maximumBytes: terms.maximumEventBytes)
        settler.goOn(by: terms.retries, for: apps.names)
        admission.goOn(by: terms.admission, for: apps.names)
        minter.keep(only: kept)
        resolver.scheduler.goOn(
            with: terms.accounts, before: terms.accountsBefore, mended: terms.mendedAccounts,
            capacity: terms.rememberedAnswers, keeping: kept)
    }
}
