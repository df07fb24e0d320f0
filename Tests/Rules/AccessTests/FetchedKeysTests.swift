import Access
import JOSE
import Testing

private struct Down: Error {}

/// Keys that are fetched by hand, and who asks for them.
private struct Scene: Sendable {
    let clock = ManualClock()
    let fetch = ManualCall<Int, KeySetDocument>()
    let pause = ManualCall<Duration, Void>()
    let keys: FetchedKeys
    let verifier: SessionVerifier
    let old: SigningKey
    let new: SigningKey

    init() throws {
        keys = FetchedKeys(
            algorithms: SampleIssuer.rules.algorithms, now: { [clock] in clock.now },
            pause: { [pause] in try await pause.make($0) }, fetch: { [fetch] in try await fetch.make(0) })
        verifier = SessionVerifier(rules: SampleIssuer.rules, keys: keys)
        old = try SampleIssuer.key(.es256, "old")
        new = try SampleIssuer.key(.es256, "new")
    }

    /// Runs `body` beside the fetching, whose first answer is `first`; nil leaves it open.
    func run(_ first: Result<KeySetDocument, any Error>?, _ body: (Scene) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await keys.run() }
            _ = await fetch.next()
            if let first {
                fetch.answer(first)
                // Waits for what was answered, if need be.
                _ = await keys.keys(for: "old")
            }
            try await body(self)
            group.cancelAll()
        }
    }

    func published(_ keys: SigningKey...) throws -> Result<KeySetDocument, any Error> {
        .success(KeySetDocument(bytes: try SampleIssuer.document(keys)))
    }

    /// A set without a usable key, each in a way of its own.
    static let unusableSets = [
        #"{"keys":[]}"#, #"{"keys":[{}]}"#, #"{"keys":[{"kty":"oct","k":"AAAA","alg":"HS256","kid":"old"}]}"#,
        #"{"keys":[{"kty":"EC","crv":"P-256","use":"enc","kid":"old","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#,
    ]

    /// Returns the outcome of a session of `key`, where its keys are waited for until `deadline`.
    func outcome(_ key: SigningKey, until deadline: ContinuousClock.Instant? = nil) async -> String {
        do throws(AccessRefusal) {
            return try await verifier.verify(
                (try? SampleIssuer.session(key)) ?? [], now: SampleIssuer.now, until: deadline
            ).user(by: "sub") ?? "nobody"
        } catch {
            guard case .later(let wait) = error.answer else { return error.reason.rawValue }
            return "\(error.reason.rawValue), later \(wait.components.seconds)"
        }
    }

    /// The outcomes of `count` sessions of `key` that all wait by the time the returned task group goes on.
    func outcomes(
        _ callers: [(key: SigningKey, count: Int)], while answer: () async throws -> Void
    ) async throws -> [String: Int] {
        try await withThrowingTaskGroup(of: String.self) { group in
            for (key, count) in callers {
                for _ in 0..<count { group.addImmediateTask { await outcome(key) } }
            }
            try await answer()
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }
}

@Suite("Keys that are fetched", .timeLimit(.minutes(10)))
struct FetchedKeysTests {
    @Test func `the first set is fetched before anybody asks, and early callers wait for it`() async throws {
        try await Scene().run(nil) { scene in
            let outcomes = try await scene.outcomes([(scene.old, 50)]) {
                scene.fetch.answer(try scene.published(scene.old))
            }
            #expect(outcomes == ["u-42": 50])
            #expect(scene.fetch.count == 1)
        }
    }

    @Test func `every caller is told to come later while there are no keys, and none is refused`() async throws {
        try await Scene().run(.failure(Down())) { scene in
            #expect(await scene.outcome(scene.old) == "keys_unavailable, later 1")
            #expect(scene.fetch.count == 1)
            scene.clock.advance(by: .seconds(1))
            let outcomes = try await scene.outcomes([(scene.old, 50)]) {
                _ = await scene.fetch.next()
                scene.fetch.answer(.failure(Down()))
            }
            #expect(outcomes == ["keys_unavailable, later 2": 50])
            #expect(scene.keys.condition.failures == 2)
            #expect(scene.keys.condition.keys == 0)
            #expect(scene.keys.condition.age == nil && !scene.keys.condition.isUsable)
        }
    }

