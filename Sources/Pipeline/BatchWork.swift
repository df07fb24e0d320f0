import AdapterKit

/// A batch in work: what was found out about its events, and what is still to be done.
struct BatchWork {
    /// What the batch makes for a subject.
    struct Minted {
        /// The event that gets a token which answers others too.
        let leader: Int?
        /// How many tokens; more than one where each answers a challenge of its own.
        let tokens: Int
        /// The latest one's place among the drafts.
        let draft: Int
    }

    let number: Int
    let now: UnixTime
    let rule: Waiting
    /// What became of each event so far, in their order.
    var dispositions: [Disposition] = []
    /// Whose events stand behind one that goes on waiting.
    var stuck: Set<TopicPartition> = []
    var drafts: [Draft] = []
    /// When the first report was made that each draft answers; nil where it answers none.
    var reports: [UnixTime?] = []
    /// How many of the drafts are at the signer, and stay as they are.
    var signing = 0
    /// Why an event of the batch got no token.
    var failures: [Int: Rejection] = [:]
    var subjects: [SubjectID: Minted] = [:]

    init(_ batch: Batch, now: UnixTime) {
        number = batch.number
        self.now = now
        rule = batch.waiting
        dispositions.reserveCapacity(batch.records.count)
        drafts.reserveCapacity(batch.records.count)
        subjects.reserveCapacity(batch.records.count)
    }
}

/// What a stage makes of an event.
enum Disposition: Sendable {
    /// It has its outcome.
    case settled(Settlement)
    /// Its token is drafted, and lacks its signature.
    case draft
    /// The token of an earlier event of the batch answers it, or what keeps that one from its token ends it too.
    case follows(leader: Int, MintRequest)
    /// It waits in its place.
    case waits(until: UnixTime)
}
