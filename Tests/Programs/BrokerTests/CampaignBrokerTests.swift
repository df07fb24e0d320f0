import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// A campaign's canary on a real broker: everything that can happen to it has a word, a pause and a way on.
    @Suite(.timeLimit(.minutes(5))) struct CampaignBrokerTests {
        private static let users = 200
        private static let letters =
            ProcessInfo.processInfo.environment["REMINT_TEST_LETTERS"].flatMap { Int($0) }
            ?? (Scale.isLong ? 1_000_000 : 200_000)

        @Test func `a canary's rejections behind many letters are heard after the job was killed`() async throws {
            try await Self.play { canary in
                let worker = try await canary.startWorker()
                try await canary.writeLetters(Self.letters)
                try await begin(canary)
                let new = try canary.newest()
                let start = ContinuousClock.now
                let job = try canary.starts("reissue", "--canary", "100", "--watch", "10m", "--rate", "0")
                try #require(await job.wrote("the canary is answered"), "\(job.errorText)")
                report(
                    "canary, \(Self.letters) letters before it: answered after \(Self.seconds(since: start)) s")
                job.kill()
                await job.waitForEnd()
                let holders = try await canary.tokens(of: new)
                let writing = ContinuousClock.now
                try await canary.writeLetters(Self.letters)
                report("\(Self.letters) letters written in \(Self.seconds(since: writing)) s")
                try await canary.refuse(holders.prefix(40))
                // The watch is over long before the letters are read.
                let reading = ContinuousClock.now
                let again = try await canary.rotate("reissue", "--canary", "100", "--watch", "1s", "--rate", "0")
                #expect(again.status == 1, "\(again.errorText)")
                #expect(again.errorText.contains("the vendor rejected 40 of 200 canary tokens"), "\(again.errorText)")
                report(
                    "canary, \(Self.letters) letters behind its begin: judged after \(Self.seconds(since: reading)) s")
                await canary.stop(worker)
            }
        }

        /// Everybody has a token of the old version, and the new one signs.
        private func begin(_ canary: Canary) async throws {
            try await canary.issue(Self.users)
            try await canary.does("prepare")
            try await canary.does("promote", "--now")
        }

        private static func play(_ story: (Canary) async throws -> Void) async throws {
            try await Shop.open(Canary.wishes) { shop in try await story(Canary(shop: shop)) }
        }

        private static func seconds(since start: ContinuousClock.Instant) -> String {
            let tenths = Int(((ContinuousClock.now - start) / .milliseconds(100)).rounded())
            return "\(tenths / 10).\(tenths % 10)"
        }
    }
}
