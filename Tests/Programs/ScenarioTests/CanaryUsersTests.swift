import AdapterKit
import Dispatch
import Foundation
import Kafka
import Keyring
import Operations
import ProgramTestSupport
import Synchronization
import Testing
import Vendors
import WorkerConfiguration

extension CampaignScenarios {
    /// A canary is made of users who can be heard of, in every app of the ring.
    @Suite(.timeLimit(.minutes(5))) struct CanaryUsersTests {
        private static let braze = Campaigners.braze
        private static let android = Campaigners(
            app: "braze-android", expired: Self.braze.expired, refused: Self.braze.refused)

        @Test func `users whose token expired are in no canary, so a refusal by the rest is heard`() async throws {
            let shop = try await Shop.open(admission: "suspend_after: 100000", partitions: 1)
            let worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.braze.app)
            let new = try await promote(operatorOf, shop)
            // They ended within the clock tolerance, did not come back, and are the first whose tokens end.
            try await hold(0..<40, of: Self.braze, endingIn: -300, shop)
            try await hold(40..<80, of: Self.braze, endingIn: 3600, shop)
            let job = try operatorOf.starts("reissue", "--watch", "2m", "--rate", "0")
            try #require(await job.wrote("the canary is answered"), "\(job.errorText)")
            #expect(job.errorText.contains("braze-ios: 20 of 40 users with a live token"), "\(job.errorText)")
            let canary = try await shop.tokens().filter { $0.header("remint-key-id") == new }
            let live = Set((40..<80).map { "\(Self.braze.app)/u\($0)" })
            #expect(canary.count == 20)
            #expect(canary.allSatisfy { live.contains(String(decoding: $0.key ?? [], as: UTF8.self)) })
            try await Self.braze.refuse(canary, shop)
            await job.waitForEnd()
            #expect(job.status == 1 && job.errorText.contains("of 20 canary tokens: at least"), "\(job.errorText)")
            // Nobody but users whose token ended: silence is no answer.
            try await operatorOf.does("resume")
            let second = try operatorOf.starts("reissue", "--canary", "100", "--watch", "2m", "--rate", "0")
            try #require(await second.wrote("the canary is answered"), "\(second.errorText)")
            let others = try await shop.tokens().filter { $0.header("remint-key-id") == new }.dropFirst(20)
            try await Self.braze.refuse(others, shop)
            await second.waitForEnd()
            try await operatorOf.does("resume")
            let last = try await operatorOf.run("reissue", ["--watch", "1s"], brokers: true)
            for words in [
                "40 of the app braze-ios, whose tokens expired", "so silence would prove nothing", "--canary 0",
            ] {
                #expect(last.status == 1 && last.errorText.contains(words), "\(last.errorText)")
            }
            await close(worker, shop)
        }

        @Test func `an app that was forgotten at the vendor pauses the campaign of its ring by name`() async throws {
            let shop = try await Shop.open(admission: "suspend_after: 100000", partitions: 1)
            try shop.configure(
                "apps:\n  braze-ios:",
                "apps:\n  braze-android:\n    adapter: braze\n    key: braze-ios\n    settings: {}\n  braze-ios:")
            let worker = try await shop.startWorker()
            let operatorOf = Operator(shop: shop, ring: Self.braze.app)
            let new = try await promote(operatorOf, shop)
            // The canary of one percent, and at least 20 users, would be of one app alone: its tokens end first.
            try await hold(0..<40, of: Self.braze, endingIn: 1800, shop)
            try await hold(0..<40, of: Self.android, endingIn: 3600, shop)
            let job = try operatorOf.starts("reissue", "--watch", "2m", "--rate", "0")
            try #require(await job.wrote("the canary is answered"), "\(job.errorText)")
            let canary = try await shop.tokens().filter { $0.header("remint-key-id") == new }
            let forgotten = canary.filter { $0.key?.starts(with: "\(Self.android.app)/".utf8) == true }
            #expect(canary.count == 40 && forgotten.count == 20)
            try await Self.android.refuse(forgotten, shop)
            await job.waitForEnd()
            #expect(job.status == 1)
            #expect(job.errorText.contains("the app braze-android: the vendor rejected"), "\(job.errorText)")
            #expect(!job.errorText.contains("the app braze-ios: the vendor"), "\(job.errorText)")
            let strata = try #require(try await operatorOf.status()["canary"] as? [[String: Any]])
            #expect(strata.map { $0["app"] as? String } == ["braze-android", "braze-ios"])
            #expect(strata.map { $0["users"] as? Int } == [20, 20] && strata.last?["rejected"] as? Int == 0)
            // The vendor has the key for it, too.
            try await operatorOf.does("resume")
            let again = try await operatorOf.run("reissue", ["--watch", "1s", "--rate", "0"], brokers: true)
            #expect(again.status == 0, "\(again.errorText)")
            #expect(again.errorText.contains("braze-android: 20 of 20 users with a live token"), "\(again.errorText)")
            #expect(try await operatorOf.status()["live_old"] as? Int == 0)
            await close(worker, shop)
        }

