import AsyncTestSupport
import Foundation
import Kafka
import Keyring
import ProgramTestSupport
import Testing

extension CampaignScenarios {
    /// Tests of a canary that fails for another reason than a lack of tokens: the loop guard, the signer's policy, a
    /// vendor that refuses a few.
    @Suite(.timeLimit(.minutes(5))) struct CanaryRowTests {
        private static let braze = Campaigners.braze
        private static let infobip = Campaigners.infobip

        // MARK: The loop guard

        @Test func `an app that the loop guard suspended pauses the campaign until it resumes`() async throws {
            // No probe within the test: the app stays suspended until an operator resumes it.
            let shop = try await Shop.open(admission: "suspend_after: 3, suspend_min_age: 1s, suspend_probe: 1h")
            let worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.braze.app)
            try await Self.braze.issue(20, shop)
            try await operatorOf.does("prepare")
            try await operatorOf.does("promote", "--now")
            let new = try #require(try shop.ring(Self.braze.app).versions.last?.id)
            // Users of live traffic get tokens of the new version, which the vendor was not given.
            let tokens = try await issueNewTokens(8, of: new, shop)
            try await Self.braze.refuse(tokens, shop)
            try #require(await worker.logged("app.suspended"), "\(worker.errorText)")
            let canary = ["--canary", "10", "--watch", "1s", "--answer-within"]
            let refused = try await operatorOf.run("reissue", canary + ["4s"], brokers: true)
            #expect(refused.status == 1)
            for words in [
                "canary users got no token of \(new)", " deferred (app_suspended)",
                "the app \(Self.braze.app) is suspended", "remint rotate abort", "remint rotate resume",
            ] {
                #expect(refused.errorText.contains(words), "\(refused.errorText)")
            }
            try await operatorOf.isRefused("reissue", brokers: true, saying: "the campaign is paused")
            // The vendor has the key now.
            try await operatorOf.apps("resume")
            try await operatorOf.does("resume")
            let again = try await operatorOf.run("reissue", canary + ["30s"], brokers: true)
            #expect(again.status == 0, "\(again.errorText)")
            #expect(again.errorText.contains("the canary passed: "), "\(again.errorText)")
            #expect(try await operatorOf.status()["live_old"] as? Int == 0)
            try await operatorOf.does("retire", brokers: true)
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }

