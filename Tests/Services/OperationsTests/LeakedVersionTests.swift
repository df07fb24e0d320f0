import AdapterKit
import JOSE
import Kafka
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Keyring
@testable import Operations

/// Revocations: what is left of every revoked version, and what nobody can see, keeps them from their end.
@Suite struct LeakedVersionTests {
    private static let time = UnixTime(seconds: 1_763_640_000)
    private static let hidden = HiddenOffsets(
        TopicPartition(topic: "remint.tokens", partition: 1), count: 3, since: time)

    /// A ring with the versions a, which signs, b and c.
    private final class Shop {
        let folder: TemporaryFolder
        let ring: RingInUse
        let cluster = ModelCluster(now: { LeakedVersionTests.time.advanced(bySeconds: 60) })

        init() throws {
            folder = try TemporaryFolder()
            let path = "\(folder.path)/ring"
            try KeyRings.make(path, version: "a")
            let configuration = try CampaignSequenceTests.configuration()
            ring = RingInUse(
                configuration: configuration, ring: try #require(configuration.keys.first),
                directory: KeyRingDirectory(path: path), now: { LeakedVersionTests.time.advanced(bySeconds: 60) })
            for id in ["b", "c"] {
                var editor = try KeyRingEditor(ring.directory)
                try editor.add(
                    SigningKey.generate(.hs256), id: id, encoding: .hex, at: LeakedVersionTests.time, as: "import")
            }
            cluster.signer = { [ring] in (try? ring.directory.readListing())?.active?.id }
        }

        var campaign: Campaign { Campaign(ring: ring) }

        func issue(_ users: Int, _ version: String) {
            for user in 0..<users {
                cluster.issue(Array("push/registered=\(version)\(user)".utf8), version, eventID: "\(version)\(user)")
            }
        }

        func revoke(_ version: String, promoting successor: String) throws {
            _ = try campaign.revoke(try campaign.revocation(of: version, promoting: successor), why: nil)
        }

        func reissue(within patience: Duration = .zero) async throws -> CampaignReissue.Report? {
            let result = try await CampaignReissue(
                campaign: campaign,
                terms: CampaignTerms(
                    canary: 0, watch: .zero, answerWithin: patience, maxRejections: .standard,
                    pace: ReissuePace(rate: nil), loading: .zero),
                topics: cluster, display: NoDisplay(), note: { _ in }
            ).run()
            if case .reissued(let report) = result { return report }
            return nil
        }
    }

    @Test func `a second revocation asks for the users of the first one's version, too`() async throws {
        let shop = try Shop()
        shop.issue(3, "a")
        // The first one is killed before it asks for anybody.
        try shop.revoke("a", promoting: "b")
        shop.issue(2, "b")
        try shop.revoke("b", promoting: "c")
        shop.cluster.mood = .silent
        let stopped = await #expect(throws: CampaignStopped.self) { try await shop.reissue() }
        let text = stopped?.description ?? ""
        for words in [
            "5 live tokens of b (2) and a (3) are left in the ledger", "a: 3 can be re-issued", "rotate reissue",
        ] {
            #expect(text.contains(words), "\(text)")
        }
        shop.cluster.mood = .answers
        let report = try #require(try await shop.reissue())
        #expect(report.holdings.live == 0 && report.sent == 5)
        #expect(shop.cluster.live("a") == 0 && shop.cluster.live("b") == 0 && shop.cluster.live("c") == 5)
    }

    @Test func `the outcomes are those of users who still hold a token`() async throws {
        let shop = try Shop()
        shop.issue(3, "a")
        try shop.revoke("a", promoting: "b")
        shop.cluster.mood = .defers
        let first = await #expect(throws: CampaignStopped.self) { try await shop.reissue() }
        #expect(first?.description.contains(": 3 deferred (key_unavailable);") == true, "\(first?.description ?? "")")
        for user in shop.cluster.holders(of: "a").sorted(by: { $0.lexicographicallyPrecedes($1) }).prefix(2) {
            shop.cluster.issue(user, "b", eventID: "live")
        }
        let second = await #expect(throws: CampaignStopped.self) { try await shop.reissue() }
        let text = second?.description ?? ""
        #expect(text.contains("1 live token of a is left"), "\(text)")
        #expect(text.contains(": 1 deferred (key_unavailable);"), "\(text)")
    }

