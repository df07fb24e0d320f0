import Access
import Synchronization
import Testing

@Suite("Places")
struct PlacesTests {
    private func user(_ name: String) -> Places.Holder { .init("user", name, most: 2) }

    @Test func `a holder has its places, and all together have theirs`() {
        let places = Places(most: 3)
        var taken = [places.take([user("a")]), places.take([user("a")])]
        #expect(taken.allSatisfy { $0 != nil } && places.take([user("a")]) == nil)
        // Of several holders one that is full is enough, and the other keeps its places.
        #expect(places.take([user("b"), user("a")]) == nil)
        taken.append(places.take([user("b")]))
        #expect(places.take([user("c")]) == nil && places.count == 3)
        taken.removeFirst()
        #expect(places.count == 2)
        taken.append(places.take([user("b"), user("a")]))
        #expect(taken.allSatisfy { $0 != nil } && places.count == 3)
        taken.removeAll()
        #expect(places.count == 0 && places.take([user("a")]) != nil)
    }

    @Test func `a place that is released twice is free once`() {
        let places = Places(most: 2)
        let place = places.take([user("a")])
        let other = places.take([user("a")])
        place?.release()
        place?.release()
        #expect(places.count == 1 && other != nil)
        withExtendedLifetime(place) {}
    }

    @Test func `holders of one name and two kinds are two holders`() {
        let places = Places(most: 10)
        let one = places.take([.init("user", "x", most: 1)])
        #expect(one != nil && places.take([.init("address", "x", most: 1)]) != nil)
    }

    /// Names the places that gave way.
    private final class Ended: Sendable {
        private let all = Mutex<[String]>([])
        var names: [String] { all.withLock { $0 } }

        func note(_ name: String) { all.withLock { $0.append(name) } }
    }

    private let ended = Ended()

    private func take(_ name: String, from places: Places, as title: String? = nil, isKnown: Bool = false) -> Place? {
        let place = places.take([.init("user", name)])
        place?.giveWay(isKnown: isKnown) { [ended] in ended.note(title ?? name) }
        return place
    }

    @Test func `the oldest place of the holder with most gives way, and strangers' before known callers'`() {
        let places = Places(most: 5)
        let taken = [
            take("known", from: places, isKnown: true), take("few", from: places),
            take("many", from: places, as: "many 1"), take("many", from: places, as: "many 2"),
        ]
        let held = places.take([.init("user", "held")])
        #expect(take("a", from: places) != nil && ended.names == ["many 1"])
        taken[3]?.keep()
        #expect(places.yielding == 2)
        withExtendedLifetime((taken, held)) {}
    }

    @Test func `a stranger that has just come does not give way before a known caller`() {
        let places = Places(most: 8)
        let known = (0..<8).map { take("known \($0)", from: places, isKnown: true) }
        let fresh = take("fresh", from: places)
        let next = take("next", from: places)
        #expect(ended.names == ["known 0", "known 1"])
        withExtendedLifetime((known, fresh, next)) {}
    }

    @Test func `shared places go from a holder with more to one with fewer, and never between equals`() {
        let places = Places(most: 6, isShared: true)
        var greedy = (0..<6).map { take("greedy", from: places, as: "greedy \($0)") }
        #expect(take("greedy", from: places) == nil)
        let others = [take("b", from: places), take("c", from: places), take("b", from: places)]
        #expect(others.allSatisfy { $0 != nil } && ended.names == ["greedy 0", "greedy 1", "greedy 2"])
        // With three and two places, nobody has more than the one who asks would have.
        #expect(take("b", from: places) == nil && places.count == 6)
        // The place of one that gave way is not freed a second time.
        greedy.removeFirst()
        #expect(places.count == 6 && take("d", from: places) != nil)
        withExtendedLifetime((greedy, others)) {}
    }

    @Test func `one holder of nearly all places leaves one to every other holder, however many there are`() {
        let places = Places(most: 1000, isShared: true)
        var all = (0..<1000).map { _ in take("greedy", from: places) }
        for number in 0..<900 {
            let place = take("user \(number)", from: places)
            #expect(place != nil)
            all.append(place)
        }
        #expect(ended.names == Array(repeating: "greedy", count: 900))
        withExtendedLifetime(all) {}
    }
}
