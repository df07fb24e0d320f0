import JOSE
import Testing

@testable import Access

@Suite("The fetching of a key set")
struct KeySetCacheTests {
    private let start = ContinuousClock.now
    private let old: KeySet
    private let new: KeySet

    init() throws {
        let a = try SampleIssuer.key(.es256, "a").verificationKey
        old = try KeySet([a])
        new = try KeySet([a, try SampleIssuer.key(.es256, "b").verificationKey])
    }

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    /// A cache whose set was fetched at the start.
    private func filled(_ times: KeySetTimes = KeySetTimes(), maxAge: Duration? = nil) -> KeySetCache {
        var cache = KeySetCache(times)
        let isDue = cache.beginIfDue(at: start)
        #expect(isDue)
        cache.fetched(old, maxAge: maxAge, at: start)
        return cache
    }

    @Test func `an empty cache fetches once, however many ask`() {
        var cache = KeySetCache(KeySetTimes())
        #expect(cache.lookUp("a", after: nil, at: at(0)).kind == "fetch 1, certain from 1")
        for second in 0..<9 { #expect(cache.lookUp("a", after: nil, at: at(second)).kind == "wait 1, certain from 2") }
        #expect(cache.lookUp("a", after: nil, at: at(10)).kind == "later 1")
    }

    @Test func `a key that is there is answered at once`() {
        var cache = filled()
        #expect(cache.lookUp("a", after: nil, at: at(1)).kind == "keys a of 1, named")
        #expect(cache.lookUp(nil, after: nil, at: at(1)).kind == "keys a of 1")
    }

    @Test func `an unknown id in the cool-down gets the time at which the cool-down is over`() {
        var cache = filled()
        #expect(cache.lookUp("z", after: nil, at: at(5)).kind == "later 25")
        #expect(cache.lookUp("z", after: nil, at: at(29)).kind == "later 1")
    }

    @Test func `one asker's fetch after the cool-down settles an unknown id`() {
        var cache = filled()
        #expect(cache.lookUp("z", after: nil, at: at(30)).kind == "fetch 2, certain from 2")
        cache.fetched(old, maxAge: nil, at: at(31))
        let answer = cache.settle(.init(fetch: 2, firstCertain: 2), "z", after: nil, at: at(31))
        #expect(answer.kind == "unknown")
    }

    @Test func `a caller that came during a fetch is not refused by that fetch`() {
        var cache = filled()
        _ = cache.lookUp("z", after: nil, at: at(30))
        #expect(cache.lookUp("b", after: nil, at: at(30)).kind == "wait 2, certain from 3")
        cache.fetched(old, maxAge: nil, at: at(32))
        let ticket = KeySetCache.Ticket(fetch: 2, firstCertain: 3)
        #expect(cache.settle(ticket, "b", after: nil, at: at(32)).kind == "later 28")
        // Once its turn comes, the key is there.
        #expect(cache.lookUp("b", after: nil, at: at(60)).kind == "fetch 3, certain from 3")
        cache.fetched(new, maxAge: nil, at: at(61))
        #expect(cache.settle(ticket, "b", after: nil, at: at(61)).kind == "keys b of 3, named")
    }

    @Test func `a caller that came during a fetch is refused by the next fetch`() {
        var cache = filled()
        _ = cache.lookUp("z", after: nil, at: at(30))
        cache.fetched(old, maxAge: nil, at: at(31))
        _ = cache.lookUp("z", after: nil, at: at(60))
        cache.fetched(old, maxAge: nil, at: at(61))
        #expect(cache.settle(.init(fetch: 2, firstCertain: 3), "y", after: nil, at: at(61)).kind == "unknown")
    }

    @Test func `a set that was requested after a token was issued settles the token's key without a fetch`() {
        var cache = filled()
        // Five seconds after the fetch: a token of six seconds is older than the set, one of four is newer.
        #expect(cache.lookUp("z", after: nil, age: .seconds(6), at: at(5)).kind == "unknown")
        #expect(cache.lookUp("a", after: 1, age: .seconds(6), at: at(5)).kind == "unknown", "a forged signature")
        for age in [nil, .seconds(-30), .seconds(4)] as [Duration?] {
            #expect(cache.lookUp("z", after: nil, age: age, at: at(5)).kind == "later 25")
        }
        // Failures of later fetches change nothing.
        _ = cache.lookUp("y", after: nil, at: at(30))
        cache.failed(at: at(31))
        #expect(cache.lookUp("z", after: nil, age: .seconds(40), at: at(32)).kind == "unknown")
        #expect(cache.lookUp("z", after: nil, age: .seconds(20), at: at(32)).kind == "later 28")
    }

    @Test func `a caller that waited for a fetch is refused where its token is older than the fetch`() {
        var cache = KeySetCache(KeySetTimes())
        #expect(cache.lookUp("a", after: nil, age: .seconds(99), at: at(0)).kind == "fetch 1, certain from 1")
        let waiting = KeySetCache.Ticket(fetch: 1, firstCertain: 2)
        cache.fetched(old, maxAge: nil, at: at(2))
        #expect(cache.settle(waiting, "z", after: nil, age: .seconds(99), at: at(2)).kind == "unknown")
        #expect(cache.settle(waiting, "z", after: nil, age: .seconds(1), at: at(2)).kind == "later 28")
        // Without a set nobody is refused.
        cache.withdrew(at: at(40))
        #expect(cache.settle(waiting, "z", after: nil, age: .seconds(99), at: at(41)).kind.hasPrefix("later"))
    }

    @Test func `any number of made-up ids cost one fetch per cool-down`() {
        var cache = filled()
        var fetches = 0
        for second in 0..<600 {
            for id in 0..<20 {
                guard case .fetch = cache.lookUp("\(second)-\(id)", after: nil, at: at(second)) else { continue }
                fetches += 1
                cache.fetched(old, maxAge: nil, at: at(second))
            }
        }
        #expect(fetches == 19)
    }

    @Test func `an id that no key can have is no reason to fetch`() {
        var cache = filled()
        let long = String(repeating: "z", count: 1025)
        #expect(cache.lookUp(long, after: nil, at: at(100)).kind == "unknown")
    }

    @Test func `a set that is not fresh any more serves while the next one comes`() {
        var cache = filled()
        #expect(cache.lookUp("a", after: nil, at: at(599)).kind == "keys a of 1, named")
        #expect(cache.lookUp("a", after: nil, at: at(600)).kind == "keys a of 1, named, refresh")
        #expect(cache.lookUp("a", after: nil, at: at(600)).kind == "keys a of 1, named")
        cache.fetched(new, maxAge: nil, at: at(601))
        #expect(cache.lookUp("a", after: nil, at: at(602)).kind == "keys a of 2, named")
    }

    @Test(arguments: [(nil, 600), (0, 60), (5, 60), (3600, 3600), (1 << 31, 86_400)] as [(Int?, Int)])
    func `a set is fresh for as long as its headers state, within bounds`(maxAge: Int?, seconds: Int) {
        var cache = filled(maxAge: maxAge.map { .seconds($0) })
        #expect(cache.nextDue(at: start) == .seconds(seconds))
        let early = cache.beginIfDue(at: at(seconds - 1)), due = cache.beginIfDue(at: at(seconds))
        #expect(!early && due)
    }

    @Test func `a failure keeps the set for a day, and no longer`() {
        var cache = filled()
        var now = 600
        while now < 600 + 86_400 {
            let answer = cache.lookUp("a", after: nil, at: at(now)).kind
            #expect(answer.hasPrefix("keys a of 1, named"))
            if answer.hasSuffix("refresh") { cache.failed(at: at(now)) }
            #expect(cache.isStale(at: at(now)))
            now += 60
        }
        #expect(cache.lookUp("a", after: nil, at: at(now)).kind != "keys a of 1, named")
        #expect(cache.set == nil)
    }

    @Test func `an issuer without a usable key is asked again soon, and nobody is refused meanwhile`() {
        var cache = filled(maxAge: .seconds(86_400))
        _ = cache.lookUp("z", after: nil, at: at(30))
        cache.withdrew(at: at(30))
        #expect(cache.lacksKeys && cache.set == nil && !cache.isUsable(at: at(30)))
        let answer = cache.settle(.init(fetch: 2, firstCertain: 2), "a", after: nil, at: at(30))
        #expect(answer.kind == "later 1")
        var (now, pauses) = (30, [Int]())
        for _ in 0..<8 {
            let pause = Int(cache.nextDue(at: at(now)).components.seconds)
            #expect(cache.lookUp("a", after: nil, at: at(now)).kind == "later \(pause)")
            pauses.append(pause)
            now += pause
            let isDue = cache.beginIfDue(at: at(now))
            #expect(isDue)
            cache.withdrew(at: at(now))
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60])
        #expect(cache.failures == 0)
        // A failure on top changes nothing, not even after a day.
        cache.failed(at: at(now))
        #expect(cache.lacksKeys && cache.isWithdrawn("any"))
        let isDue = cache.beginIfDue(at: at(now + 100_000))
        #expect(isDue && cache.lacksKeys)
        cache.fetched(new, maxAge: nil, at: at(now + 100_000))
        #expect(!cache.lacksKeys && cache.lookUp("a", after: nil, at: at(now + 100_000)).kind.hasPrefix("keys a of"))
    }

