import Access
import AsyncTestSupport
import JOSE
import Testing

extension FetchedKeysTests {
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

    @Test func `a caller that waits when the fetching stops is asked to come later`() async throws {
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
            try await eventually("the new key, and the withdrawal of the old one") {
                scene.keys.condition.keys == 1 && scene.keys.isWithdrawn(thumbprint)
            }
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
                    algorithms: algorithms, times: changed(KeySetTimes()) { $0.coolDown = .seconds(5) },
                    after: scene.keys,
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
