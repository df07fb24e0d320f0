import AdapterKit

/// A batch in work: what was found out about its events, and what is still to be done.
struct BatchWork {
    /// An event that the token of an earlier one in the same batch answers.
    struct Follower {
        let index: Int
        let leader: Int
        let order: MintRequest
    }

    /// What the batch makes for a subject.
    struct Minted {
        /// The event that gets a token which answers others too.
        let leader: Int?
        /// How many tokens; more than one where each answers a challenge of its own.
        let tokens: Int
    }

    let number: Int
    let now: UnixTime
    let rule: Waiting
    var settlements: [Settlement?]
    /// Until when events wait in their places.
    var waiting: [Int: UnixTime] = [:]
    /// Whose events stand behind one that goes on waiting.
    var stuck: Set<PartitionProgress.Partition> = []
    var drafts: [PendingToken] = []
    var followers: [Follower] = []
    /// Why an event of the batch got no token.
    var failures: [Int: Rejection] = [:]
    var subjects: [SubjectID: Minted] = [:]

    init(_ batch: Batch, now: UnixTime) {
        number = batch.number
        self.now = now
        rule = batch.waiting
        settlements = Array(repeating: nil, count: batch.records.count)
        drafts.reserveCapacity(batch.records.count)
        subjects.reserveCapacity(batch.records.count)
    }
}
