import AdapterKit
import Kafka
import Keyring
import Pipeline
import Testing

@testable import Operations

/// Tests of the verdict on a fleet.
@Suite struct VerdictTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    private static func past(_ seconds: Int64) -> UnixTime { now.advanced(bySeconds: -seconds) }

    /// A live lane of 4 partitions with a worker that has all of them.
    private static func live(
        waiting: Int64? = 0, members: [Int32]? = [4], committed: UnixTime? = nil, oldest: UnixTime? = nil,
        state: String = "Stable"
    ) -> FleetStatus.LaneState {
        let members = members?.enumerated().map { number, count in
            ConsumerGroup.Member(
                id: "\(number)", clientID: "remint", host: "/a",
                partitions: (0..<count).map { TopicPartition(topic: "in", partition: $0) })
        }
        return FleetStatus.LaneState(
            lane: .live, group: "g", pause: nil,
            topics: [FleetStatus.Topic(name: "in", partitions: 4, waiting: waiting)],
            members: members.map { ConsumerGroup(name: "g", state: state, members: $0) }, committed: committed,
            oldest: oldest)
    }

    private static func status(
        _ lanes: [FleetStatus.LaneState] = [live()], apps: [Suspension] = [], rings: [RingReport] = [],
        problems: [String] = [], missing: [String] = [], keyProblems: [String] = []
    ) -> FleetStatus {
        FleetStatus(
            at: now, group: "g", lanes: lanes, deadLetters: FleetStatus.Topic(name: "d", partitions: 1, waiting: 9),
            apps: apps.map { FleetStatus.AppState(name: $0.app, adapter: "braze", keyRing: "r", suspension: $0) },
            rings: rings, problems: problems, missing: missing, keyProblems: keyProblems)
    }

    @Test func `a fleet that consumes everything works, whatever dead letters it has`() {
        #expect(Self.status().verdict == Verdict([]))
        #expect(Self.status().verdict.state == "works")
        #expect(Self.status([Self.live(members: nil)]).verdict.state == "works", "nobody describes the group")
    }

    @Test func `the worst finding comes first, and an effect keeps its order`() {
        let paused = Suspension(app: "b", cause: .paused, since: Self.past(60), by: "ann", why: "moves")
        let verdict = Self.status(
            apps: [paused, Suspension(app: "a", since: Self.past(9), users: 30, keyVersion: "k1")],
            problems: ["the workers are unknown"], missing: ["out"], keyProblems: ["the key is missing"]
        ).verdict
        #expect(verdict.findings.map(\.subject) == ["topic/out", "app/a", "keys", "app/b", "status"])
        #expect(verdict.findings.map(\.effect) == [.fails, .fails, .fails, .paused, .unknown])
        #expect(verdict.findings[3].command == "remint apps resume b")
        #expect(verdict.findings[3].what == "b is paused by ann: moves")
    }

    @Test func `a suspension names its users, its begin and the next probe`() {
        let all = Suspension(app: "a", since: Self.past(9), users: 30, keyVersion: "k1")
        let some = Suspension(app: "a", reach: .refusingUsers, since: Self.past(9), users: 1, keyVersion: "k1")
        #expect(Verdict.Finding.app(all).affected == "all users of a")
        #expect(Verdict.Finding.app(some).affected == "1 user of a")
        #expect(Verdict.Finding.app(all).since == Self.past(9))
        #expect(Verdict.Finding.app(all).until == nil)
        #expect(Verdict.Finding.app(all, nextProbe: Self.now).until == Self.now)
    }

    @Test func `a lane without workers or with free partitions fails`() {
        let none = Self.status([Self.live(members: [], committed: Self.past(70))]).verdict.findings
        #expect(none.map(\.runbook) == ["RemintNoWorker"] && none.map(\.since) == [Self.past(70)])
        let free = Self.status([Self.live(members: [2, 1])]).verdict.findings
        #expect(free.map(\.what) == ["1 of 4 partitions of the live lane have no worker"])
        #expect(Self.status([Self.live(members: [0], state: "PreparingRebalance")]).verdict.state == "works")
    }

    /// Waiting events, the seconds since the last commit and those since the oldest event, and the answer.
    @Test(
        arguments: [
            (5, 121, 121, true), (5, 119, 121, false), (5, 121, 3, false), (0, 999, nil, false), (5000, 121, nil, true),
            (5, 121, nil, false),
            (5, nil, 121, false),
        ] as [(Int64, Int64?, Int64?, Bool)])
    func `a lane is stalled if old events wait and nobody commits`(
        _ waiting: Int64, _ committed: Int64?, _ oldest: Int64?, _ isStalled: Bool
    ) {
        let lane = Self.live(waiting: waiting, committed: committed.map(Self.past), oldest: oldest.map(Self.past))
        let status = Self.status([lane])
        #expect(status.isStalled(lane) == isStalled)
        #expect(status.verdict.state == (isStalled ? "fails" : "works"))
    }

    @Test func `findings above the limit are counted`() {
        let verdict = Self.status(apps: (0..<25).map { Suspension(app: "a\($0)", since: Self.now) }).verdict
        #expect(verdict.findings.count == 20 && verdict.more == 5)
    }
}