        @Test func `a report of a canary's user while the ledger is read pauses nothing`() async throws {
            let shop = try await Shop.open(
                admission: "subjects: 1000, coalesce: 1m, suspend_after: 1000", partitions: 1)
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            let operatorOf = Operator(shop: shop, ring: Self.braze.app)
            let new = try await promote(operatorOf, shop)
            try await hold(0..<20, of: Self.braze, endingIn: 3600, shop)
            let brokers = shop.broker.bootstrapServers
            let report = rawReport(Self.braze.app, Self.braze.expired("u3"))
            // The worker answers it with the new version behind the bounds of the reading, and takes the campaign's event for one of
            // the same burst.
            let display = MeanwhileDisplay {
                let producer = try KafkaProducer(["bootstrap.servers": brokers], logger: quiet)
                _ = await producer.deliver([report])
                await producer.close(within: .seconds(10))
                try await admin.wait("remint_outcomes_total", atLeast: 1)
            }
            let notes = Notes()
            let result = try await CampaignReissue(
                campaign: Campaign(ring: try ring(shop)),
                terms: CampaignTerms(
                    canary: 1, canaryUsers: 20, watch: .seconds(1), answerWithin: .seconds(15),
                    maxRejections: .standard, pace: ReissuePace(rate: nil)),
                brokers: brokers, logger: quiet, display: display, note: { notes.add($0) }
            ).run()
            guard case .reissued = result else {
                Issue.record("it was paused")
                return
            }
            #expect(notes.text.contains("19 of 20 answered, 1 superseded, 0 rejected"), "\(notes.text)")
            #expect(try await shop.tokens().count { $0.header("remint-key-id") == new } == 20)
            await close(worker, shop)
        }

        // MARK: Parts

        /// A new version that signs in the worker, which looks at its rings once a second.
        private func promote(_ operatorOf: Operator, _ shop: borrowing Shop) async throws -> String {
            try await operatorOf.does("prepare")
            try await operatorOf.does("promote", "--now")
            return try #require(try shop.ring(Self.braze.app).versions.last?.id)
        }

        /// Tokens of the old version for `users`, who got them an hour and a half ago.
        private func hold(
            _ users: Range<Int>, of campaigners: Campaigners, endingIn seconds: Int64, _ shop: borrowing Shop
        ) async throws {
            let version = try #require(try shop.ring(Self.braze.app).versions.first?.id)
            let app = campaigners.app, now = Int64(Date().timeIntervalSince1970), end = now + seconds
            try await shop.produce(
                users.map { user in
                    let value = """
                        {"app":"\(app)","vendor":"braze","subject":{"user":"u\(user)"},"token":"e.e.e","algorithm":"RS256",\
                        "key_id":"\(version)","issued_at":\(now - 5400),"expires_at":\(end),"version":1,"event_id":"e"}
                        """
                    let headers = [
                        ("ce_source", "/remint/\(app)"), ("ce_type", "remint.token.replaced.v1"),
                        ("remint-key-id", version), ("remint-expires-at", "\(end)"), ("remint-version", "1"),
                        ("remint-key-ring", Self.braze.app),
                    ]
                    return ProducerRecord(
                        topic: "remint.tokens", key: Array("\(app)/u\(user)".utf8), value: Array(value.utf8),
                        headers: headers.map { RecordHeader($0.0, $0.1) })
                })
        }

        private func ring(_ shop: borrowing Shop) throws -> RingInUse {
            let source = ConfigurationSource(
                environment: { ProcessInfo.processInfo.environment[$0] },
                file: { try? String(contentsOfFile: $0, encoding: .utf8) })
            let (read, diagnostics) = ConfigurationReader(registry: .remint, source: source).read(shop.configuration)
            let configuration = try #require(read, "\(diagnostics)")
            let key = try #require(configuration.keys.first { $0.name == Self.braze.app })
            return RingInUse(
                configuration: configuration, ring: key, directory: KeyRingDirectory(path: try #require(key.path)),
                now: { UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) })
        }

        private func close(_ worker: Program, _ shop: borrowing Shop) async {
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }
    }
}

/// A display that has something happen while the first reading of the ledger goes on, and waits until it has.
private struct MeanwhileDisplay: ProgressDisplay {
    let isShown = true
    private let work: @Sendable () async throws -> Void
    private let hasBegun = Flag()

    init(_ work: @escaping @Sendable () async throws -> Void) { self.work = work }

    mutating func show(_ done: Int, of total: Int, _ note: String) {
        guard note.contains("offsets"), hasBegun.raise() else { return }
        let isDone = DispatchSemaphore(value: 0)
        Task.detached { [work] in
            do { try await work() } catch { Issue.record(error) }
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + 60)
    }

    mutating func clear() {}
}

private final class Flag: Sendable {
    private let value = Mutex(false)

    /// Raises it.
    ///
    /// - Returns: whether it was down.
    func raise() -> Bool {
        value.withLock { value in
            defer { value = true }
            return !value
        }
    }
}

private final class Notes: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
