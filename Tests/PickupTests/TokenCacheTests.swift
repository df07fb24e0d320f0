import AdapterKit
import Testing

@testable import Pickup

/// What a gateway knows of tokens: the newest, within its memory.
@Suite struct TokenCacheTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    private func token(_ version: Int64, lives seconds: Int64 = 600, bytes: Int = 400) -> HeldToken {
        HeldToken(
            value: [UInt8](repeating: 0, count: bytes), version: version, expiresAt: Self.now.seconds + seconds,
            eventID: "e")
    }

    @Test func `the newest token of a subject counts, in whatever order they come`() {
        var cache = TokenCache(capacity: 1 << 20)
        let taken = [2, 1, 2, 3].map { cache.put(token($0), for: [1], at: Self.now) }
        #expect(taken == [true, false, false, true])
        #expect(cache[[1]]?.version == 3)
        #expect(cache.count == 1)
    }

    @Test func `what ended is forgotten, and what is too much, the oldest first`() {
        var cache = TokenCache(capacity: 3000)
        for number in 0..<20 { cache.put(token(Int64(number)), for: [UInt8(number)], at: Self.now) }
        #expect(cache.bytes <= 3000)
        #expect(cache[[19]] != nil)
        #expect(cache[[0]] == nil)
        cache.trim(at: Self.now.advanced(bySeconds: 601))
        #expect(cache.count == 0)
        #expect(cache.bytes == 0)
    }

    @Test func `a revoked subject has no token`() {
        var cache = TokenCache(capacity: 1 << 20)
        cache.put(token(1), for: [1], at: Self.now)
        cache.remove([1])
        #expect(cache[[1]] == nil && cache.bytes == 0)
    }

    @Test func `the account of its memory is right after any changes`() {
        var cache = TokenCache(capacity: 5000)
        var random = SystemRandomNumberGenerator()
        for step in 0..<5000 {
            let key = [UInt8.random(in: 0..<30, using: &random)]
            if step % 7 == 0 {
                cache.remove(key)
            } else {
                cache.put(
                    token(
                        Int64(step), lives: .random(in: 1...50, using: &random),
                        bytes: .random(in: 10...300, using: &random)),
                    for: key, at: Self.now.advanced(bySeconds: Int64(step / 100)))
            }
            #expect(cache.bytes >= 0 && cache.bytes <= 5000)
        }
        for key in UInt8(0)..<30 { cache.remove([key]) }
        #expect(cache.bytes == 0 && cache.count == 0)
    }
}
