public import AdapterKit

extension BatchProcessor {
    /// The requests to the vendors that are to be sent now.
    ///
    /// - Parameter isMoreComing: whether events stand in line: a request that is not full waits a little for their users.
    public mutating func lookups(isMoreComing: Bool = false) -> [LookupCall] {
        resolver.scheduler.calls(at: now(), isMoreComing: isMoreComing, minter: &minter, signing: signing)
    }

    /// When there may be more of them, if nothing happens before.
    public var nextLookup: UnixTime? { resolver.scheduler.nextCall }

    /// What became of requests. Events that wait for them are to be looked at again.
    public mutating func received(_ replies: [LookupReply]) {
        let time = now()
        for reply in replies { resolver.scheduler.received(reply, at: time, random: &random) }
    }

    /// What was counted since the last call.
    public mutating func takeLookupTally() -> LookupTally { resolver.scheduler.takeTally() }

    /// The look-ups' accounts as they are now.
    public var lookupConditions: [LookupCondition] { resolver.scheduler.conditions(at: now()) }

    /// How many of the vendors' answers are remembered.
    public var rememberedAnswers: Int { resolver.scheduler.remembered }
}
