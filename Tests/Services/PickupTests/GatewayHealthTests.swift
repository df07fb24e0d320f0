import AdapterKit
import AsyncTestSupport
import Kafka
import Logging
import Pipeline
import Synchronization
import Telemetry
import Testing
import Wiring

@testable import Pickup
@testable import WorkerConfiguration

/// The gateway's health, and the lines that it logs, over a clock that the test moves. No broker is there.
@Suite struct GatewayHealthTests {
    private static let text = """
        kafka: { bootstrap_servers: 127.0.0.1:1 }
        keys:
          shop: { path: keys/shop }
        apps:
          ios: { adapter: braze, key: shop }
          android: { adapter: braze, key: shop, topics: [shop.android] }
        pickup:
          listen: 127.0.0.1:8080
          session: { issuer: https://login.example, jwks: https://login.example/jwks }
        """

    private final class Clock: Sendable {
        private let state = Mutex(UnixTime(seconds: 1_800_000_000))
        var now: UnixTime { state.withLock { $0 } }
        func pass(seconds: Int64) { state.withLock { $0 = $0.advanced(bySeconds: seconds) } }
    }

    private let clock = Clock()
    private let log = RecordingLog()
    private let store: TokenStore
    private let health: GatewayHealth

    init() throws {
        let configuration = try GatewayConfiguration.read(Self.text)
        let (logger, now) = (log.logger(), { @Sendable [clock] in clock.now })
        let topics: @Sendable () -> Set<String> = { ["remint.invalidations", "shop.android"] }
        store = TokenStore(capacity: 1 << 20, now: now)
        let unreadable = UnreadableRecords(PickupMetrics().unreadable, logger: logger)
        let past = TopicPast(
            configuration, age: .seconds(60), brokers: "127.0.0.1:1", store: store, unreadable: unreadable,
            logger: logger, now: now, noted: { _ in })
        let follower = TokenFollower(
            configuration, brokers: "127.0.0.1:1", store: store, past: past, unreadable: unreadable, logger: logger,
            now: now)
        let workers = WorkerWatch(
            configuration, brokers: "127.0.0.1:1", store: store, eventTopics: topics, found: { _ in },
            logger: logger, now: now)
        health = GatewayHealth(
            follower: follower, workers: workers, store: store, eventTopics: topics, sessions: [], certificateEnd: nil,
            logger: logger, now: now)
        store.changeTail { $0 = TailState(partitions: 1, followed: [0]) }
    }

    private func refuse(_ topic: String) {
        store.refusals.withLock {
            $0.refused(topic, code: "TOPIC_AUTHORIZATION_FAILED", isForLength: false, length: 80, at: clock.now)
        }
    }

    private func problem(_ dependency: Readiness.Dependency) -> String? {
        health.readiness.dependencies.first { $0.dependency == dependency }?.problem
    }

    /// The lines' ids since the start, with the topic and the error of each.
    private var lines: [String] {
        health.report()
        return log.lines.filter { [.error, .notice].contains($0.level) }.map {
            [$0.event, $0.metadata["kafka.topic"], $0.metadata["kafka.error"]].compactMap(\.self)
                .joined(separator: "|")
        }
    }

    private static let refused = "gateway.events-refused"
    private static let accepted = "gateway.events-accepted"

    @Test func `a topic that accepts no events is logged once, and once when it accepts one`() {
        refuse("shop.android")
        #expect(lines.isEmpty)
        clock.pass(seconds: 10)
        refuse("shop.android")
        var expected = ["\(Self.refused)|shop.android|TOPIC_AUTHORIZATION_FAILED"]
        #expect(lines == expected && lines == expected)
        #expect(health.readiness.isReady, "the users of the other topic are served")
        // Nobody asks for a while: that is no recovery.
        clock.pass(seconds: 600)
        #expect(lines == expected)
        refuse("shop.android")
        #expect(lines == expected)
        store.refusals.withLock { $0.accepted("shop.android") }
        expected.append("\(Self.accepted)|shop.android")
        #expect(lines == expected && lines == expected)
    }

