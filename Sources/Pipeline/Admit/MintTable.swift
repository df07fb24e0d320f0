/// A table of mints by subject, with linear probing. Entries are never removed one by one.
///
/// A byte a place tells the free ones from the taken, and nearly all of the taken from the wanted one. The bytes of a
/// million subjects stay in the processor's cache, their mints do not: whoever is not remembered, as most are whose token
/// has expired, is looked for in the bytes alone.
struct MintTable: Sendable {
    private var places: [RecentMint] = []
    /// What stands at each place: zero for nothing, or the fingerprint of its subject.
    private var fingerprints: [UInt8] = []
    private(set) var count = 0

    init() {}

    var bytes: Int { places.capacity * MemoryLayout<RecentMint>.stride + fingerprints.capacity }

    /// So many places that `capacity` mints fill thirteen sixteenths of them.
    private static func places(for capacity: Int) -> Int { capacity + capacity * 3 / 13 + 1 }

    subscript(id: SubjectID) -> RecentMint? {
        guard !places.isEmpty else { return nil }
        let place = place(of: id)
        return fingerprints[place] == 0 ? nil : places[place]
    }

    mutating func insert(_ mint: RecentMint, limit: Int) {
        if !places.isEmpty {
            let place = place(of: mint.id)
            let isNew = fingerprints[place] == 0
            if !isNew || (count + 1) * 16 <= places.count * 13 {
                count += isNew ? 1 : 0
                put(mint, at: place)
                return
            }
        }
        grow(limit: limit)
        count += 1
        put(mint, at: place(of: mint.id))
    }

    /// Forgets every mint, and makes the table large enough for `capacity`: it need not grow to that again.
    mutating func clear(for capacity: Int) {
        count = 0
        if places.count == Self.places(for: capacity) {
            // What the places hold is out of reach without its fingerprint.
            for index in fingerprints.indices { fingerprints[index] = 0 }
        } else {
            // The old ones go first: beside the other generation's they would be a third table.
            places = []
            makePlaces(Self.places(for: capacity))
        }
    }

    /// Doubles, up to what `limit` mints need.
    private mutating func grow(limit: Int) {
        let mints = places
        let taken = fingerprints
        makePlaces(Self.places(for: max(min(max(64, count * 2), limit), count + 1)))
        for index in mints.indices where taken[index] != 0 { put(mints[index], at: place(of: mints[index].id)) }
    }

    private mutating func makePlaces(_ count: Int) {
        places = Array(repeating: .none, count: count)
        fingerprints = Array(repeating: 0, count: count)
    }

    private mutating func put(_ mint: RecentMint, at place: Int) {
        places[place] = mint
        fingerprints[place] = Self.fingerprint(of: mint.id)
    }

    /// Where `id` stands, or would.
    private func place(of id: SubjectID) -> Int {
        let fingerprint = Self.fingerprint(of: id)
        // The ids are evenly spread already; the product's upper half maps them onto the places (Lemire 2018).
        var index = Int(id.high.multipliedFullWidth(by: UInt64(places.count)).high)
        while fingerprints[index] != 0, fingerprints[index] != fingerprint || places[index].id != id {
            index = index + 1 == places.count ? 0 : index + 1
        }
        return index
    }

    /// Of the half that does not say where the subject stands: neighbours differ in it.
    private static func fingerprint(of id: SubjectID) -> UInt8 { max(1, UInt8(truncatingIfNeeded: id.low)) }
}
