import AdapterKit
import Foundation
import Kafka
import Keyring
import Operations
import ProgramTestSupport
import Testing
import Vendors
import WorkerConfiguration

extension CampaignScenarios {
    /// A campaign hears of its canary whatever the operator's clock shows.
    @Suite(.timeLimit(.minutes(5))) struct CampaignClockTests {
        private static let app = "braze-ios"

        /// Seconds by which the operator's clock is ahead, seconds until the token's end, and the words of the refusal; none where the
        /// version may be retired.
        static let ends: [(ahead: Int64, end: Int64, words: String?)] = [
            (-600, 300, "ends at"), (-600, -300, "ends at"), (600, 300, "counts for 15m longer"), (600, -400, nil),
        ]

        @Test(arguments: ends) func `a version with a live token is not retired by a clock that is ten minutes off`(
            _ ahead: Int64, _ end: Int64, _ words: String?
        ) async throws {
            // One partition, so that the worker's token is in the same one.
            let shop = try await Shop.open(partitions: 1)
            let operatorOf = Operator(shop: shop, ring: Self.app)
            try await operatorOf.does("prepare")
            try await operatorOf.does("promote", "--now")
            let old = try #require(try shop.ring(Self.app).versions.first?.id)
            try await shop.produce([tokenRecord("u", ring: Self.app, keyID: old, issued: 3600, end: end)])
            let ring = try ring(shop, ahead)
            func refusal() async throws -> String? {
                do {
                    try await ring.requireNoLiveToken(
                        of: [old], brokers: shop.broker.bootstrapServers, logger: quiet, display: NoDisplay())
                    return nil
                } catch let error as TokensLive { return error.description }
            }
            let refused = try await refusal()
            #expect((refused == nil) == (words == nil), "\(String(describing: refused))")
            if let words, let refused {
                #expect(refused.contains(words) && refused.contains("1 live token is signed with it"), "\(refused)")
            }
            await shop.close()
        }

        /// The ring as an operator has it whose clock is off.
        private func ring(_ shop: borrowing Shop, _ offset: Int64) throws -> RingInUse {
            let source = ConfigurationSource(
                environment: { ProcessInfo.processInfo.environment[$0] },
                file: { try? String(contentsOfFile: $0, encoding: .utf8) })
            let (read, diagnostics) = ConfigurationReader(registry: .remint, source: source).read(shop.configuration)
            let configuration = try #require(read, "\(diagnostics)")
            let key = try #require(configuration.keys.first { $0.name == Self.app })
            return RingInUse(
                configuration: configuration, ring: key, directory: KeyRingDirectory(path: try #require(key.path)),
                now: { UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)).advanced(bySeconds: offset) })
        }
    }
}

private struct NoDisplay: ProgressDisplay {
    let isShown = false
    mutating func show(_ done: Int, of total: Int, _ note: String) {}
    mutating func clear() {}
}
