import AsyncTestSupport
import BrokerTokens
import Formats
import Foundation
import Kafka
import Logging
import Testing

/// A broker that asks for OAUTHBEARER and believes unsecured JWTs, as Apache Kafka does with
/// `OAuthBearerUnsecuredValidatorCallbackHandler`, and that may end sessions (`connections.max.reauth.ms`).
private enum OAuthCluster {
    private static let environment = ProcessInfo.processInfo.environment
    static let brokers = environment["REMINT_TEST_OAUTH_BROKERS"] ?? ""
    static let seconds = environment["REMINT_TEST_OAUTH_SECONDS"].flatMap { Int($0) } ?? 90
    static let howToName: Comment =
        "needs a Kafka with OAUTHBEARER: set REMINT_TEST_OAUTH_BROKERS=host:port to one that takes unsecured JWTs"
}

@Suite(.enabled(if: !OAuthCluster.brokers.isEmpty, OAuthCluster.howToName), .timeLimit(.minutes(5)))
struct RealBrokerTests {
    private static let clock: @Sendable () -> UnixTime = {
        UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1_000_000))
    }

    @Test func `records flow while tokens and sessions end`() async throws {
        let folder = try Folder()
        let life: Int64 = 30
        func rotate() throws { try folder.write(unsecuredJWT(expiry: Self.clock().seconds + life), to: "token") }
        try rotate()
        let (log, tally) = (RecordingLog(), TokenTally())
        let supplier = TokenSupplier(
            source: FileTokens(path: folder.url.appending(path: "token").path), tally: tally, now: Self.clock,
            draw: { 0.5 })
        var properties: ClientProperties = [
            "bootstrap.servers": OAuthCluster.brokers, "security.protocol": "sasl_plaintext",
            "sasl.mechanism": "OAUTHBEARER",
        ]
        properties.tokens = BearerTokenProvider { await supplier.run($0, $1) }
        let topic = "oauth-\(UUID().uuidString)"
        let producer = try KafkaProducer(properties, logger: log.logger(.notice))
        try await eventually("the topic") {
            try await producer.metadata(of: topic, within: .seconds(240)).partitionCount > 0
        }
        let consumer = try KafkaConsumer(
            properties.merging(["group.id": topic, "auto.offset.reset": "earliest"]), topics: [topic],
            logger: log.logger(.notice))
        let end = ContinuousClock.now + .seconds(OAuthCluster.seconds)
        var (sent, taken, rotated) = (0, 0, ContinuousClock.now)
        while .now < end {
            if .now - rotated > .seconds(life / 2) {
                try rotate()
                rotated = .now
            }
            let errors = await producer.deliver([ProducerRecord(topic: topic, key: nil, value: Array("\(sent)".utf8))])
            #expect(errors == [nil])
            sent += 1
            taken += try await take(consumer, within: .milliseconds(500))
        }
        try await eventually("the last record") {
            taken += try await take(consumer, within: .milliseconds(500))
            return taken >= sent
        }
        #expect(taken == sent)
        #expect(tally.counts.failed == 0)
        #expect(tally.counts.obtained >= OAuthCluster.seconds / Int(life))
        await producer.close(within: .seconds(5))
        await consumer.close(within: .seconds(20))
        #expect(!log.lines.contains { $0.level >= .error }, "\(log.lines.filter { $0.level >= .error })")
    }

    /// Takes what there is, and answers the group.
    private func take(_ consumer: KafkaConsumer, within wait: Duration) async throws -> Int {
        var count = 0
        for event in await consumer.events(limit: 100, within: wait) {
            switch event {
            case .record: count += 1
            case .rebalance(let rebalance): try await consumer.answer(rebalance)
            case .error(let error): #expect(!error.isFatal, "\(error)")
            case .endOfPartition: break
            }
        }
        return count
    }
}
