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
            let worker = try await shop.startWorker()
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
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
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

        @Test func `a revocation that no worker answers ends with 1 and the number that is left`() async throws {
            let users = Self.few
            let shop = try await Shop.open(partitions: Self.partitions(users))
            var worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.infobip.app)
            try await Self.infobip.issue(users, shop)
            try await operatorOf.does("prepare")
            let leaked = try #require(try shop.ring(Self.infobip.app).versions.first?.id)
            worker.terminate()
            await worker.waitForEnd()
            let refused = try await operatorOf.run("revoke", ["--rate", "0", "--answer-within", "3s"], brokers: true)
            #expect(refused.status == 1, "\(refused.outputText)")
            for words in [
                "\(users) live tokens of \(leaked) are left in the ledger (\(users) can be re-issued)",
                "\(users) events of the bulk lane wait for a worker", "remint rotate reissue",
            ] {
                #expect(refused.errorText.contains(words), "\(refused.errorText)")
            }
            #expect(try await operatorOf.ledger(of: leaked) == users)
            worker = try await shop.startWorker()
            try await operatorOf.does("reissue", "--rate", "0", brokers: true)
            #expect(try await operatorOf.ledger(of: leaked) == 0)
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }

        @Test func `a revocation is not over while a stalled worker may have events from before`() async throws {
            let shop = try await Shop.open(partitions: 4)
            let worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.infobip.app)
            try await Self.infobip.issue(20, shop)
            let leaked = try #require(try shop.ring(Self.infobip.app).versions.first?.id)
            try await operatorOf.does("prepare")
            try await operatorOf.does("promote", "--now")
            try await operatorOf.does("reissue", "--canary", "0", "--rate", "0", brokers: true)
            worker.send(SIGSTOP)
            try await shop.produce((0..<3).map { rawReport(Self.infobip.app, Self.infobip.expired("late-\($0)")) })
            let terms = ["--rate", "0", "--key-version", leaked, "--answer-within", "2s"]
            let refused = try await operatorOf.run("revoke", terms, brokers: true)
            #expect(refused.status == 1, "\(refused.outputText)")
            for words in ["0 live tokens", "of \(leaked)", "3 events from before the revocation have no outcome yet"] {
                #expect(refused.errorText.contains(words), "\(refused.errorText)")
            }
            worker.send(SIGCONT)
            try await operatorOf.does("reissue", "--rate", "0", brokers: true)
            #expect(try await operatorOf.ledger(of: leaked) == 0)
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }

        @Test func `a second leak does not hide the first, whatever command declares it`() async throws {
            let shop = try await Shop.open(partitions: 4)
            let worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.infobip.app)
            try await Self.infobip.issue(20, shop)
            let first = try #require(try shop.ring(Self.infobip.app).versions.first?.id)
            let revoked = try await operatorOf.remint(
                ["rotate", "revoke", "--key-version", first, "--no-reissue", "--key", operatorOf.ring], brokers: true)
            #expect(revoked.status == 1, "\(revoked.errorText)")
            let next = "remint rotate revoke --key \(operatorOf.ring) --key-version \(first) --promote ID"
            for words in ["20 live tokens of \(first) are left in the ledger (20 can be re-issued)", next] {
                #expect(revoked.outputText.contains(words), "\(revoked.outputText)")
            }
            let again = try await operatorOf.remint([
                "rotate", "revoke", "--key-version", first, "--no-reissue", "--key", operatorOf.ring, "--brokers",
                "127.0.0.1:1",
            ])
            #expect(again.status == 1, "\(again.outputText)")
            #expect(again.outputText.contains("an unknown number of live tokens of \(first)"), "\(again.outputText)")
            func generate() async throws -> String {
                let generated = try await operatorOf.remint(["keys", "generate", "--key", operatorOf.ring])
                try #require(generated.status == 0, "\(generated.errorText)")
                return try #require(try shop.ring(Self.infobip.app).versions.last?.id)
            }
            // The revocation of the first one is stopped before it asks for anybody, and its successor leaks.
            let second = try await generate()
            let waiting = try await operatorOf.run(
                "revoke", ["--key-version", first, "--promote", second, "--no-reissue"], brokers: true)
            #expect(waiting.status == 1, "\(waiting.errorText)")
            #expect(
                waiting.outputText.contains("20 live tokens of \(first) are left in the ledger (20 can be re-issued)"),
                "\(waiting.outputText)")
            let third = try await generate()
            let status = try await operatorOf.status()
            #expect(status["live_old"] as? Int == 20, "\(status)")
            let both = try await operatorOf.run(
                "revoke", ["--key-version", second, "--promote", third, "--no-reissue"], brokers: true)
            #expect(both.status == 1 && both.outputText.contains("20 live tokens"), "\(both.outputText)")
            let now = try await operatorOf.status()
            #expect(now["live_revoked"] as? [String: Int] == [first: 20], "\(now)")
            try await operatorOf.isRefused(
                "retire", brokers: true, saying: "20 live tokens are left of \(first), which is revoked")
            try await operatorOf.does("reissue", "--rate", "0", brokers: true)
            #expect(try await operatorOf.ledger(of: first) == 0)
            #expect(try await operatorOf.ledger(of: third) == 20)
            try await operatorOf.does("retire", brokers: true)
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }

        @Test func `no command ends a revocation while another ring uses the leaked key`() async throws {
            let shop = try await Shop.open(partitions: 4)
            let worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.infobip.app)
            try await Self.infobip.issue(5, shop)
            let leaked = try #require(try shop.ring(Self.infobip.app).versions.first?.id)
            // A hand copies the key into another ring.
            let keys = shop.folder.appending(path: "keys"), other = Campaigners.braze.app
            let secret = try KeyRingDirectory(path: keys.appending(path: Self.infobip.app).path).readListing()
                .version(leaked)
            let copy = keys.appending(path: "\(other)/o1.secret")
            try FileManager.default.copyItem(at: keys.appending(path: "\(Self.infobip.app)/\(secret.file)"), to: copy)
            let listing = keys.appending(path: "\(other)/keyring.json")
            let encoding = secret.encoding.map { #","encoding":"\#($0.rawValue)""# } ?? ""
            let entry =
                #"{"id":"o1","state":"passive","algorithm":"\#(secret.algorithm.rawValue)","file":"o1.secret"\#(encoding)}"#
            let text = try String(contentsOf: listing, encoding: .utf8)
            try Data(text.replacing(#"{"versions":["#, with: #"{"versions":[\#(entry),"#).utf8).write(to: listing)
            try await operatorOf.does("prepare")
            let command = "remint rotate revoke --key \(other) --key-version o1"
            for step in [["revoke", "--rate", "0"], ["reissue", "--rate", "0"], ["status"], ["retire"]] {
                let program = try await operatorOf.run(step[0], Array(step.dropFirst()), brokers: true)
                #expect(program.status == 1, "\(step[0]): \(program.outputText)")
                #expect(program.errorText.contains(command), "\(step[0]): \(program.errorText)")
            }
            let revoked = try await operatorOf.remint(
                ["rotate", "revoke", "--key-version", "o1", "--no-reissue", "--key", other], brokers: true)
            #expect(revoked.status == 0, "\(revoked.errorText)")
            for step in ["reissue", "status", "retire"] { try await operatorOf.does(step, brokers: true) }
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }

        @Test func `campaigns forth and back between two versions each re-issue everybody`() async throws {
            let users = Self.few
            let shop = try await Shop.open(partitions: Self.partitions(users))
            let worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.infobip.app)
            try await Self.infobip.issue(users, shop)
            try await operatorOf.does("prepare")
            let versions = try shop.ring(Self.infobip.app).versions.map(\.id)
            for round in 0..<(Scale.isLong ? 5 : 2) {
                let (from, to) = (versions[round % 2], versions[(round + 1) % 2])
                try await operatorOf.does("prepare", "--key-version", to)
                try await operatorOf.does("promote", "--now")
                let start = ContinuousClock.now
                let job = try await operatorOf.run("reissue", ["--canary", "0", "--rate", "0"], brokers: true)
                let took = (ContinuousClock.now - start) / .seconds(1)
                print("  forth and back, round \(round): \(users) users re-issued in \(Int(took.rounded())) s")
                #expect(job.status == 0, "\(job.errorText)")
                #expect(
                    job.outputText.contains("\(users) events sent, 0 subjects"),
                    "round \(round): \(job.outputText)")
                #expect(job.outputText.contains("the ledger shows 0 live tokens of \(from)"), "\(job.outputText)")
                #expect(try await operatorOf.ledger(of: from) == 0)
                #expect(try await operatorOf.ledger(of: to) == users)
            }
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }
    }
}
