import AdapterKit
import AsyncTestSupport
import Testing

@testable import Pickup

/// Tests of the gateway's token cache: the newest tokens, within its memory.
@Suite struct TokenCacheTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    private func token(_ version: Int64, lives seconds: Int64 = 600, bytes: Int = 400) -> HeldToken {
        HeldToken(
            text: [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: bytes), version: version,
            expiresAt: Self.now.seconds + seconds)
    }

    private func key(_ number: Int) -> [UInt8] { Array("shop/user-\(number)".utf8) }

    @Test func `the newest token of a subject counts, in whatever order they come`() {
        var cache = TokenCache(capacity: 1 << 20)
        let taken = [2, 1, 2, 3].map { cache.put(token($0), for: [1], at: Self.now) }
        #expect(taken == [true, false, false, true])
        #expect(cache[[1]]?.version == 3)
        #expect(cache[[1]]?.text == token(3).text)
        #expect(cache.count == 1)
    }

    @Test func `a token that was accepted by a wrong clock gives way to the next one`() {
        var cache = TokenCache(capacity: 1 << 20)
        let ahead = Self.now.advanced(bySeconds: 400 * 86_400)
        cache.put(token(ahead.microseconds, lives: 800 * 86_400), for: [1], at: ahead)
        let taken = [0, 1, 0].map {
            cache.put(token(Self.now.microseconds + $0), for: [1], at: Self.now)
        }
        #expect(taken == [true, true, false])
        #expect(cache[[1]]?.version == Self.now.microseconds + 1)
    }

    @Test func `expired tokens are forgotten, and the oldest ones when the memory is full`() {
        var cache = TokenCache(capacity: 100 << 10)
        for number in 0..<500 { cache.put(token(Int64(number + 1)), for: key(number), at: Self.now) }
        #expect(cache.bytes <= 100 << 10)
        #expect(cache[key(499)] != nil && cache[key(0)] == nil)
        #expect(cache.forgotten == Int64(500 - cache.count))
        cache.trim(at: Self.now.advanced(bySeconds: 599))
        #expect(cache.count > 100)
        cache.trim(at: Self.now.advanced(bySeconds: 600))
        #expect(cache.count == 0)
    }

    @Test func `a revoked subject has no token`() {
        var cache = TokenCache(capacity: 1 << 20)
        cache.put(token(1), for: [1], at: Self.now)
        cache.remove([1])
        #expect(cache[[1]] == nil && cache.count == 0)
        #expect(cache.forgotten == 1, "a worker may know it")
    }

    @Test func `a token that expired on its way replaces its predecessor, and is not kept`() {
        var cache = TokenCache(capacity: 1 << 20)
        cache.put(token(1), for: [1], at: Self.now)
        let isNewer = cache.put(token(2, lives: 0), for: [1], at: Self.now)
        #expect(isNewer && cache[[1]] == nil)
        let isTaken = cache.recall(token(1), for: [1], at: Self.now)
        #expect(!isTaken, "an older one is no newer for that")
    }

    @Test func `a token of 370 bytes needs at most 1.4 times its size`() {
        var cache = TokenCache(capacity: 256 << 20)
        for number in 0..<100_000 { cache.put(token(1, bytes: 370), for: key(number), at: Self.now) }
        #expect(Double(cache.bytes) / 100_000 <= 1.4 * 370, "\(cache.bytes / 100_000)")
    }

    // MARK: The past

    @Test func `the past never replaces what is newer, and gives what is not known`() {
        var cache = TokenCache(capacity: 1 << 20)
        cache.put(token(5), for: [1], at: Self.now)
        let taken = [(4, 1), (3, 2), (2, 2)].map { cache.recall(token($0), for: [$1], at: Self.now) }
        #expect(taken == [false, true, false])
        #expect(cache[[1]]?.version == 5 && cache[[2]]?.version == 3)
        let isNewer = cache.put(token(6), for: [2], at: Self.now)
        #expect(isNewer)
    }

    @Test func `a token older than an erasure or an expired token is not recalled`() {
        var cache = TokenCache(capacity: 1 << 20)
        cache.remove([1])
        cache.recallErasure(of: [2])
        cache.recall(token(3, lives: -1), for: [3], at: Self.now)
        cache.put(token(2, lives: 5), for: [4], at: Self.now)
        cache.trim(at: Self.now.advanced(bySeconds: 5))
        for subject in UInt8(1)...4 {
            let isTaken = cache.recall(token(1, lives: 1000), for: [subject], at: Self.now)
            #expect(!isTaken && cache[[subject]] == nil, "\(subject)")
            let isNewer = cache.put(token(9), for: [subject], at: Self.now)
            #expect(isNewer, "a new one counts")
        }
    }

    @Test func `the past makes no room for itself, and ends where something was forgotten`() {
        var cache = TokenCache(capacity: 64 << 10)
        var number = 0
        while cache.recall(token(1000 - Int64(number)), for: key(number), at: Self.now) { number += 1 }
        #expect(!cache.takesPast && number > 50)
        #expect(cache[key(0)] != nil && cache[key(number - 1)] != nil && cache.forgotten == 0)
        // What is published makes room: what the past gave last is the oldest.
        cache.put(token(2000), for: key(-1), at: Self.now)
        #expect(cache[key(number - 1)] == nil && cache[key(0)] != nil)
        cache.openPast()
        let isTaken = cache.recall(token(1), for: key(-2), at: Self.now)
        #expect(!cache.takesPast && !isTaken)
    }

    @Test func `a token of the past counts once nothing newer can be unread`() {
        var cache = TokenCache(capacity: 1 << 20)
        cache.openPast()
        let isTaken = cache.recall(token(5), for: [1], at: Self.now)
        #expect(isTaken && cache[[1]] == nil && cache.outline(of: [1]) == nil && cache.highestVersion(of: [1]) == 5)
        cache.settlePast(from: 6)
        #expect(cache[[1]] == nil)
        cache.settlePast(from: 5)
        #expect(cache[[1]]?.version == 5)
        cache.settlePast(from: 9)
        #expect(cache[[1]]?.version == 5, "what counts goes on")
        cache.recall(token(3), for: [2], at: Self.now)
        let isNewer = cache.put(token(4), for: [2], at: Self.now)
        #expect(isNewer && cache[[2]]?.version == 4, "what is published now counts at once")
    }

    @Test
    func
        `a newer record of another partition removes the older token, even if expired or an erasure`()
    {
        var cache = TokenCache(capacity: 1 << 20)
        cache.recall(token(5), for: [1], at: Self.now)
        cache.recall(token(9, lives: -1), for: [1], at: Self.now)
        cache.recall(token(5), for: [2], at: Self.now)
        cache.recallErasure(of: [2], upTo: 6)
        cache.recall(token(7), for: [3], at: Self.now)
        cache.recallErasure(of: [3], upTo: 6)
        cache.put(token(5), for: [4], at: Self.now)
        cache.recallErasure(of: [4], upTo: 6)
        #expect(cache[[1]] == nil && cache[[2]] == nil)
        #expect(cache[[3]]?.version == 7 && cache[[4]]?.version == 5, "newer than the erasure")
        let isTaken = [UInt8(1), 2].map { cache.recall(token(8), for: [$0], at: Self.now) }
        #expect(isTaken == [false, false], "minted again, rather than doubtful")
    }

    @Test func `tokens of the past that never count make room in a full memory`() {
        var cache = TokenCache(capacity: 64 << 10)
        cache.openPast()
        var number = 0
        while cache.recall(token(1000 - Int64(number)), for: key(number), at: Self.now) { number += 1 }
        #expect(number > 50 && cache.count == number)
        cache.settlePast(from: 1)
        #expect(cache[key(0)] == nil, "some of what was read was not taken")
        cache.put(token(2000), for: key(-1), at: Self.now)
        cache.trim(at: Self.now)
        #expect(cache.count == 1 && cache[key(-1)]?.version == 2000)
    }

    // MARK: Any sequence

    /// A model of the cache: every record of each subject, in order of publication.
    private struct Model {
        var newest: [Int: (version: Int64, end: Int64)] = [:]
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `memory is bounded and the newest token wins after any mints, renewals, ends and erasures`(_ seed: UInt64) {
        var random = Seeded(state: seed &* 0x9E37_79B9_7F4A_7C15 | 1)
        let capacity = 256 << 10
        var cache = TokenCache(capacity: capacity)
        // The past: a log that is read backwards while the present goes on.
        var log: [(subject: Int, version: Int64, end: Int64?)] = []
        var model = Model()
        var (version, second) = (Int64(1), Self.now.seconds)
        func record(_ random: inout Seeded) -> (subject: Int, version: Int64, end: Int64?) {
            version += 1
            let subject = Int.random(in: 0..<600, using: &random)
            let end = second + Int64.random(in: 1...400, using: &random)
            return (subject, version, Int.random(in: 0..<12, using: &random) == 0 ? nil : end)
        }
        for _ in 0..<3000 {
            let next = record(&random)
            log.append(next)
            model.newest[next.subject] = next.end.map { (next.version, $0) }
        }
        let small = seed % 2 == 0
        let steps = Scale.rounds(20_000)
        for step in 0..<steps {
            let now = UnixTime(seconds: second)
            switch Int.random(in: 0..<20, using: &random) {
            case 0: second += Int64.random(in: 0...3, using: &random)
            case 1: cache.trim(at: now)
            case 2..<8:
                guard let old = log.popLast() else { continue }
                let bytes = small ? 20 : Int.random(in: 20...700, using: &random)
                if let end = old.end {
                    let token = HeldToken(
                        text: [UInt8](repeating: 7, count: bytes), version: old.version, expiresAt: end)
                    cache.recall(token, for: key(old.subject), at: now)
                } else {
                    cache.recallErasure(of: key(old.subject))
                }
            default:
                let next = record(&random)
                model.newest[next.subject] = next.end.map { (next.version, $0) }
                // Small ones at first, and large ones when there were many.
                let bytes = small && step < steps / 2 ? 20 : Int.random(in: 20...700, using: &random)
                if let end = next.end {
                    let token = HeldToken(
                        text: [UInt8](repeating: 7, count: bytes), version: next.version, expiresAt: end)
                    cache.put(token, for: key(next.subject), at: now)
                } else {
                    cache.remove(key(next.subject))
                }
            }
            #expect(cache.bytes <= capacity * 6 / 5)
            let subject = Int.random(in: 0..<600, using: &random)
            if let known = cache[key(subject)], known.expiresAt > second {
                #expect(known.version == model.newest[subject]?.version, "step \(step): an older token of \(subject)")
                #expect(known.expiresAt == model.newest[subject]?.end)
            }
        }
    }
}

/// The wheel that ends are taken from.
@Suite struct ExpiryWheelTests {
    @Test func `each number ends in its second, whatever the distance`() {
        var wheel = ExpiryWheel(at: 1_800_000_000)
        let distances: [Int64] = [-5, 0, 1, 2, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 70_000, 99_999]
        for (number, distance) in distances.enumerated() {
            wheel.insert(UInt32(number), endingAt: 1_800_000_000 + distance)
        }
        var ended: [UInt32: Int64] = [:]
        for second in Int64(1)...100_000 {
            for number in wheel.advance(to: 1_800_000_000 + second) { ended[number] = second }
        }
        for (number, distance) in distances.enumerated() { #expect(ended[UInt32(number)] == max(1, distance)) }
    }

    @Test func `a number that was removed or moved does not end`() {
        var wheel = ExpiryWheel(at: 1000)
        for number in UInt32(0)..<3 { wheel.insert(number, endingAt: 1010) }
        wheel.remove(1)
        wheel.remove(2)
        wheel.insert(2, endingAt: 5000)
        let ended = [4999, 10_000_000, 5].map { wheel.advance(to: $0) }
        #expect(ended == [[0], [2], []], "a clock that is set back ends nothing")
    }
}