    @Test func `pauses after failures double up to a minute`() {
        var cache = KeySetCache(KeySetTimes())
        var (now, pauses) = (0, [Int]())
        for _ in 0..<9 {
            let isDue = cache.beginIfDue(at: at(now))
            #expect(isDue)
            cache.failed(at: at(now))
            let pause = Int(cache.nextDue(at: at(now)).components.seconds)
            #expect(cache.lookUp("a", after: nil, at: at(now)).kind == "later \(pause)")
            pauses.append(pause)
            now += pause
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60])
    }

    @Test func `failures do not shorten the cool-down while there is a set`() {
        var cache = filled()
        #expect(cache.lookUp("z", after: nil, at: at(30)).kind == "fetch 2, certain from 2")
        cache.failed(at: at(31))
        #expect(cache.lookUp("z", after: nil, at: at(32)).kind == "later 28")
    }

    @Test func `a fetch that failed is no reason to refuse`() {
        var cache = filled()
        _ = cache.lookUp("z", after: nil, at: at(30))
        cache.failed(at: at(31))
        #expect(cache.settle(.init(fetch: 2, firstCertain: 2), "z", after: nil, at: at(31)).kind == "later 29")
    }

    @Test func `keys that did not sign are not offered again, but those of a later set are`() {
        var cache = filled()
        #expect(cache.lookUp(nil, after: 1, at: at(5)).kind == "later 25")
        #expect(cache.lookUp(nil, after: 1, at: at(30)).kind == "fetch 2, certain from 2")
        cache.fetched(new, maxAge: nil, at: at(30))
        #expect(cache.lookUp(nil, after: 1, at: at(31)).kind == "keys a b of 2")
    }
}

extension KeySetCache.Action {
    /// The kind of the action, in words.
    var kind: String {
        switch self {
        case .keys(let candidates, let isRefreshDue): candidates.kind + (isRefreshDue ? ", refresh" : "")
        case .fetch(let ticket): "fetch \(ticket.fetch), certain from \(ticket.firstCertain)"
        case .wait(let ticket): "wait \(ticket.fetch), certain from \(ticket.firstCertain)"
        case .unknown: "unknown"
        case .later(let wait): "later \(wait.components.seconds)"
        }
    }
}

extension KeyAnswer {
    /// The kind of the answer, in words.
    var kind: String {
        switch self {
        case .keys(let candidates): candidates.kind
        case .unknown: "unknown"
        case .later(let wait): "later \(wait.components.seconds)"
        }
    }
}

extension KeyCandidates {
    fileprivate var kind: String {
        let ids = keys.map { $0.keyID ?? "?" }.joined(separator: " ")
        return "keys \(ids) of \(generation)" + (areNamed ? ", named" : "")
    }
}