    @Test func `a gateway whose topics take no events is not ready, on trial while nobody asks, and ready with one`() {
        let metrics = PickupMetrics()
        func metric() -> String? {
            metrics.set(health)
            return metrics.registry.exposition().split(separator: "\n")
                .first { $0.hasPrefix(#"remint_pickup_ready{dependency="events"}"#) }?.suffix(1).description
        }
        for topic in ["remint.invalidations", "shop.android"] { refuse(topic) }
        #expect(problem(.events) == nil && metric() == "1")
        let start = clock.now
        clock.pass(seconds: 10)
        for topic in ["remint.invalidations", "shop.android"] { refuse(topic) }
        #expect(
            problem(.events)
                == "the brokers refuse events on remint.invalidations since \(start): TOPIC_AUTHORIZATION_FAILED")
        #expect(!health.readiness.isReady && metric() == "0")
        clock.pass(seconds: 60)
        #expect(health.readiness.isReady && health.readiness.unknown.contains(.events))
        #expect(metric() == "0", "an alert that is due does not end for a trial")
        refuse("remint.invalidations")
        refuse("shop.android")
        #expect(!health.readiness.isReady)
        store.refusals.withLock { $0.accepted("shop.android") }
        #expect(health.readiness.isReady && metric() == "1")
    }

    @Test func `refused connections are logged once, and once when none was refused for ten seconds`() {
        let start = clock.now
        health.refusedConnection()
        #expect(problem(.connections) == "connections are refused since \(start): all are in use")
        #expect(lines == ["gateway.connections-refused"])
        clock.pass(seconds: 9)
        health.refusedConnection()
        clock.pass(seconds: 9)
        #expect(problem(.connections)?.contains("\(start)") == true && lines == ["gateway.connections-refused"])
        clock.pass(seconds: 1)
        #expect(problem(.connections) == nil && health.readiness.isReady)
        #expect(lines == ["gateway.connections-refused", "gateway.connections-accepted"])
    }

    @Test func `a topic of events that is deleted is noticed without an ask, and its return too`() {
        for topic in ["remint.invalidations", "shop.android"] {
            store.described(topic, problem: "UNKNOWN_TOPIC_OR_PART")
        }
        #expect(!health.readiness.isReady)
        #expect(lines.count == 2)
        store.described("shop.android", problem: nil)
        #expect(health.readiness.isReady && lines.count == 3)
    }

    @Test func `while no broker answers, refused events are no news`() {
        for _ in 0..<2 {
            for topic in ["remint.invalidations", "shop.android"] { refuse(topic) }
            clock.pass(seconds: 10)
        }
        store.changeTail { $0.silentSince = clock.now }
        #expect(problem(.events) == nil && problem(.brokers) != nil)
        #expect(!lines.contains { $0.hasPrefix(Self.refused) })
    }

    private static let unanswered = "gateway.workers-silent"
    private static let partition = TopicPartition(topic: "remint.invalidations", partition: 0)

    private func commit(_ offset: Int64?) {
        store.committed(
            offset.map { [Self.partition: $0] } ?? [:], of: [Self.partition], isRead: true)
    }

    private func hangWorkers() {
        store.waits(for: DeliveredPlace(partition: 0, offset: 7), of: Self.partition.topic)
        for _ in 0..<11 {
            clock.pass(seconds: 1)
            commit(7)
        }
    }

    @Test func `workers that never answer do not answer again because their events are old`() {
        hangWorkers()
        #expect(lines == [Self.unanswered])
        for _ in 0..<20 {
            clock.pass(seconds: 60)
            #expect(store.openPartitions == [Self.partition])
            commit(7)
            #expect(lines == [Self.unanswered])
        }
        #expect(problem(.workers) != nil)
        commit(8)
        #expect(lines == [Self.unanswered, "gateway.workers-answering"])
    }

    @Test func `a pause of the lane is no answer of workers, and a topic that is created again is a new start`() {
        hangWorkers()
        #expect(lines == [Self.unanswered])
        store.heldLane(LanePause(lane: .live, since: clock.now))
        clock.pass(seconds: 1)
        _ = lines
        store.heldLane(nil)
        #expect(!lines.contains("gateway.workers-answering"))
        store.described(Self.partition.topic, problem: "UNKNOWN_TOPIC_OR_PART")
        store.described(Self.partition.topic, problem: nil)
        #expect(problem(.workers) == nil)
        clock.pass(seconds: 1)
        #expect(lines.contains("gateway.workers-answering"))
    }
}
