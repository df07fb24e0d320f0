import JOSE
import Testing

@testable import Access

extension ReplayMemory {
    fileprivate mutating func use(_ name: Fingerprint, at now: UnixTime) -> Verdict {
        use(name, of: Fingerprint("key"), at: now)
    }
}

@Suite("The memory of proofs")
struct ReplayMemoryTests {
    private func at(_ seconds: Int64) -> UnixTime { SampleIssuer.now.advanced(bySeconds: seconds) }

    @Test(arguments: [0, 1, 50, 99] as [Int64])
    func `a name is known for a window at least`(first: Int64) {
        var memory = ReplayMemory(window: .seconds(100), capacity: 10, quota: .max)
        #expect(memory.use(Fingerprint("start"), at: at(0)) == .new)
        #expect(memory.use(Fingerprint("x"), at: at(first)) == .new)
        // Somebody else's names make the generations turn.
        for second in stride(from: first, through: first + 99, by: 9) {
            #expect(memory.use(Fingerprint("x"), at: at(second)) == .used)
        }
        #expect(memory.use(Fingerprint("x"), at: at(first + 100)) == .used)
    }

    @Test func `names are forgotten after two windows, all of them after a rest`() {
        var memory = ReplayMemory(window: .seconds(100), capacity: 10, quota: .max)
        for name in 0..<5 { _ = memory.use(Fingerprint("\(name)"), at: at(0)) }
        _ = memory.use(Fingerprint("a"), at: at(100))
        #expect(memory.count == 6)
        _ = memory.use(Fingerprint("b"), at: at(200))
        #expect(memory.count == 2)
        _ = memory.use(Fingerprint("c"), at: at(1000))
        #expect(memory.count == 1)
    }

    @Test func `a full memory forgets nothing and accepts nothing until its turn`() {
        var memory = ReplayMemory(window: .seconds(100), capacity: 3, quota: .max)
        for name in 0..<3 { #expect(memory.use(Fingerprint("\(name)"), at: at(0)) == .new) }
        #expect(memory.use(Fingerprint("3"), at: at(40)) == .full(.seconds(60)))
        #expect(memory.use(Fingerprint("0"), at: at(40)) == .used)
        #expect(memory.count == 3)
        #expect(memory.use(Fingerprint("3"), at: at(100)) == .new)
        #expect(memory.use(Fingerprint("0"), at: at(100)) == .used)
    }

    @Test func `a proof that could be used again is not forgotten, however the clock is set`() {
        var memory = ReplayMemory(window: .seconds(100), capacity: 1000, quota: .max)
        _ = memory.use(Fingerprint("a"), at: at(0))
        _ = memory.use(Fingerprint("b"), at: at(100))
        for second in [-3600, -3500, -3400, -3300, -3000, -10, 0, 99, -3600, 5, 99, -50, 99] as [Int64] {
            #expect(memory.use(Fingerprint("a"), at: at(second)) == .used)
            #expect(memory.use(Fingerprint("b"), at: at(second)) == .used)
            _ = memory.use(Fingerprint("at \(second)"), at: at(second))
        }
        #expect(memory.use(Fingerprint("b"), at: at(199)) == .used)
        _ = memory.use(Fingerprint("c"), at: at(300))
        #expect(memory.count <= 3)
    }

    @Test func `a clock that is set back leaves the rest of the memory to use, and no more`() {
        var memory = ReplayMemory(window: .seconds(100), capacity: 1, quota: .max)
        _ = memory.use(Fingerprint("a"), at: at(0))
        #expect(memory.use(Fingerprint("b"), at: at(-3600)) == .full(.seconds(100)))
        #expect(memory.use(Fingerprint("b"), at: at(-3500)) == .new)
        #expect(memory.use(Fingerprint("c"), at: at(-3400)) == .full(.seconds(100)))
        #expect(memory.use(Fingerprint("c"), at: at(60)) == .full(.seconds(40)))
        #expect(memory.use(Fingerprint("c"), at: at(101)) == .new)
    }

    @Test func `a fingerprint of two parts differs from one of their joined text`() {
        #expect(Fingerprint("ab", "c") != Fingerprint("a", "bc"))
        #expect(Fingerprint("ab") != Fingerprint("a", "b"))
        #expect(Fingerprint("a", "b") == Fingerprint("a", "b"))
    }

    @Test func `a key that fills its quota leaves another's quota alone`() {
        var memory = ReplayMemory(window: .seconds(100), capacity: 10, quota: 3)
        let (greedy, modest) = (Fingerprint("greedy"), Fingerprint("modest"))
        for name in 0..<3 { #expect(memory.use(Fingerprint("\(name)"), of: greedy, at: at(0)) == .new) }
        #expect(memory.use(Fingerprint("3"), of: greedy, at: at(40)) == .tooMany(.seconds(60)))
        #expect(memory.use(Fingerprint("3"), of: modest, at: at(40)) == .new)
        #expect(memory.use(Fingerprint("4"), of: greedy, at: at(100)) == .new)
    }
}
