import Access
import JOSE
import Testing

@Suite("Keys that are fetched", .timeLimit(.minutes(5)))
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

    @Test func `every caller is asked to come later while there are no keys, and none is refused`() async throws {
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

    /// Cut tokens come all day, and nothing that the issuer publishes would make one valid.
    @Test(arguments: [1, 32, 58, 63, 65, 128])
    func `a signature of a length that no key makes asks the issuer for nothing`(length: Int) async throws {
        let scene = try Scene()
        try await scene.run(scene.published(scene.old)) { scene in
            let token = try SampleIssuer.session(scene.old)
            let input = token[...(token.lastIndex(of: UInt8(ascii: ".")) ?? 0)]
            let odd = input + Base64.url.encode([UInt8](repeating: 1, count: length)).utf8
            await expectRefusal(.badSignature) {
                try await scene.verifier.verify(Array(odd), now: SampleIssuer.now)
            }
            // One of the right length may be by a key that replaced the known one, so its set is due first.
            let even = input + Base64.url.encode([UInt8](repeating: 1, count: 64)).utf8
            await expectRefusal(.keysUnavailable) {
                try await scene.verifier.verify(Array(even), now: SampleIssuer.now)
            }
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
}
