import Access
import Testing

@Suite("Places")
struct OpenPlacesTests {
    private func user(_ name: String) -> OpenPlaces.Holder { .init("user", name, most: 2) }

    @Test func `a holder has its places, and all together have theirs`() {
        let places = OpenPlaces(most: 3)
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
        let places = OpenPlaces(most: 2)
        let place = places.take([user("a")])
        let other = places.take([user("a")])
        place?.release()
        place?.release()
        #expect(places.count == 1 && other != nil)
        withExtendedLifetime(place) {}
    }

    @Test func `holders of one name and two kinds are two holders`() {
        let places = OpenPlaces(most: 10)
        let one = places.take([.init("user", "x", most: 1)])
        #expect(one != nil && places.take([.init("address", "x", most: 1)]) != nil)
    }
}
