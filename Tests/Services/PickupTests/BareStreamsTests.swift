import AdapterKit
import Pipeline
import Synchronization
import Testing

@testable import Pickup

/// The asks for connected devices without a live token.
@Suite struct BareStreamsTests {
    private static let start = UnixTime(seconds: 1_800_000_000)

    private var random = Seeded(state: 0x9E37_79B9_7F4A_7C15)
    private var bare = BareStreams()

    private static func key(_ number: Int) -> [UInt8] { Array("shop/user-\(number)".utf8) }

    @Test mutating func `a device is asked for within seconds, and again until it has a token`() {
        var times: [Int64] = []
        for second: Int64 in 0..<200 {
            let due = bare.due(
                [Self.key(0)], at: Self.start.advanced(bySeconds: second), isHeld: false, rate: 500, using: &random)
            if !due.isEmpty { times.append(second) }
        }
        #expect((2...5).contains(times.first ?? 0), "its stream asks first by itself")
        for (before, after) in zip(times, times.dropFirst()) { #expect((5...61).contains(after - before)) }
        #expect(times.count >= 4)
    }

    @Test mutating func `nothing is asked for while nothing can be, and all within seconds once it can`() {
        let keys = (0..<100).map(Self.key)
        for second: Int64 in 0..<600 {
            let now = Self.start.advanced(bySeconds: second)
            #expect(bare.due(keys, at: now, isHeld: true, rate: 500, using: &random).isEmpty)
        }
        var asked: Set<[UInt8]> = []
        for second: Int64 in 600...605 {
            let now = Self.start.advanced(bySeconds: second)
            asked.formUnion(bare.due(keys, at: now, isHeld: false, rate: 500, using: &random))
        }
        #expect(asked.count == 100)
    }

    @Test mutating func `the devices of an outage are spread over the time that their budget needs`() {
        let keys = (0..<5000).map(Self.key)
        var most = 0
        var asked: Set<[UInt8]> = []
        for second: Int64 in 0..<60 {
            let waiting = keys.filter { !asked.contains($0) }
            let due = bare.due(
                waiting, at: Self.start.advanced(bySeconds: second), isHeld: false, rate: 100, using: &random)
            most = max(most, due.count)
            asked.formUnion(due)
        }
        #expect(asked.count == 5000)
        #expect(most < 200, "\(most) asks in one second")
    }

    @Test mutating func `a refused device waits as long as its answer asked, and half a minute at least is enough`() {
        let key = Self.key(0)
        for (told, longest): (Int, Int64) in [(4, 8), (1000, 60)] {
            bare = BareStreams()
            var second: Int64 = 0
            func now() -> UnixTime { Self.start.advanced(bySeconds: second) }
            while bare.due([key], at: now(), isHeld: false, rate: 10, using: &random).isEmpty { second += 1 }
            let first = second
            bare.refused(key, for: told, at: now(), using: &random)
            second += 1
            while bare.due([key], at: now(), isHeld: false, rate: 10, using: &random).isEmpty { second += 1 }
            #expect((min(Int64(told), 30)...longest + 1).contains(second - first))
        }
    }

    @Test func `a connected device without a token, or whose token has expired, is one without a live token`() {
        let clock = Mutex(Self.start)
        let store = TokenStore(capacity: 1 << 20) { clock.withLock { $0 } }
        let (ann, ben) = (Array("shop/ann".utf8), Array("shop/ben".utf8))
        let (number, _) = store.listen(to: ann, of: Subject(user: "ann"))
        _ = store.listen(to: ben, of: Subject(user: "ben"))
        #expect(Set(store.bare.map(\.key)) == [ann, ben])
        store.published(
            HeldToken(text: [1], version: Self.start.microseconds, expiresAt: Self.start.seconds + 60), for: ann)
        #expect(store.bare.map(\.key) == [ben])
        clock.withLock { $0 = Self.start.advanced(bySeconds: 61) }
        #expect(Set(store.bare.map(\.key)) == [ann, ben], "it expired, as it does while no broker answers")
        store.trim()
        #expect(Set(store.bare.map(\.key)) == [ann, ben])
        store.hush(number, ann)
        #expect(store.bare.map(\.key) == [ben])
    }
}
