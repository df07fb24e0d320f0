import AdapterKit
import Testing

@testable import Pipeline

@Suite("The memory of recent mints")
struct RecentMintsTests {
    /// Subjects are spread as hashes are.
    private static func id(_ number: Int) -> SubjectID {
        var spread = SeededGenerator(seed: UInt64(number))
        return SubjectID(high: spread.next(), low: spread.next())
    }

    private static func mint(_ number: Int, token: Int) -> RecentMint {
        RecentMint(
            id: id(number), mintedAt: TestBench.now, token: UInt64(token), replaced: (0, 0), expiresAt: 0, keyPrint: 0,
            device: 0, streak: 1, recent: 1, answers: .none)
    }

    @Test(arguments: [1, 2, 3, 5, 7, 64, 65, 100, 333])
    func `the latest subjects are always remembered, and never more than twice as many`(_ capacity: Int) {
        var mints = RecentMints(capacity: capacity)
        for number in 0..<capacity * 5 {
            mints.remember(Self.mint(number, token: number), inBatch: number)
            mints.confirm(throughBatch: number)
            #expect(mints.count <= capacity * 2)
            guard number % (1 + capacity / 7) == 0 else { continue }
            let latest = max(0, number - capacity + 1)...number
            #expect(latest.allSatisfy { mints.last(of: Self.id($0))?.token == UInt64($0) })
        }
        #expect(mints.last(of: Self.id(0)) == nil)
        #expect(mints.bytes <= 160 * capacity + 64 * 160)
    }

    @Test func `a subject that comes again and again pushes nobody out`() {
        var mints = RecentMints(capacity: 3)
        for number in 0..<3 { mints.remember(Self.mint(number, token: number), inBatch: 0) }
        for token in 0..<1000 { mints.remember(Self.mint(1, token: token), inBatch: 0) }
        #expect(mints.count == 3)
        #expect((0..<3).allSatisfy { mints.last(of: Self.id($0)) != nil })
        #expect(mints.last(of: Self.id(1))?.token == 999)
    }

    @Test(arguments: [4, 64, 100, 1000])
    func `a full table does not grow where a subject comes again`(_ capacity: Int) {
        var mints = RecentMints(capacity: capacity)
        for number in 0..<capacity { mints.remember(Self.mint(number, token: 1), inBatch: 0) }
        let bytes = mints.bytes
        for number in 0..<capacity { mints.remember(Self.mint(number, token: 2), inBatch: 0) }
        #expect(mints.bytes == bytes)
        #expect(mints.count == capacity)
    }

    @Test func `a memory without capacity remembers nothing`() {
        for capacity in [0, -1] {
            var mints = RecentMints(capacity: capacity)
            mints.remember(Self.mint(1, token: 1), inBatch: 1)
            mints.rollBack()
            #expect(mints.last(of: Self.id(1)) == nil)
            #expect(mints.bytes == 0)
        }
    }

    @Test func `subjects that fall on one place are kept apart`() {
        var mints = RecentMints(capacity: 50)
        let ids = (1...50).map { SubjectID(high: .max, low: UInt64($0)) }
        for (token, id) in ids.enumerated() {
            var mint = Self.mint(0, token: token)
            mint.id = id
            mints.remember(mint, inBatch: 0)
        }
        #expect(ids.enumerated().allSatisfy { mints.last(of: $1)?.token == UInt64($0) })
        #expect(mints.last(of: SubjectID(high: .max, low: 51)) == nil)
    }

    @Test func `a rollback leaves the memory of mints as it was`() {
        var generator = SeededGenerator(seed: 3)
        var mints = RecentMints(capacity: 1000)
        for number in 0..<60 { mints.remember(Self.mint(number, token: number), inBatch: 1) }
        mints.confirm(throughBatch: 1)
        for batch in 2..<50 {
            let before = (0..<100).map { mints.last(of: Self.id($0)) }
            for token in 0..<40 {
                mints.remember(
                    Self.mint(.random(in: 0..<100, using: &generator), token: 1000 + token), inBatch: batch)
            }
            mints.rollBack()
            #expect((0..<100).map { mints.last(of: Self.id($0)) } == before)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a million subjects fit into 200 megabytes`() {
        let capacity = 1_000_000
        var mints = RecentMints(capacity: capacity)
        for number in 0..<capacity {
            mints.remember(Self.mint(number, token: number), inBatch: number)
            if number % 10_000 == 0 { mints.confirm(throughBatch: number) }
        }
        mints.confirm(throughBatch: capacity)
        let one = mints.bytes
        for number in capacity..<capacity + 2 { mints.remember(Self.mint(number, token: number), inBatch: number) }
        let two = mints.bytes
        #expect(one <= 80 * capacity + 4096, "\(one) bytes for \(capacity) subjects")
        #expect(
            two < 200_000_000, "\(two) bytes with both generations, \(two / capacity) for a subject of the capacity")
        #expect(mints.last(of: Self.id(2))?.token == 2)
        #expect(mints.last(of: Self.id(capacity + 1)) != nil)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [1, 2, 3, 4, 5, 6])
    func `a walk agrees with a dictionary`(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let capacity = [1, 2, 5, 17, 64, 200][seed - 1]
        var mints = RecentMints(capacity: capacity)
        var model = MintsModel(capacity: capacity)
        for step in 1...4000 {
            let number = Int.random(in: 0..<capacity * 3, using: &generator)
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<90:
                mints.remember(Self.mint(number, token: step), inBatch: step)
                model.remember(number, step)
            case 90..<97:
                let batch = step - .random(in: 0...5, using: &generator)
                mints.confirm(throughBatch: batch)
                model.confirm(batch)
            default:
                mints.rollBack()
                model.rollBack()
            }
            // Whatever is remembered is right, and what was touched last is remembered.
            let found = mints.last(of: Self.id(number))?.token
            try #require(found == nil || found == model.tokens[number].map(UInt64.init), "step \(step)")
            guard step % 20 == 0 else { continue }
            for number in model.certain {
                try #require(
                    mints.last(of: Self.id(number))?.token == model.tokens[number].map(UInt64.init),
                    "step \(step), subject \(number)")
            }
        }
    }
}

/// A dictionary with an undo list. What was forgotten before a change need not come back where that is taken back.
private struct MintsModel {
    private(set) var tokens: [Int: Int] = [:]
    private let capacity: Int
    private var undo: [(number: Int, token: Int?, isCertain: Bool, batch: Int)] = []
    private var touched: [Int] = []
    private var doubtful: Set<Int> = []

    init(capacity: Int) { self.capacity = capacity }

    mutating func remember(_ number: Int, _ step: Int) {
        undo.append((number, tokens[number], tokens[number] == nil || certain.contains(number), step))
        doubtful.remove(number)
        tokens[number] = step
        touched.append(number)
    }

    mutating func confirm(_ batch: Int) { undo.removeAll { $0.batch <= batch } }

    mutating func rollBack() {
        for (number, token, isCertain, _) in undo.reversed() {
            if isCertain { doubtful.remove(number) } else { doubtful.insert(number) }
            tokens[number] = token
            touched.append(number)
        }
        undo = []
    }

    /// The subjects that were touched last, as far as they must be remembered.
    var certain: Set<Int> {
        var seen: Set<Int> = []
        for number in touched.reversed() {
            seen.insert(number)
            if seen.count == capacity { break }
        }
        return seen.subtracting(doubtful)
    }
}
