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

        /// Percent of the canary that the vendor refuses, and whether that is more than 1 % for certain.
        @Test(arguments: [(0, false), (1, false), (3, true), (20, true), (100, true)])
        func `a canary of 200 users is judged by the share that the vendor refuses`(
            _ percent: Int, _ isTooMany: Bool
        ) async throws {
            try await Self.play { canary in
                let worker = try await canary.startWorker()
                let start = ContinuousClock.now
                try await begin(canary)
                let new = try canary.newest()
                let watch = isTooMany ? "10m" : "15s"
                let job = try canary.starts("reissue", "--canary", "100", "--watch", watch, "--rate", "0")
                try #require(await job.wrote("the canary is answered"), "\(job.errorText)")
                let count = Self.users * percent / 100
                let holders = try await canary.tokens(of: new)
                #expect(holders.count == Self.users)
                if count > 0 { try await canary.refuse(holders.prefix(count)) }
                await job.waitForEnd()
                #expect(job.status == (isTooMany ? 1 : 0), "\(job.errorText)")
                let words =
                    isTooMany
                    ? "of \(Self.users) canary tokens: at least"
                    : "the canary passed: \(Self.users) of \(Self.users) answered, 0 superseded, \(count) rejected"
                #expect(job.errorText.contains(words), "\(job.errorText)")
                if isTooMany {
                    let refused = try await canary.rotate("reissue")
                    #expect(refused.status == 1 && refused.errorText.contains("the campaign is paused"))
                    try await canary.does("abort")
                } else {
                    try await canary.does("retire")
                }
                report("canary, \(percent) % refused: \(Self.seconds(since: start)) s")
                await canary.stop(worker)
            }
        }

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