    @Test func `a revocation is not over while an open transaction hides a part of the ledger`() async throws {
        let shop = try Shop()
        shop.issue(2, "a")
        try shop.revoke("a", promoting: "b")
        shop.cluster.hidden = { Self.hidden }
        let stopped = await #expect(throws: CampaignStopped.self) { try await shop.reissue() }
        let text = stopped?.description ?? ""
        for words in ["0 live tokens of a are left in the ledger as far as it can be read", Self.hidden.description] {
            #expect(text.contains(words), "\(text)")
        }
        #expect(try shop.campaign.load().phase != .reissued)
        // It ends with the transaction.
        var questions = 0
        shop.cluster.hidden = {
            questions += 1
            return questions < 3 ? Self.hidden : nil
        }
        let report = try await shop.reissue(within: .seconds(60))
        #expect(report?.holdings.isClear == true && questions >= 3)
        #expect(try shop.campaign.load().phase == .reissued)
    }

    @Test func `a revocation is not over while brokers show a topic of events to nobody`() async throws {
        let shop = try Shop()
        shop.issue(2, "a")
        try shop.revoke("a", promoting: "b")
        shop.cluster.unseen = ["remint.own"]
        let stopped = await #expect(throws: CampaignStopped.self) { try await shop.reissue() }
        let text = stopped?.description ?? ""
        #expect(text.contains("brokers do not show remint.own") && text.contains("0 live tokens"), "\(text)")
        #expect(try shop.campaign.load().phase != .reissued)
        shop.cluster.unseen = []
        #expect(try await shop.reissue()?.holdings.isClear == true)
    }

    @Test func `a version is not retired over what is hidden, nor over tokens of a revoked one`() async throws {
        let shop = try Shop()
        shop.issue(1, "a")
        try shop.revoke("a", promoting: "b")
        #expect(try shop.ring.withRevoked("b") == ["b", "a"])
        #expect(try shop.ring.withRevoked("a") == ["a"])
        func refusal() async throws -> String? {
            let holdings = try await shop.cluster.holdings(of: ["b", "a"], in: shop.ring, at: shop.ring.now())
            return holdings.isClear ? nil : TokensLive(holdings, in: shop.ring, at: shop.ring.now()).description
        }
        let living = try #require(try await refusal())
        for words in [
            "1 live token is left of a, which is revoked",
            "remint reissue --ledger --key \(shop.ring.ring.name) --key-id a",
        ] {
            #expect(living.contains(words), "\(living)")
        }
        shop.cluster.issue(Array("push/registered=a0".utf8), "b", eventID: "again")
        shop.cluster.issue(Array("push/registered=a0".utf8), "c", eventID: "again")
        #expect(try await refusal() == nil)
        shop.cluster.hidden = { Self.hidden }
        let hidden = try #require(try await refusal())
        #expect(hidden.contains(Self.hidden.fact) && hidden.contains("kafka-transactions.sh"), "\(hidden)")
    }

    @Test func `an interrupted revocation reports what is left and the next command`() async throws {
        let shop = try Shop()
        shop.issue(1, "a")
        try shop.revoke("a", promoting: "b")
        let rotation = try shop.campaign.load()
        let reissue = CampaignReissue(
            campaign: shop.campaign,
            terms: CampaignTerms(
                canary: 0, watch: .zero, answerWithin: .zero, maxRejections: .standard, pace: ReissuePace(rate: nil),
                loading: .zero),
            topics: shop.cluster, display: NoDisplay(), note: { _ in })
        let known = await reissue.interruption(of: rotation, by: ModelCluster.Down())
        #expect(
            known
                == "stopped before the end, 1 live token of a is left in the ledger: go on with: remint rotate reissue")
        let unknown = await reissue.interruption(of: rotation, by: KafkaError.overdue("asking"))
        #expect(unknown.contains("an unknown number of live tokens of a is left in the ledger"), "\(unknown)")
    }

    @Test func `a version that no ring and no token knows is refused with the ledger's versions`() throws {
        var table = LedgerTable()
        table.take("ios/ann", key: "old", expires: 2000, version: 1, offset: 0)
        table.take("ios/ben", key: "ended", expires: 900, version: 1, offset: 1)
        var holdings = LedgerHoldings()
        holdings.add(table, matching: LedgerFilter(), at: UnixTime(seconds: 1000))
        #expect(UnknownVersion("old", in: holdings, isListed: false) == nil)
        #expect(UnknownVersion("ended", in: holdings, isListed: false) == nil)
        #expect(UnknownVersion("new", in: holdings, isListed: true) == nil)
        let unknown = try #require(UnknownVersion("odl", in: holdings, isListed: false))
        #expect(unknown.description.contains("no live token of a version odl"), "\(unknown)")
        #expect(unknown.description.hasSuffix("it holds those of old (1)"), "\(unknown)")
    }
}
