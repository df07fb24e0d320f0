import AdapterKit
import JOSE
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Keyring
@testable import Operations

/// Verdicts over a version that does not sign any more: none is given while a worker may add a token of it.
@Suite struct EndOfUseTests {
    private static let time = UnixTime(seconds: 1_763_640_000)

    /// A ring with the version a, which signs, and b, prepared, and a worker that signs with a.
    private final class Shop {
        let folder: TemporaryFolder
        let ring: RingInUse
        let cluster = ModelCluster(now: { EndOfUseTests.time.advanced(bySeconds: 60) })
        private(set) var rests: [Duration] = []

        init(on disk: Disk = .real) throws {
            folder = try TemporaryFolder()
            let path = "\(folder.path)/ring"
            try KeyRings.make(path, version: "a")
            let configuration = try CampaignSequenceTests.configuration()
            ring = RingInUse(
                configuration: configuration, ring: try #require(configuration.keys.first),
                directory: KeyRingDirectory(path: path, on: disk), now: { EndOfUseTests.time.advanced(bySeconds: 60) })
            var editor = try KeyRingEditor(KeyRingDirectory(path: path))
            try editor.add(
                SigningKey.generate(.hs256), id: "b", encoding: .hex, at: EndOfUseTests.time, as: "import")
        }

        /// A worker answers an event with the version a.
        func sign() { cluster.issue(Array("push/registered=u".utf8), "a", eventID: "late") }

        private func end(_ maxWait: Duration, _ meanwhile: @escaping () -> Void) -> EndOfUse {
            EndOfUse(of: ring, on: cluster, maxWait: maxWait) { [self] time in
                rests.append(time)
                meanwhile()
            }
        }

        /// Returns the refusal to retire the version a; nil where it may be retired.
        func refusal(
            within maxWait: Duration = .zero, _ meanwhile: @escaping () -> Void = {}
        ) async throws -> String? {
            do {
                try await ring.requireNoLiveToken(
                    of: ["a"], next: RemintCommand("rotate retire"), after: end(maxWait, meanwhile), NoDisplay()
                ) { try await cluster.holdings(of: ["a"], in: ring, at: $0) }
                return nil
            } catch let error as TokensLive { return error.description } catch let error as UseNotOver {
                return error.description
            }
        }

        /// Reads the ledger for the revoked version a.
        func read(
            within maxWait: Duration = .zero, _ meanwhile: @escaping () -> Void = {}
        ) async throws -> FinalReading {
            try await ring.finalReading(of: "a", after: end(maxWait, meanwhile), NoDisplay()) {
                try await cluster.holdings(of: $0, in: ring, at: ring.now())
            }
        }

        /// Revokes the version a; with nil no version signs afterwards.
        func revoke(promoting successor: String?) throws {
            var editor = try ring.editor()
            try editor.change { listing throws(KeyRingError) in
                if let successor { try listing.promote(successor, at: ring.now()) }
                return try listing.revoke("a")
            }
        }
    }

    private static let next = RemintCommand("rotate reissue")

