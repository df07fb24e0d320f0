public import AdapterKit

extension BatchProcessor {
    /// Returns the requests to the vendors that have to be sent now.
    ///
    /// - Parameter isMoreComing: whether events are queued. A request that is not full waits a little for their users.
    public mutating func lookups(isMoreComing: Bool = false) -> [LookupCall] {
        resolver.scheduler.calls(at: now(), isMoreComing: isMoreComing, minter: &minter, signing: signing)
    }

    /// The time at which the next request may be due, if nothing happens before.
    public var nextLookup: UnixTime? { resolver.scheduler.nextCall }

    /// Processes the vendors' replies. Events that wait for them have to be checked again.
    public mutating func received(_ replies: [LookupReply]) {
        let time = now()
        for reply in replies { resolver.scheduler.received(reply, at: time, random: &random) }
    }

    /// Returns the look-up counts since the last call.
    public mutating func takeLookupTally() -> LookupTally { resolver.scheduler.takeTally() }

    /// The current state of the look-ups' accounts.
    public var lookupConditions: [LookupCondition] { resolver.scheduler.conditions(at: now()) }

    /// The number of cached answers of vendors.
    public var rememberedAnswers: Int { resolver.scheduler.remembered }
}
