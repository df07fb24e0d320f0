import Synchronization
import Testing

@testable import VendorLookup

@Suite(.timeLimit(.minutes(5))) struct LookupPermitsTests {
    @Test(arguments: [1, 2]) func `permits go in the order of the places, whichever task comes first`(count: Int) async
    {
        let permits = LookupPermits(count)
        let places = (0..<20).map { _ in permits.place() }
        let line = ServedLine()
        await withDiscardingTaskGroup { group in
            for index in places.indices.reversed() {
                group.addTask {
                    await permits.withPermit(places[index]) { line.served(index) }
                }
            }
        }
        let served = line.order
        #expect(served.sorted() == Array(places.indices))
        if count == 1 { #expect(served == Array(places.indices)) }
    }

    @Test func `a canceled task is passed over, waiting or not there yet`() async {
        let permits = LookupPermits(1)
        let places = (0..<4).map { _ in permits.place() }
        let waiting = Task { await permits.withPermit(places[1]) { true } }
        waiting.cancel()
        #expect(await waiting.value == nil)
        #expect(await permits.withPermit(places[0]) { true } == true)
        // It has its permit by now, and gives it to the next.
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await permits.withPermit(places[2]) { true }
        }
        #expect(await late.value == nil)
        #expect(await permits.withPermit(places[3]) { true } == true)
        #expect(await permits.withPermit(permits.place()) { true } == true)
    }
}

private final class ServedLine: Sendable {
    private let numbers = Mutex<[Int]>([])
    var order: [Int] { numbers.withLock { $0 } }

    func served(_ number: Int) { numbers.withLock { $0.append(number) } }
}
