import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension DeviceScenarios {
    /// One failure costs one signature, as the metrics count them.
    @Suite(.timeLimit(.minutes(5))) struct CoalescingTests {
        @Test func `ten thousand reports of one user cost one signature, those of as many users as many`() async throws
        {
            let shop = try await Shop.open(admission: "subjects: 100000, coalesce: 60s")
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)

            try await shop.produce(
                (0..<10_000).map { _ in rawReport("braze-ios", #"{"errorCode":22,"userId":"the-same"}"#) })
            try await admin.wait("remint_outcomes_total", atLeast: 10_000)
            #expect(try await admin.total("remint_signatures_total") == 1)
            #expect(try await admin.total("remint_minted_total", [#"app="braze-ios""#]) == 1)
            let others =
                try await admin.total("remint_coalesced_total") + admin.total("remint_superseded_total")
            #expect(others == 9_999)

            try await shop.produce(
                (0..<10_000).map {
                    rawReport("infobip-mobile", #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"user-\#($0)"}"#)
                })
            try await admin.wait("remint_outcomes_total", atLeast: 20_000)
            let metrics = try await admin.get("/metrics").text.split(separator: "\n")
                .filter { $0.contains("infobip-mobile") || $0.contains("remint_transactions_total") }
            #expect(try await admin.total("remint_signatures_total", [#"algorithm="HS256""#]) == 10_000, "\(metrics)")
            #expect(
                try await admin.total("remint_minted_total", [#"app="infobip-mobile""#]) == 10_000,
                "\(metrics) \(worker.errorText)")

            await shop.close(expecting: 0)
        }
    }
}