        @Test func `a suspension during the watch pauses the campaign although every rejection is allowed`()
            async throws
        {
            let shop = try await Shop.open(admission: "suspend_after: 3, suspend_min_age: 1s, suspend_probe: 1h")
            let worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.braze.app)
            try await Self.braze.issue(8, shop)
            try await operatorOf.does("prepare")
            try await operatorOf.does("promote", "--now")
            let new = try #require(try shop.ring(Self.braze.app).versions.last?.id)
            let job = try operatorOf.starts(
                "reissue", "--canary", "100", "--watch", "20s", "--max-rejections", "100%", "--rate", "0")
            try #require(await job.wrote("the canary is answered"), "\(job.errorText)")
            try await Self.braze.refuse(try await shop.tokens().filter { $0.header("remint-key-id") == new }, shop)
            try #require(await worker.logged("app.suspended"), "\(worker.errorText)")
            await job.waitForEnd()
            #expect(job.status == 1)
            #expect(
                job.errorText.contains(
                    "the app \(Self.braze.app) is suspended: 8 users' tokens of \(new) were rejected by the vendor"),
                "\(job.errorText)")
            // Back to the old key, which the vendor has: the app resumes by itself with it.
            try await operatorOf.does("abort")
            #expect(try shop.ring(Self.braze.app).versions.map(\.state) == [.active, .passive])
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }

        /// Tokens of `version` for `count` users who had none before.
        private func issueNewTokens(
            _ count: Int, of version: String, _ shop: borrowing Shop
        ) async throws -> [ConsumedRecord] {
            var round = 0
            while true {
                // A worker looks at its rings once a second; users whom it answers with the old key before do not count.
                let prefix = "live\(round)-"
                try await Self.braze.issue(count, shop, prefix: prefix)
                let tokens = try await shop.tokens().filter {
                    $0.header("remint-key-id") == version
                        && $0.key?.starts(with: "\(Self.braze.app)/\(prefix)".utf8) == true
                }
                if tokens.count == count { return tokens }
                try Task.checkCancellation()
                round += 1
            }
        }

        // MARK: The signer

        @Test func `a signer whose policy forbids the tokens pauses the campaign until the policy allows them`()
            async throws
        {
            let shop = try await Shop.open()
            let place = try PolicySigner(shop, ring: Self.infobip.app)
            var signer = try await place.start()
            let worker = try await shop.startWorker()
            let operatorOf = Operator(configuration: place.configuration, of: shop, ring: Self.infobip.app)
            try await Self.infobip.issue(20, shop)
            try await operatorOf.does("prepare")
            try await operatorOf.does("promote", "--now")
            let new = try #require(try shop.ring(Self.infobip.app).versions.last?.id)
            signer.terminate()
            await signer.waitForEnd()
            signer = try await place.start(policy: "{ issuer: another-profile }")
            let canary = ["--canary", "10", "--watch", "1s", "--answer-within"]
            let refused = try await operatorOf.run("reissue", canary + ["10s"], brokers: true)
            #expect(refused.status == 1)
            for words in ["2 of 2 canary users got no token of \(new)", "mint_failed", "remint rotate resume"] {
                #expect(refused.errorText.contains(words), "\(refused.errorText)")
            }
            #expect(worker.errorText.contains("its iss is not policy.issuer"), "\(worker.errorText)")
            #expect(worker.errorText.contains("keys.\(Self.infobip.app).policy"), "\(worker.errorText)")
            signer.terminate()
            await signer.waitForEnd()
            signer = try await place.start()
            try await operatorOf.does("resume")
            let again = try await operatorOf.run("reissue", canary + ["30s"], brokers: true)
            #expect(again.status == 0, "\(again.errorText)")
            #expect(again.errorText.contains("the canary passed: 2 of 2 answered"), "\(again.errorText)")
            #expect(try await operatorOf.status()["live_old"] as? Int == 0)
            try await operatorOf.does("retire", brokers: true)
            for program in [worker, signer] {
                program.terminate()
                await program.waitForEnd()
            }
            await shop.broker.close()
        }

        // MARK: A few refusals

        /// Of a canary, the users whose tokens the vendor refuses, and whether that is too many.
        private static let allShares: [(rejected: Int, of: Int, isTooMany: Bool)] = [
            // Three hostile accounts of 10,000 users, all of them in the canary: they stop nothing.
            (3, 100, false),
            // 3 % of all users.
            (6, 200, true), (30, 1000, true),
        ]

        /// Those that are tested: the large canary in a long run alone.
        private static let shares = Array(allShares.prefix(Scale.isLong ? allShares.count : 2))

        @Test(arguments: shares) func `a vendor that refuses three of a hundred stops a canary that is large enough`(
            _ rejected: Int, _ size: Int, _ isTooMany: Bool
        ) async throws {
            let shop = try await Shop.open(admission: "suspend_after: 100000")
            let worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.braze.app)
            try await Self.braze.issue(size, shop)
            try await operatorOf.does("prepare")
            try await operatorOf.does("promote", "--now")
            let new = try #require(try shop.ring(Self.braze.app).versions.last?.id)
            let job = try operatorOf.starts("reissue", "--canary", "100", "--watch", "20s", "--rate", "0")
            try #require(await job.wrote("the canary is answered"), "\(job.errorText)")
            let tokens = try await shop.tokens().filter { $0.header("remint-key-id") == new }
            #expect(tokens.count == size)
            try await Self.braze.refuse(tokens.prefix(rejected), shop)
            await job.waitForEnd()
            #expect(job.status == (isTooMany ? 1 : 0), "\(job.errorText)")
            if isTooMany {
                for words in [
                    " of \(size) canary tokens: at least", "--max-rejections is 1.0 %", "remint rotate resume",
                ] {
                    #expect(job.errorText.contains(words), "\(job.errorText)")
                }
                try await operatorOf.does("resume")
                // Everybody was in the canary: nobody is left for another one.
                let rest = try await operatorOf.run("reissue", ["--watch", "1s"], brokers: true)
                for words in ["no user is left who was in none", "remint rotate abort", "reissue --canary 0"] {
                    #expect(rest.status == 1 && rest.errorText.contains(words), "\(rest.errorText)")
                }
                try await operatorOf.does("resume")
                try await operatorOf.does("reissue", "--canary", "0", brokers: true)
            } else {
                let words = "the canary passed: \(size) of \(size) answered, 0 superseded, \(rejected) rejected"
                #expect(job.errorText.contains(words), "\(job.errorText)")
            }
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }
    }
}

/// A signer beside a shop's workers, which takes one ring over, with or without a policy.
private struct PolicySigner {
    /// The signer's configuration, by which an operator changes the ring too.
    let configuration: String
    private let socket: String
    private let ring: String
    private let text: String

    init(_ shop: borrowing Shop, ring: String) throws {
        self.ring = ring
        socket = shop.folder.appending(path: "s").path
        configuration = shop.folder.appending(path: "signer.yaml").path
        text = try String(contentsOfFile: shop.configuration, encoding: .utf8)
        try #require(text.contains("{ path: keys/\(ring) }"))
        try shop.configure("{ path: keys/\(ring) }", "{ signer: s }")
    }

    func start(policy: String? = nil) async throws -> Program {
        let rule = policy.map { ", policy: \($0)" } ?? ""
        try Data(text.replacing("{ path: keys/\(ring) }", with: "{ path: keys/\(ring)\(rule) }").utf8)
            .write(to: URL(filePath: configuration))
        let signer = try Program(Repository.remint, ["signer", "--config", configuration, "--socket", socket])
        try #require(await signer.logged("signer.listening"), "\(signer.errorText)")
        return signer
    }
}
