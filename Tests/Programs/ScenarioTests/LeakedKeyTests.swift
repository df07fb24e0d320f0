import AsyncTestSupport
import Foundation
import JOSE
import Kafka
import Keyring
import ProgramTestSupport
import Testing

extension KeyScenarios {
    /// A key leaks, or is replaced and comes back, while thousands of users hold its tokens: in the end nobody does, or
    /// the command reports how many are left.
    @Suite(.timeLimit(.minutes(5))) struct LeakedKeyTests {
        private static let infobip = Campaigners.infobip
        private static let environment = ProcessInfo.processInfo.environment
        /// The users of a fleet where the environment names a number.
        private static let named = environment["REMINT_TEST_CAMPAIGN_USERS"].flatMap { Int($0) }
        private static let few = named ?? (Scale.isLong ? 450 : 150)
        private static let many = named ?? (Scale.isLong ? 5500 : 450)

        /// The embedded broker forgets what a partition has too much of, so there are many partitions.
        private static func partitions(_ users: Int) -> Int { max(16, users / 350) }

        /// The moment of a campaign at which the key turns out to have leaked.
        enum Moment: String, CaseIterable, Sendable {
            case prepared, promoted, canaryRunning, canaryRejected, paused, waves, reissued

            /// One in the middle and one after the end, and all in a long run.
            static let tested: [Moment] = Scale.isLong ? allCases : [.waves, .reissued]
        }

        @Test(arguments: Moment.tested)
        func `a revocation takes over from a campaign in any phase and leaves no token`(
            _ moment: Moment
        ) async throws {
            let users = moment == .reissued ? Self.many : Self.few
            // Devices of Braze say which token was refused; Infobip's do not.
            let campaigners = moment == .canaryRejected ? Campaigners.braze : Self.infobip
            // The loop guard remembers whom the vendor refuses.
            let shop = try await Shop.open(
                admission: "suspend_after: 100000", partitions: Self.partitions(users))
            try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: campaigners.app)
            try await campaigners.issue(users, shop)
            try await operatorOf.does("prepare")
            let versions = try shop.ring(campaigners.app).versions.map(\.id)
            if moment != .prepared { try await operatorOf.does("promote", "--now") }
            let running = try await reach(moment, campaigners, operatorOf, shop)
            // Where the campaign is over, its new key leaks as well: back to the old one.
            let leaked = moment == .reissued ? versions[1] : versions[0]
            let start = ContinuousClock.now
            let revoked = try await operatorOf.run("revoke", ["--rate", "0", "--key-version", leaked], brokers: true)
            let took = (ContinuousClock.now - start) / .seconds(1)
            print("  leaked key, \(moment.rawValue): \(users) users, revoked in \(Int(took.rounded())) s")
            #expect(revoked.status == 0, "\(revoked.errorText)")
            #expect(revoked.errorText.contains("a revocation cannot be aborted"), "\(revoked.errorText)")
            #expect(revoked.outputText.contains("the ledger shows 0 live tokens of \(leaked)"), "\(revoked.outputText)")
            if let running {
                await running.waitForEnd()
                #expect(running.status == 1, "\(running.outputText) \(running.errorText)")
            }
            let ring = try shop.ring(campaigners.app)
            #expect(ring.versions.first { $0.id == leaked }?.state == .revoked)
            let successor = try #require(ring.versions.first { $0.id != leaked })
            #expect(successor.state == .active)
            #expect(try await operatorOf.ledger(of: leaked) == 0)
            #expect(try await operatorOf.ledger(of: successor.id) == users)
            let status = try await operatorOf.status()
            #expect(status["kind"] as? String == "revocation" && status["live_old"] as? Int == 0, "\(status)")
            try await operatorOf.isRefused("abort", saying: "a revocation cannot be aborted")
            try await operatorOf.does("retire", brokers: true)
            await shop.close()
        }

        /// Brings the promoted campaign to `moment`.
        ///
        /// - Returns: the job that goes on meanwhile.
        private func reach(
            _ moment: Moment, _ campaigners: Campaigners, _ operatorOf: Operator, _ shop: borrowing Shop
        ) async throws -> Program? {
            switch moment {
            case .prepared, .promoted: return nil
            case .canaryRunning, .canaryRejected:
                let job = try operatorOf.starts("reissue", "--canary", "1", "--watch", "10m", "--rate", "0")
                try #require(await job.wrote("the canary is answered"), "\(job.errorText)")
                guard moment == .canaryRejected else { return job }
                let new = try shop.ring(campaigners.app).versions.last?.id
                let canary = try await shop.tokens().filter { $0.header("remint-key-id") == new }
                try await campaigners.refuse(canary, shop)
                await job.waitForEnd()
                #expect(job.errorText.contains("of \(canary.count) canary tokens"), "\(job.errorText)")
                return nil
            case .paused:
                try await operatorOf.does("pause")
                return nil
            case .waves:
                // It would take some twenty seconds.
                let job = try operatorOf.starts("reissue", "--canary", "0", "--rate", "\(max(1, Self.few / 22))")
                try #require(await job.wrote("users to ask for"), "\(job.errorText)")
                return job
            case .reissued:
                try await operatorOf.does("reissue", "--canary", "0", "--rate", "0", brokers: true)
                return nil
            }
        }
    }
}
