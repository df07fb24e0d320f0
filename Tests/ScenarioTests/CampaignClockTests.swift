import AdapterKit
import Foundation
import Kafka
import Keyring
import Operations
import ProgramTestSupport
import Testing
import Vendors
import WorkerConfiguration

extension KeyScenarios {
    /// A campaign hears of its canary whatever the operator's clock says.
    @Suite(.timeLimit(.minutes(10))) struct CampaignClockTests {
        private static let app = "braze-ios"

        @Test(arguments: [-600, 600] as [Int64])
        func `a clock that is ten minutes off hides no rejection`(_ offset: Int64) async throws {
            let shop = try await Shop.open(admission: "suspend_after: 1000")
            let worker = try await shop.startWorker()
            try await shop.produce((0..<10).map { rawReport(Self.app, #"{"code":22,"userId":"u\#($0)"}"#) })
            _ = try await shop.consumeOutputs { $0.count >= 10 }
            let operatorOf = Operator(shop: shop, ring: Self.app)
            try await operatorOf.does("prepare")
            try await operatorOf.does("promote", "--now")
            let new = try #require(try shop.ring(Self.app).versions.last?.id)
            let campaign = try Campaign(ring: ring(shop, offset))
            let job = Task { [brokers = shop.broker.bootstrapServers] in
                try await CampaignReissue(
                    campaign: campaign,
                    terms: CampaignTerms(
                        canary: 20, watch: .seconds(120), answerWithin: .seconds(60), maxRejections: .standard,
                        pace: ReissuePace(rate: nil)),
                    brokers: brokers, logger: quiet, display: NoDisplay(), note: { _ in }
                ).run()
            }
            let tokens = try await shop.consumeOutputs { records in
                records.count { $0.header("remint-key-id") == new } >= 2
            }
            // The vendor was not given the new key.
            for token in tokens where token.header("remint-key-id") == new {
                let jwt = try #require(token.member("token")), key = try #require(token.key)
                let user = String(decoding: key, as: UTF8.self).dropFirst(Self.app.count + 1)
                try await shop.produce([
                    rawReport(Self.app, #"{"code":20,"userId":"\#(user)","signature":"\#(jwt)"}"#)
                ])
            }
            let stopped = await #expect(throws: CampaignStopped.self) { _ = try await job.value }
            #expect(stopped?.description.contains("the vendor rejected") == true, "\(String(describing: stopped))")
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
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
