import AdapterKit
import AsyncTestSupport
import Foundation
import JOSE
import Kafka
import Keyring
import Operations
import ProgramTestSupport
import Testing
import Vendors
import WorkerConfiguration

extension CampaignScenarios {
    /// A campaign reports what happened, stops where nothing did, and continues.
    @Suite(.timeLimit(.minutes(5))) struct CampaignTests {
        static let app = "braze-ios"

        // MARK: The canary

        /// A trouble that keeps a canary from being answered.
        enum Trouble: String, CaseIterable, Sendable {
            case appPaused, workersStopped, keyUnreadable

            /// Two that pause a campaign in different ways; all of them in a long run.
            static let tested: [Trouble] = Scale.isLong ? allCases : [.appPaused, .keyUnreadable]

            var words: String {
                switch self {
                case .appPaused: "2 deferred (app_suspended); the app braze-ios is paused"
                case .workersStopped: "2 not consumed by any worker"
                case .keyUnreadable: "got no token of"
                }
            }
        }

        @Test(arguments: Trouble.tested)
        func `a canary without tokens pauses the campaign with the reason, and another one passes`(
            _ trouble: Trouble
        ) async throws {
            let shop = try await Shop.open()
            var worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.app)
            try await issue(20, shop)
            try await operatorOf.does("prepare")
            let key = try shop.keyFile(Self.app)
            switch trouble {
            case .appPaused: try await operatorOf.apps("pause")
            case .workersStopped:
                worker.terminate()
                await worker.waitForEnd()
            case .keyUnreadable: worker.send(SIGSTOP)
            }
            try await operatorOf.does("promote", "--now")
            if trouble == .keyUnreadable {
                // The command refuses a key that cannot be read, so the file changes before the worker looks again.
                try setMode(0o644, of: key)
                worker.send(SIGCONT)
            }
            let canary = ["--canary", "10", "--watch", "1s", "--answer-within"]
            let refused = try await operatorOf.run("reissue", canary + ["4s"], brokers: true)
            #expect(refused.status == 1)
            for words in [trouble.words, "remint rotate abort", "remint rotate resume"] {
                #expect(refused.errorText.contains(words), "\(refused.errorText)")
            }
            #expect(refused.errorText.contains("2 of 2 canary users"), "\(refused.errorText)")
            #expect(try await operatorOf.status()["phase"] as? String == "canary")
            try await operatorOf.isRefused("reissue", brokers: true, saying: "the campaign is paused")
            switch trouble {
            case .appPaused: try await operatorOf.apps("resume")
            case .workersStopped: worker = try await shop.startWorker()
            case .keyUnreadable:
                try setMode(0o600, of: key)
                // Whoever is asked for before the worker has read it gets a token of the old version once more.
                let new = try #require(try shop.ring(Self.app).versions.last?.id)
                try #require(await worker.wrote("remint.key.version=\(new)"), "\(worker.errorText)")
            }
            try await operatorOf.does("resume")
            let again = try await operatorOf.run("reissue", canary + ["15s"], brokers: true)
            #expect(again.errorText.contains("the canary passed: 2 of 2 answered"), "\(again.errorText)")
            if trouble == .keyUnreadable {
                // The first canary's users got tokens of the old version meanwhile: the ledger knows, and the next round asks again.
                #expect(again.status == 1)
                #expect(again.errorText.contains("2 live tokens of"), "\(again.errorText)")
                #expect(again.errorText.contains("workers answered with another version"), "\(again.errorText)")
                try await operatorOf.does("reissue", brokers: true)
            } else {
                #expect(again.status == 0, "\(again.errorText)")
            }
            let status = try await operatorOf.status()
            #expect(status["live_old"] as? Int == 0 && status["phase"] as? String == "reissued", "\(status)")
            try await operatorOf.does("retire", brokers: true)
            await shop.close()
        }

        /// Of a canary of 20, the users whose tokens the vendor refuses, and whether that is too many: the two beside the limit,
        /// and all in a long run.
        private static let shares: [(Int, Bool)] =
            Scale.isLong ? [(0, false), (1, false), (4, true), (20, true)] : [(1, false), (4, true)]