    @Test func `a revocation is not over before every worker has loaded the ring`() async throws {
        let shop = try Shop()
        try shop.revoke(promoting: "b")
        let late = try await shop.read { shop.sign() }
        #expect(shop.rests == [EndOfUse.loading])
        #expect(!late.isOver)
        #expect(
            late.sentence(next: Self.next).contains("1 live token of a is left"), "\(late.sentence(next: Self.next))")
        shop.cluster.issue(Array("push/registered=u".utf8), "b", eventID: "new")
        let over = try await shop.read()
        #expect(over.isOver && over.sentence(next: Self.next) == "the ledger shows 0 live tokens of a")
    }

    @Test func `a version without a successor is not over before every worker has loaded the ring`() async throws {
        let shop = try Shop()
        try shop.revoke(promoting: nil)
        #expect(try await !shop.read { shop.sign() }.isOver)
    }

    @Test func `a version is not retired before every worker has loaded its successor`() async throws {
        let shop = try Shop()
        try shop.ring.promote("b", isForced: true)
        let refused = try await shop.refusal { shop.sign() }
        #expect(refused?.contains("1 live token is signed with it") == true, "\(refused ?? "")")
        shop.cluster.issue(Array("push/registered=u".utf8), "b", eventID: "new")
        #expect(try await shop.refusal() == nil)
    }

    @Test func `a verdict waits for the events from before it`() async throws {
        let shop = try Shop()
        try shop.revoke(promoting: "b")
        shop.cluster.mood = .silent
        let pending = try await shop.read()
        let text = pending.sentence(next: Self.next)
        #expect(!pending.isOver)
        for words in [
            "0 live tokens of a are left", "1 event from before has no outcome yet", "remint status",
            "with: remint rotate reissue",
        ] { #expect(text.contains(words), "\(text)") }
        let refused = try await shop.refusal()
        for words in ["1 event from before has no outcome yet", "then: remint rotate retire", "--force"] {
            #expect(refused?.contains(words) == true, "\(refused ?? "")")
        }
        // The worker that stood still answers after all.
        let late = try await shop.read(within: .seconds(600)) {
            guard shop.rests.last != EndOfUse.loading else { return }
            shop.sign()
            shop.cluster.mood = .answers
        }
        #expect(!late.isOver && late.holdings.live == 1)
    }

    @Test func `a verdict is refused where brokers do not show a topic of events`() async throws {
        let shop = try Shop()
        try shop.revoke(promoting: "b")
        shop.cluster.unseen = ["remint.own"]
        let reading = try await shop.read()
        #expect(!reading.isOver && reading.sentence(next: Self.next).contains("brokers do not show remint.own"))
        let refused = try await shop.refusal()
        #expect(refused?.contains("brokers do not show remint.own") == true, "\(refused ?? "")")
    }

    /// The age of the ring's change by the operator's clock, in seconds, and whether the operator waits.
    @Test(arguments: [(-9999, true), (-5, true), (0, true), (2, true), (600, true), (904, false)] as [(Int64, Bool)])
    func `a clock shortens no wait for workers`(_ age: Int64, _ waits: Bool) {
        let rest = EndOfUse.rest(since: Self.time, at: Self.time.advanced(bySeconds: age), EndOfUse.loading)
        #expect(rest == (waits ? EndOfUse.loading : .zero))
        #expect(EndOfUse.rest(since: nil, at: Self.time, EndOfUse.loading) == EndOfUse.loading)
    }

    @Test func `a version that never signed is retired without a wait`() async throws {
        let shop = try Shop()
        shop.cluster.mood = .silent
        let end = EndOfUse(of: shop.ring, on: shop.cluster, maxWait: .zero)
        #expect(try await end.wait(for: ["b"], NoDisplay()) == nil)
    }

    @Test func `a revocation chooses no version that is revoked already`() throws {
        let shop = try Shop(), campaign = Campaign(ring: shop.ring)
        _ = try campaign.revoke(try campaign.revocation(of: nil, promoting: "b"), why: nil)
        let refused = #expect(throws: RotationError.self) { try campaign.revocation(of: nil, promoting: nil) }
        let text = refused?.description ?? ""
        for words in [
            "a, which the open campaign replaces, is revoked already", "remint rotate revoke --key-version b (active)",
            "remint rotate revoke --key-version a (revoked already; goes on with its revocation)",
        ] { #expect(text.contains(words), "\(text)") }
        #expect(try campaign.revocation(of: "a", promoting: nil).successor == "b")
        #expect(try campaign.revocation(of: "b", promoting: nil).leaked == "b")
    }

    /// The steps that change the ring, and the errors of those that fail halfway.
    enum Step: CaseIterable {
        case promote, abort, retire, promoteVersion, retireVersion

        var words: String {
            switch self {
            case .promote, .promoteVersion, .retireVersion, .retire: "b signs, a is "
            case .abort: "a signs, b is "
            }
        }

        func prepare(_ ring: RingInUse) throws {
            let campaign = Campaign(ring: ring)
            switch self {
            case .promote: _ = try campaign.prepare("b", why: nil)
            case .abort, .retire:
                _ = try campaign.prepare("b", why: nil)
                _ = try campaign.promote(isForced: true)
            case .promoteVersion: break
            case .retireVersion: try ring.promote("b", isForced: true)
            }
        }

        func make(_ ring: RingInUse) throws {
            let campaign = Campaign(ring: ring)
            switch self {
            case .promote: _ = try campaign.promote(isForced: true)
            case .abort: _ = try campaign.abort()
            case .retire: try campaign.retire(try campaign.load().id, isForced: false)
            case .promoteVersion: try ring.promote("b", isForced: true)
            case .retireVersion: _ = try ring.retire("a", isForced: false)
            }
        }
    }

    @Test(arguments: Step.allCases)
    func `a step that fails on a full disk after it changed the ring names the version that signs`(_ step: Step) throws
    {
        var halfDone = 0
        for first in 0..<40 {
            let shop = try Shop()
            try step.prepare(shop.ring)
            let disk = FaultyDisk(.full(first, stays: true), RingWatch(shop.ring.directory.path))
            let full = RingInUse(
                configuration: shop.ring.configuration, ring: shop.ring.ring,
                directory: KeyRingDirectory(path: shop.ring.directory.path, on: disk.disk), now: shop.ring.now)
            let before = try full.directory.readListing()
            do { try step.make(full) } catch {
                let sentence = full.halfDone(since: before, next: RemintCommand("rotate promote"))
                let isChanged = try full.directory.readListing().versions != before.versions
                #expect((sentence != nil) == isChanged, "\(sentence ?? "")")
                guard let sentence else { continue }
                halfDone += 1
                #expect(sentence.contains(step.words), "\(sentence)")
                #expect(sentence.hasSuffix("then: remint rotate promote"), "\(sentence)")
                // The same command completes the step.
                try step.make(shop.ring)
                #expect(shop.ring.halfDone(since: try shop.ring.directory.readListing(), next: Self.next) == nil)
            }
        }
        #expect(halfDone > 0)
    }

    @Test(arguments: [1e20, 1e-300, .infinity, .nan, -1, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.001, 1e6])
    func `a pace of any rate can be counted`(_ rate: Double) {
        let pace = ReissuePace(rate: rate, wave: .max, rest: 31_536_000_000)
        var random = SeededGenerator(seed: 1)
        #expect((1...2000).contains(pace.batch(sent: 0)))
        let pause = pace.pause(after: pace.batch(sent: 0), sent: 1, random: &random)
        #expect(pause.isFinite && pause >= 0)
        #expect(ContinuousClock.now + .seconds(pause) >= .now)
    }

    @Test func `a checkpoint keeps what an open transaction hid of the ledger`() {
        var progress = ReissueProgress(job: "j", input: "ledger")
        #expect(ReissueProgress(progress.json)?.hidden == 0)
        progress.hidden = 7
        #expect(ReissueProgress(progress.json) == progress)
    }
}