    @Test(arguments: ["<html>", "{}", #"{"keys":null}"#, #"{"keys":[]"#])
    func `a document that is no key set is a failure, and the keys of before go on`(text: String) async throws {
        let broken = Result<KeySetDocument, any Error>.success(KeySetDocument(bytes: Array(text.utf8)))
        try await Scene().run(broken) { scene in
            #expect(await scene.outcome(scene.old) == "keys_unavailable, later 1")
            #expect(scene.keys.condition.problem == .notAKeySet && scene.keys.condition.failures == 1)
            #expect(!scene.keys.condition.lacksKeys)
        }
        let scene = try Scene()
        try await scene.run(scene.published(scene.old)) { scene in
            scene.clock.advance(by: .seconds(30))
            let outcomes = try await scene.outcomes([(scene.new, 1)]) {
                _ = await scene.fetch.next()
                scene.fetch.answer(broken)
            }
            #expect(outcomes == ["keys_unavailable, later 30": 1])
            #expect(await scene.outcome(scene.old) == "u-42")
            #expect(scene.keys.condition.isUsable && scene.keys.condition.failures == 1)
        }
    }

    @Test(arguments: Scene.unusableSets)
    func `a set without a usable key withdraws the keys of before at once`(text: String) async throws {
        let empty = Result<KeySetDocument, any Error>.success(
            KeySetDocument(bytes: Array(text.utf8), maxAge: .seconds(86_400)))
        let scene = try Scene()
        let thumbprint = try #require(try JWK.thumbprint(of: scene.old.verificationKey))
        try await scene.run(scene.published(scene.old)) { scene in
            #expect(!scene.keys.isWithdrawn(thumbprint))
            scene.clock.advance(by: .seconds(30))
            let outcomes = try await scene.outcomes([(scene.new, 1)]) {
                _ = await scene.fetch.next()
                scene.fetch.answer(empty)
            }
            #expect(outcomes == ["keys_unavailable, later 1": 1])
            #expect(await scene.outcome(scene.old) == "keys_unavailable, later 1")
            #expect(scene.keys.isWithdrawn(thumbprint))
            let condition = scene.keys.condition
            #expect(condition.lacksKeys && !condition.isUsable && condition.keys == 0)
            #expect(condition.failures == 0 && condition.problem == .noUsableKey && condition.age == .zero)
            // What fails now brings nothing back.
            scene.clock.advance(by: .seconds(1))
            let failed = try await scene.outcomes([(scene.old, 1)]) {
                _ = await scene.fetch.next()
                scene.fetch.answer(.failure(Down()))
            }
            #expect(failed == ["keys_unavailable, later 1": 1])
            #expect(scene.keys.isWithdrawn(thumbprint) && scene.keys.condition.lacksKeys)
            scene.clock.advance(by: .seconds(1))
            let served = try await scene.outcomes([(scene.old, 10)]) {
                _ = await scene.fetch.next()
                scene.fetch.answer(try scene.published(scene.old))
            }
            #expect(served == ["u-42": 10])
            #expect(!scene.keys.isWithdrawn(thumbprint) && scene.keys.condition.isUsable)
            #expect(!scene.keys.condition.lacksKeys && scene.keys.condition.problem == nil)
        }
    }

    @Test func `a set without a usable key is fetched again soon, though nobody asks`() async throws {
        let scene = try Scene()
        try await scene.run(scene.published(scene.old)) { scene in
            #expect(await scene.pause.next() == .seconds(1))
            scene.pause.answer(.success(()))
            #expect(await scene.pause.next() == .seconds(600))
            scene.clock.advance(by: .seconds(30))
            _ = try await scene.outcomes([(scene.new, 1)]) {
                _ = await scene.fetch.next()
                scene.fetch.answer(.success(KeySetDocument(bytes: Array(#"{"keys":[]}"#.utf8))))
            }
            #expect(await scene.pause.next() == .seconds(1))
            scene.clock.advance(by: .seconds(1))
            // The oldest pause is the one that the first set was given.
            for _ in 0..<2 { scene.pause.answer(.success(())) }
            _ = await scene.fetch.next()
            let outcomes = try await scene.outcomes([(scene.old, 5)]) {
                scene.fetch.answer(try scene.published(scene.old))
            }
            #expect(outcomes == ["u-42": 5])
        }
    }

    @Test func `an issuer that stalls takes no more of a caller's time than the caller has`() async throws {
        try await Scene().run(nil) { scene in
            // The pause until the set is fetched again.
            #expect(await scene.pause.next() == .seconds(1))
            await withTaskGroup(of: String.self) { group in
                group.addTask { await scene.outcome(scene.old, until: scene.clock.now + .seconds(2)) }
                #expect(await scene.pause.next() == .seconds(2))
                scene.pause.answer(.success(()))
                #expect(await scene.pause.next() == .seconds(1))
                scene.pause.answer(.success(()))
                #expect(await group.next() == "keys_unavailable, later 1")
            }
            // Whoever has no time left does not wait at all.
            #expect(await scene.outcome(scene.old, until: scene.clock.now) == "keys_unavailable, later 1")
            // The fetch goes on all the same.
            let outcomes = try await scene.outcomes([(scene.old, 5)]) {
                scene.fetch.answer(try scene.published(scene.old))
            }
            #expect(outcomes == ["u-42": 5])
            #expect(scene.fetch.count == 1)
        }
    }

    @Test func `a signature that does not fit waits for another set no longer than its caller has`() async throws {
        let scene = try Scene()
        let replaced = try SampleIssuer.key(.es256, "old")
        try await scene.run(scene.published(scene.old)) { scene in
            scene.clock.advance(by: .seconds(30))
            #expect(await scene.outcome(replaced, until: scene.clock.now) == "keys_unavailable, later 1")
            #expect(await scene.outcome(scene.old, until: scene.clock.now) == "u-42")
        }
    }

    @Test func `the last set serves while its source is down`() async throws {
        let scene = try Scene()
        try await scene.run(scene.published(scene.old)) { scene in
            scene.clock.advance(by: .seconds(3600))
            #expect(await scene.outcome(scene.old) == "u-42")
            _ = await scene.fetch.next()
            scene.fetch.answer(.failure(Down()))
            #expect(await scene.outcome(scene.old) == "u-42")
            #expect(scene.keys.condition.isStale && scene.keys.condition.isUsable)
            #expect(scene.keys.condition.age == .seconds(3600))
            // Whose key it may be cannot be told.
            #expect(await scene.outcome(scene.new).hasPrefix("keys_unavailable, later"))
            scene.clock.advance(by: .seconds(100_000))
            let outcomes = try await scene.outcomes([(scene.old, 3)]) {
                _ = await scene.fetch.next()
                scene.fetch.answer(.failure(Down()))
            }
            #expect(outcomes == ["keys_unavailable, later 2": 3])
            #expect(scene.keys.condition.age == .seconds(103_600) && !scene.keys.condition.isUsable)
        }
    }

    @Test func `a rotation under load costs one fetch, and no honest caller is refused`() async throws {
        let scene = try Scene()
        let forger = try SampleIssuer.key(.es256, "made-up")
        try await scene.run(scene.published(scene.old)) { scene in
            scene.clock.advance(by: .seconds(30))
            // The first made-up id makes a fetch, which has no such key.
            let first = try await scene.outcomes([(forger, 1)]) {
                _ = await scene.fetch.next()
                scene.fetch.answer(try scene.published(scene.old))
            }
            #expect(first == ["unknown_key": 1])
            // Five seconds later the issuer rotates. It cannot be told from another made-up id, nor need it be.
            scene.clock.advance(by: .seconds(5))
            let early = try await scene.outcomes([(scene.new, 200), (forger, 200), (scene.old, 200)]) {}
            #expect(early == ["keys_unavailable, later 25": 400, "u-42": 200])
            #expect(scene.fetch.count == 2)
            // After the cool-down one fetch decides for all.
            scene.clock.advance(by: .seconds(25))
            let late = try await scene.outcomes([(forger, 200), (scene.new, 200), (scene.old, 200)]) {
                _ = await scene.fetch.next()
                scene.fetch.answer(try scene.published(scene.old, scene.new))
            }
            #expect(late == ["unknown_key": 1, "keys_unavailable, later 30": 199, "u-42": 400])
            #expect(await scene.outcome(scene.new) == "u-42")
            #expect(scene.fetch.count == 3)
        }
    }

    @Test func `a rotation of keys without ids is followed as well`() async throws {
        let scene = try Scene()
        let (old, new) = (try SampleIssuer.key(.es256, nil), try SampleIssuer.key(.es256, nil))
        try await scene.run(scene.published(old)) { scene in
            #expect(await scene.outcome(old) == "u-42")
            #expect(await scene.outcome(new) == "keys_unavailable, later 30")
            scene.clock.advance(by: .seconds(30))
            let outcomes = try await scene.outcomes([(new, 100)]) {
                _ = await scene.fetch.next()
                scene.fetch.answer(try scene.published(new))
            }
            #expect(outcomes == ["u-42": 100])
            #expect(scene.fetch.count == 2)
        }
    }

    @Test func `a forger who names a key costs one fetch per cool-down, and a key replaced under its id is found`()
        async throws
    {
        let scene = try Scene()
        let (forger, replaced) = (try SampleIssuer.key(.es256, "old"), try SampleIssuer.key(.es256, "old"))
        try await scene.run(scene.published(scene.old)) { scene in
            scene.clock.advance(by: .seconds(100))
            let first = try await scene.outcomes([(forger, 1)]) {
                _ = await scene.fetch.next()
                scene.fetch.answer(try scene.published(scene.old))
            }
            #expect(first == ["bad_signature": 1])
            let early = try await scene.outcomes([(forger, 100), (scene.old, 100)]) {}
            #expect(early == ["keys_unavailable, later 30": 100, "u-42": 100])
            #expect(scene.fetch.count == 2)
            scene.clock.advance(by: .seconds(30))
            let late = try await scene.outcomes([(replaced, 100)]) {
                _ = await scene.fetch.next()
                scene.fetch.answer(try scene.published(replaced))
            }
            #expect(late == ["u-42": 100])
            #expect(scene.fetch.count == 3)
        }
    }

    @Test func `the set is fetched again when its time comes, though nobody asks`() async throws {
        let scene = try Scene()
        try await scene.run(nil) { scene in
            // The first fetch is under way.
            #expect(await scene.pause.next() == .seconds(1))
            let outcomes = try await scene.outcomes([(scene.old, 1)]) {
                scene.fetch.answer(
                    .success(KeySetDocument(bytes: try SampleIssuer.document([scene.old]), maxAge: .seconds(90))))
            }
            #expect(outcomes == ["u-42": 1])
            scene.pause.answer(.success(()))
            #expect(await scene.pause.next() == .seconds(90))
            scene.clock.advance(by: .seconds(90))
            scene.pause.answer(.success(()))
            _ = await scene.fetch.next()
            scene.fetch.answer(try scene.published(scene.old))
        }
    }

    @Test func `a caller that is canceled stops waiting`() async throws {
        try await Scene().run(nil) { scene in
            await withTaskGroup(of: String.self) { group in
                for _ in 0..<10 { group.addImmediateTask { await scene.outcome(scene.old) } }
                group.cancelAll()
                for await outcome in group { #expect(outcome == "keys_unavailable, later 1") }
            }
            #expect(scene.fetch.count == 1)
        }
    }

    @Test func `a caller does not wait before or after the time of fetching`() async throws {
        let scene = try Scene()
        #expect(await scene.outcome(scene.old) == "keys_unavailable, later 1")
        try await scene.run(scene.published(scene.old)) { _ in }
        #expect(await scene.outcome(scene.old) == "u-42")
        #expect(await scene.outcome(scene.new) == "keys_unavailable, later 1")
    }

    @Test func `a caller that waits when the fetching stops is told to come later`() async throws {
        let scene = try Scene()
        let outcome = await withTaskGroup(of: String.self) { group in
            let running = Task { await scene.keys.run() }
            _ = await scene.fetch.next()
            group.addImmediateTask { await scene.outcome(scene.old) }
            running.cancel()
            await running.value
            return await group.next()
        }
        #expect(outcome?.hasPrefix("keys_unavailable, later") == true)
    }

    @Test func `a request for a fetch makes one though the set is fresh, once the cool-down is over`() async throws {
        let scene = try Scene()
        try await scene.run(try scene.published(scene.old)) { scene in
            #expect(await scene.outcome(scene.old) == "u-42")
            scene.clock.advance(by: .seconds(10))
            scene.keys.refresh()
            // The pause of the set's freshness, and that of the cool-down.
            var pauses = [await scene.pause.next(), await scene.pause.next()]
            while !pauses.contains(.seconds(20)) { pauses.append(await scene.pause.next()) }
            #expect(scene.fetch.count == 1)
        }
    }

    @Test func `a file is read at once when that is requested, and a withdrawn key counts no more`() async throws {
        let scene = try Scene()
        try await scene.run(try scene.published(scene.old)) { scene in
            #expect(await scene.outcome(scene.old) == "u-42")
            let thumbprint = try #require(try JWK.thumbprint(of: scene.old.verificationKey))
            scene.keys.refresh(atOnce: true)
            _ = await scene.fetch.next()
            scene.fetch.answer(try scene.published(scene.new))
            while scene.keys.condition.keys != 1 || !scene.keys.isWithdrawn(thumbprint) { await Task.yield() }
            #expect(await scene.outcome(scene.new) == "u-42")
        }
    }

    @Test func `new keys with other rules begin with the document of those before, and its age`() async throws {
        let scene = try Scene()
        try await scene.run(try scene.published(scene.old)) { scene in
            #expect(await scene.outcome(scene.old) == "u-42")
            scene.clock.advance(by: .seconds(300))
            func successor(_ algorithms: Set<Algorithm>) -> FetchedKeys {
                FetchedKeys(
                    algorithms: algorithms, times: KeySetTimes(coolDown: .seconds(5)), after: scene.keys,
                    now: { scene.clock.now }, pause: { _ in throw Down() }, fetch: { throw Down() })
            }
            let next = successor([.es256, .rs256])
            #expect(next.condition.isUsable && next.condition.age == .seconds(300))
            guard case .keys(let candidates) = await next.keys(for: "old") else {
                Issue.record("the key is not there")
                return
            }
            #expect(candidates.keys.count == 1)
            // The document has no key of another algorithm.
            let other = successor([.rs256])
            #expect(!other.condition.isUsable && other.condition.lacksKeys)
            scene.clock.advance(by: .seconds(86_400))
            #expect(next.condition.isUsable)
            scene.clock.advance(by: .seconds(301))
            #expect(!next.condition.isUsable)
        }
    }
}