        @Test(arguments: shares)
        func `a canary is judged by the share that the vendor refuses`(_ count: Int, _ isTooMany: Bool) async throws {
            let shop = try await Shop.open(admission: "suspend_after: 1000")
            try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.app)
            try await issue(20, shop)
            try await operatorOf.does("prepare")
            try await operatorOf.does("promote", "--now")
            let job = try operatorOf.starts("reissue", "--canary", "100", "--watch", "20s", "--rate", "0")
            try #require(await job.wrote("the canary is answered"), "\(job.errorText)")
            let new = try shop.ring(Self.app).versions.last?.id
            let tokens = try await shop.tokens().filter { $0.header("remint-key-id") == new }
            #expect(tokens.count == 20)
            try await refuse(Array(tokens.prefix(count)), shop)
            if count > 0 { try await shop.waitForLetters(isTooMany ? 1 : count) }
            await job.waitForEnd()
            #expect(job.status == (isTooMany ? 1 : 0), "\(job.errorText)")
            let words =
                isTooMany
                ? "the vendor rejected" : "the canary passed: 20 of 20 answered, 0 superseded, \(count) rejected"
            #expect(job.errorText.contains(words), "\(job.errorText)")
            await shop.close()
        }

        @Test func `a suspension during the watch pauses the campaign although every rejection is allowed`()
            async throws
        {
            let shop = try await Shop.open(admission: "suspend_after: 3, suspend_min_age: 1s, suspend_probe: 1h")
            let worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.app)
            try await issue(8, shop)
            try await operatorOf.does("prepare")
            try await operatorOf.does("promote", "--now")
            let new = try #require(try shop.ring(Self.app).versions.last?.id)
            let job = try operatorOf.starts(
                "reissue", "--canary", "100", "--watch", "20s", "--max-rejections", "100%", "--rate", "0")
            try #require(await job.wrote("the canary is answered"), "\(job.errorText)")
            try await refuse(try await shop.tokens().filter { $0.header("remint-key-id") == new }, shop)
            try #require(await worker.logged("app.suspended"), "\(worker.errorText)")
            await job.waitForEnd()
            #expect(job.status == 1)
            #expect(
                job.errorText.contains(
                    "the app \(Self.app) is suspended: 8 users' tokens of \(new) were rejected by the vendor"),
                "\(job.errorText)")
            // Back to the old key, which the vendor has: the app resumes by itself with it.
            try await operatorOf.does("abort")
            #expect(try shop.ring(Self.app).versions.map(\.state) == [.active, .passive])
            await shop.close()
        }

        @Test func `the checkpoint of another campaign is refused`() async throws {
            let shop = try await Shop.open()
            let operatorOf = Operator(shop: shop, ring: Self.app)
            try await operatorOf.does("prepare")
            try await operatorOf.does("promote", "--now")
            let id = try #require(try await operatorOf.status()["campaign"] as? String)
            let path = shop.folder.appending(path: "keys/\(Self.app)/rotation-\(id).json")
            try Data(
                #"{"job":"j","campaign":"another","round":1,"input":"ledger of x","rows":4,"sent":4,"rejected":0,"rejects_length":0}"#
                    .utf8
            ).write(to: path)
            try await operatorOf.isRefused("reissue", brokers: true, saying: "the checkpoint of the campaign another")
            await shop.close()
        }

        // MARK: Clocks

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

        // MARK: Parts

        /// Tokens of the old key for `count` users.
        func issue(_ count: Int, _ shop: borrowing Shop) async throws {
            try await Campaigners.braze.issue(count, shop)
        }

        /// The users of `tokens` come back with them.
        func refuse(_ tokens: [ConsumedRecord], _ shop: borrowing Shop) async throws {
            try await Campaigners.braze.refuse(tokens, shop)
        }
    }
}

func setMode(_ mode: Int, of path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}

extension Shop {
    /// The file of the newest version of the app's ring.
    func keyFile(_ app: String) throws -> String {
        let folder = folder.appending(path: "keys/\(app)")
        let text = try Data(contentsOf: folder.appending(path: "keyring.json"))
        let ring = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
        let file = try #require((ring["versions"] as? [[String: Any]])?.last?["file"] as? String)
        return folder.appending(path: file).path
    }
}

private struct NoDisplay: ProgressDisplay {
    let isShown = false
    mutating func show(_ done: Int, of total: Int, _ note: String) {}
    mutating func clear() {}
}
