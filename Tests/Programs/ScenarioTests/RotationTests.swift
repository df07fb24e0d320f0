import AsyncTestSupport
import Foundation
import JOSE
import Kafka
import Keyring
import ProgramTestSupport
import Synchronization
import Testing

extension KeyScenarios {
    /// A key is replaced while users go on failing: nobody is stranded, and nothing of the old key is left.
    @Suite(.timeLimit(.minutes(5))) struct RotationTests {
        struct Kind: CustomTestStringConvertible, Sendable {
            let testDescription: String
            let app: String
            let report: @Sendable (String) -> String
            /// Whether tokens answer challenges, so that none can be re-issued and all end by themselves.
            var isChallenge = false
        }

        static let kinds: [Kind] = [
            Kind(testDescription: "RS256", app: "braze-ios") { #"{"errorCode":22,"userId":"\#($0)"}"# },
            Kind(testDescription: "ES256", app: "onesignal-shop") { #"{"externalId":"\#($0)"}"# },
            Kind(testDescription: "HS512 with kid", app: "bloomreach-stream") {
                #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"\#($0)"}}"#
            },
            Kind(testDescription: "HS256, hex secret", app: "infobip-mobile") {
                #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"\#($0)"}"#
            },
            Kind(
                testDescription: "challenge-bound", app: "dotdigital-push",
                report: { #"{"nonce":"n-\#($0)","userId":"\#($0)"}"# }, isChallenge: true),
        ]

        /// The kinds that are tested: the two of asymmetric keys, and all in a long run. A challenge-bound token lives for a minute at
        /// least.
        static let tested = Array(kinds.prefix(Scale.isLong ? kinds.count : 2))

        @Test(arguments: tested) func `a rotation under live traffic strands nobody`(_ kind: Kind) async throws {
            let shop = try await Shop.open()
            if kind.isChallenge {
                try shop.configure("    key: \(kind.app)\n", "    key: \(kind.app)\n    lifetime: 1m\n")
            }
            let worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: kind.app)
            let traffic = Traffic(kind)
            // Users from before, then more of them all the time.
            try await shop.produce((0..<40).map { rawReport(kind.app, kind.report("before-\($0)")) })
            _ = try await shop.consumeOutputs { $0.count >= 40 }
            let producer = try KafkaProducer(
                ["bootstrap.servers": shop.broker.bootstrapServers], logger: quiet)
            let answers = try shop.reader(of: ["remint.tokens"])
            async let traffics: Void = traffic.run(producer, answers, after: 40)

            try await operatorOf.does("prepare")
            let old = try #require(try shop.ring(kind.app).versions.first { $0.state == .active }?.id)
            try await operatorOf.isRefused("promote", saying: "was prepared too recently")
            try await operatorOf.isRefused("reissue", brokers: true, saying: "does not sign yet")
            try await operatorOf.does("promote", "--now")
            try await operatorOf.isRefused("retire", brokers: true, saying: "live token")
            try await operatorOf.does("reissue", "--watch", "1s", "--rate", "0", brokers: true)
            let status = try await operatorOf.status()
            if !kind.isChallenge {
                #expect(status["live_old"] as? Int == 0, "\(status)")
                #expect(status["phase"] as? String == "reissued")
            }
            traffic.stop()
            try await traffics
            // Every key the vendor has by now; a retired one's file is not read any more.
            let vendor = try shop.ring(kind.app).verificationKeys
            let count = 40 + traffic.sent
            let tokens = try await shop.consumeOutputs { records in
                Set(records.compactMap { $0.key.map { String(decoding: $0, as: UTF8.self) } }).count >= count
            }
            if kind.isChallenge {
                let ends = tokens.filter { $0.header("remint-key-id") == old }.compactMap {
                    Int64($0.header("remint-expires-at") ?? "")
                }
                let end = try #require(ends.max())
                try await eventually("the end of the last token of the old key") {
                    Int64(Date.now.timeIntervalSince1970) > end
                }
            }
            // All clocks are this machine's.
            try await operatorOf.does("retire", "--clock-tolerance", "0s", brokers: true)
            let ring = try shop.ring(kind.app)
            #expect(ring.versions.map(\.state) == [.retired, .active])

            #expect(tokens.allSatisfy { $0.header("remint-error-code") == nil }, "nothing was dead-lettered")
            for token in tokens {
                let compact = try #require(token.member("token"))
                let jws = try CompactJWS(parsing: Array(compact.utf8))
                let key = try #require(token.header("remint-key-id"))
                let signer = try #require(vendor.first { $0.keyID == key }, "\(key) is a key the vendor has")
                #expect(throws: Never.self) { try jws.verify(withAnyOf: [signer]) }
            }
            let newest = Dictionary(grouping: tokens) { $0.key ?? [] }.compactMapValues { records in
                records.max {
                    Int64($0.header("remint-version") ?? "") ?? 0 < Int64($1.header("remint-version") ?? "") ?? 0
                }
            }
            if !kind.isChallenge {
                #expect(newest.values.allSatisfy { $0.header("remint-key-id") != old }, "no live token of the old key")
            }
            worker.terminate()
            await worker.waitForEnd()
            await producer.close(within: .seconds(5))
            await shop.close()
        }
    }
}

/// Users whose tokens fail while an operator works.
private final class Traffic: Sendable {
    private let kind: KeyScenarios.RotationTests.Kind
    private let state = Mutex((sent: 0, isOver: false))

    init(_ kind: KeyScenarios.RotationTests.Kind) { self.kind = kind }

    var sent: Int { state.withLock { $0.sent } }
    func stop() { state.withLock { $0.isOver = true } }

    /// Sends a few reports at a time, and the next ones when each has a token. Before the first one, `count` users had
    /// tokens.
    func run(_ producer: KafkaProducer, _ answers: KafkaConsumer, after count: Int) async throws {
        var users: Set<[UInt8]> = []
        while !state.withLock({ $0.isOver }) {
            let first = sent
            let errors = await producer.deliver(
                (first..<first + 5).map { rawReport(kind.app, kind.report("live-\($0)")) })
            #expect(errors.allSatisfy { $0 == nil })
            state.withLock { $0.sent += 5 }
            while users.count < count + sent {
                try Task.checkCancellation()
                for event in await answers.events(limit: 1000, within: .seconds(1)) {
                    if case .record(let record) = event, let key = record.key { users.insert(key) }
                    if case .error(let error) = event, error.isFatal { throw error }
                }
            }
        }
        await answers.close(within: .seconds(5))
    }
}
