import AsyncTestSupport
import Testing
import WorkerTestSupport

@testable import Signing

@Suite struct ConnectionTableTests {
    private func table(total: Int = 4, perUser: Int = 2) -> ConnectionTable {
        ConnectionTable(allowing: [1, 2, 3], limits: .init(total: total, perUser: perUser))
    }

    private func seconds(_ count: Int) -> Duration { .seconds(count) }

    @Test func `an account that is not allowed has no place`() {
        var table = table()
        #expect(table.admit(0, at: .zero) == .refused(.accountNotAllowed))
        #expect(table.admit(4, at: .zero) == .refused(.accountNotAllowed))
        #expect(table.count == 0)
    }

    @Test func `a user's next connection takes the place of the one that was silent for longest`() {
        var table = table()
        #expect(table.admit(1, at: seconds(0)) == .admitted(1, insteadOf: nil))
        #expect(table.admit(1, at: seconds(1)) == .admitted(2, insteadOf: nil))
        #expect(table.admit(2, at: seconds(2)) == .admitted(3, insteadOf: nil))
        // The first one has asked, so that the second, which never did, goes.
        table.asked(1, at: seconds(3))
        table.answered(1, at: seconds(3))
        #expect(table.admit(1, at: seconds(4)) == .admitted(4, insteadOf: 2))
        table.asked(4, at: seconds(5))
        table.answered(4, at: seconds(5))
        #expect(table.admit(1, at: seconds(6)) == .admitted(5, insteadOf: 1))
        #expect(table.count == 3)
    }

    @Test func `a connection with work under way keeps its place`() {
        var table = table()
        for number in 1...2 {
            #expect(table.admit(1, at: .zero) == .admitted(number, insteadOf: nil))
            table.asked(number, at: .zero)
        }
        #expect(table.admit(1, at: seconds(1)) == .refused(.full))
        #expect(table.admit(2, at: seconds(1)) == .admitted(3, insteadOf: nil))
        table.answered(2, at: seconds(2))
        #expect(table.admit(1, at: seconds(3)) == .admitted(4, insteadOf: 2))
    }

    @Test func `the account with the most connections gives way when all places are taken`() {
        var table = table(total: 3)
        #expect(table.admit(2, at: seconds(0)) == .admitted(1, insteadOf: nil))
        #expect(table.admit(1, at: seconds(1)) == .admitted(2, insteadOf: nil))
        #expect(table.admit(1, at: seconds(2)) == .admitted(3, insteadOf: nil))
        #expect(table.admit(3, at: seconds(3)) == .admitted(4, insteadOf: 2))
        for number in [1, 3, 4] { table.asked(number, at: seconds(4)) }
        #expect(table.admit(3, at: seconds(5)) == .refused(.full))
        table.left(1)
        #expect(table.admit(3, at: seconds(6)) == .admitted(5, insteadOf: nil))
    }

    @Test func `a connection has thirty seconds to its first question, five minutes to the next, and all for work`() {
        var table = ConnectionTable(allowing: [1], limits: .init())
        for _ in 1...3 { _ = table.admit(1, at: .zero) }
        table.asked(1, at: seconds(1))
        table.answered(1, at: seconds(2))
        table.asked(2, at: seconds(1))
        #expect(table.takeOverdue(at: seconds(29)) == [])
        #expect(table.takeOverdue(at: seconds(30)) == [3])
        table.delivered(1, at: seconds(10))
        #expect(table.takeOverdue(at: seconds(309)) == [])
        #expect(table.takeOverdue(at: seconds(310)) == [1])
        #expect(table.takeOverdue(at: seconds(100_000)) == [])
        table.answered(2, at: seconds(100_000))
        #expect(table.takeOverdue(at: seconds(100_299)) == [])
        // An answer that the peer does not take does not keep it.
        #expect(table.takeOverdue(at: seconds(100_300)) == [2])
        #expect(table.count == 0)
    }
}

@Suite(.timeLimit(.minutes(5))) struct TurnQueueTests {
    private func popAll(_ queue: inout TurnQueue<String>) -> [String] {
        var all: [String] = []
        while let next = queue.pop() { all.append(next) }
        return all
    }

    @Test func `users take turns, and so do the connections of each`() {
        var queue = TurnQueue<String>()
        for number in 1...4 { queue.push("a\(number)", of: .init(user: 1, connection: 1)) }
        queue.push("b1", of: .init(user: 1, connection: 2))
        queue.push("c1", of: .init(user: 2, connection: 3))
        queue.push("c2", of: .init(user: 2, connection: 3))
        #expect(queue.count == 7)
        #expect(popAll(&queue) == ["a1", "c1", "b1", "c2", "a2", "a3", "a4"])
        #expect(queue.count == 0)
        queue.push("again", of: .init(user: 1, connection: 1))
        #expect(popAll(&queue) == ["again"])
    }

    @Test func `a small piece of work does not wait for a long row of another's`() async throws {
        let turns = SigningTurns(1)
        let (gate, open) = AsyncStream<Void>.makeStream()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (done, note) = AsyncStream<String>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The first keeps the only place until all others wait.
            group.addTask {
                await turns.take(.init(user: 3, connection: 3)) {
                    begin.finish()
                    for await _ in gate {}
                }
            }
            for await _ in begun {}
            for (number, user) in [1, 1, 1, 1, 2].enumerated() {
                group.addTask {
                    await turns.take(.init(user: UInt32(user), connection: user)) { _ = note.yield("user \(user)") }
                }
                try await eventually("number \(number)") { turns.waiting == number + 1 }
            }
            open.finish()
            try await group.waitForAll()
        }
        note.finish()
        var order: [String] = []
        for await name in done { order.append(name) }
        #expect(order == ["user 1", "user 2", "user 1", "user 1", "user 1"])
    }
}
