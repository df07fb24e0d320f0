package import AdapterKit
package import Keyring
package import Pipeline

/// The topics as a campaign uses them: the ledger, the bulk lane, and the outcomes of its events.
package protocol CampaignTopics {
    /// The subjects whose newest token `filter` means, those that end first in front.
    func holders(matching filter: LedgerFilter, at now: UnixTime) async throws -> [LedgerHolder]
    /// The live tokens of `versions` of `ring`, out of one reading.
    func holdings(of versions: [String], in ring: RingInUse, at now: UnixTime) async throws -> CampaignHoldings
    /// The ends of the topics that show outcomes.
    func ends() async throws -> TopicMarks
    /// Opens the bulk lane.
    func lane() throws -> any BulkLane
    /// Reads the outcomes of a canary's events that came behind `marks` into `tally`.
    func outcomes(
        _ tally: CanaryTally, from marks: TopicMarks, now: @escaping @Sendable () -> UnixTime
    ) throws -> any CanaryOutcomes
    /// The outcomes of the events of `rotation` that became no tokens.
    func fates(of rotation: Rotation, at now: UnixTime) async throws -> EventFates
    /// The suspensions that hold, by app.
    func suspensions(at now: UnixTime) async throws -> [String: Suspension]
    /// The events that lie on the topics of the live and the bulk lane now.
    func events() async throws -> EventsBefore
    /// The number of `events` that have no outcome yet.
    func unanswered(_ events: EventsBefore) async throws -> Int
    /// Events of the bulk lane that no worker has consumed; nil where that is unknown.
    var lag: Int? { get async }
    /// Gives the connections back. What is asked afterwards makes new ones.
    func close() async
}

/// What came of a canary's events so far.
package protocol CanaryOutcomes {
    /// The outcomes so far.
    var tally: CanaryTally { get }
    /// Reads what has come meanwhile; waits a moment for more.
    mutating func advance() async throws
    /// Reads everything once more, from the noted ends to the ends of now: what a verdict needs.
    mutating func readToEnd() async throws
    /// Gives the connections back.
    func close() async
}
