package import AdapterKit
package import Keyring

/// The topics as a campaign uses them: the ledger, the bulk lane, and the outcomes of its events.
package protocol CampaignTopics: EventTopics {
    /// Returns the subjects whose newest token `filter` matches, the earliest end first, and the offsets that open
    /// transactions hide of the ledger.
    func holders(
        matching filter: LedgerFilter, at now: UnixTime
    ) async throws -> (holders: [LedgerHolder], hidden: HiddenOffsets?)
    /// Returns the live tokens of `versions` of `ring`, from one reading.
    func holdings(of versions: [String], in ring: RingInUse, at now: UnixTime) async throws -> CampaignHoldings
    /// Returns the ends of the topics that show outcomes.
    func ends() async throws -> TopicMarks
    /// Opens the bulk lane.
    func lane() throws -> any BulkLane
    /// Reads the outcomes of a canary's events behind `marks` into `tally`.
    func outcomes(
        _ tally: CanaryTally, from marks: TopicMarks, now: @escaping @Sendable () -> UnixTime
    ) throws -> any CanaryOutcomes
    /// Returns the outcomes of the events of `rotation` that became no tokens.
    func fates(of rotation: Rotation, at now: UnixTime) async throws -> EventFates
    /// Returns the suspensions and pauses in force at `now`; with the control topic's ends of that time, also those
    /// that began or finished behind them.
    func holds(at now: UnixTime, since marks: TopicMarks?) async throws -> ControlHolds
    /// Returns the ends of the control topic.
    func controlEnds() async throws -> TopicMarks
    /// Returns the events that are on the topics of the live lane now.
    func liveEvents() async throws -> EventsBefore
    /// The number of events of the bulk lane that no worker has consumed; nil where it is unknown.
    var lag: Int? { get async }
    /// Closes the connections. Later questions open new ones.
    func close() async
}

/// A canary's outcomes so far, read as they arrive.
package protocol CanaryOutcomes {
    /// The outcomes so far.
    var tally: CanaryTally { get }
    /// The topics that lost a part of the reports before they were read for a verdict.
    var lost: [String] { get }
    /// Counts what lies behind `marks`, the ends of the topics of outcomes and of reports at which the canary was answered, as
    /// later than its tokens. From now on a verdict needs the reports behind them.
    mutating func listen(behind marks: TopicMarks)
    /// Reads the records that arrived meanwhile, and waits a moment for more.
    mutating func advance() async throws
    /// Reads everything once more, from the noted ends to the present ends, as a verdict needs it.
    mutating func readToEnd() async throws
    /// Closes the connections.
    func close() async
}
