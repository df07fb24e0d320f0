/// A hash table of mints by subject, with linear probing. It does not remove single entries.
///
/// One byte per place distinguishes free places from used ones, and almost all wrong entries from the wanted one. The
/// bytes of a million subjects fit into the processor's cache; their mints do not. A look-up of a subject that is not
/// remembered, as most subjects with an expired token are, reads only the bytes.
struct MintTable: Sendable {
    private var places: [RecentMint] = []
    /// The fingerprint of the subject at each place; zero for a free place.
    private var fingerprints: [UInt8] = []
    private(set) var count = 0

    init() {}

    var bytes: Int { places.capacity * MemoryLayout<RecentMint>.stride + fingerprints.capacity }

    /// Returns the number of places of which `capacity` mints fill 13/16.
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

    /// Removes all mints, and makes the table large enough for `capacity` mints.
    mutating func clear(for capacity: Int) {
        count = 0
        if places.count == Self.places(for: capacity) {
            // Without their fingerprints, the entries are unreachable.
            for index in fingerprints.indices { fingerprints[index] = 0 }
        } else {
            // Free the old places first: with the other generation's, they would be a third table.
            places = []
            makePlaces(Self.places(for: capacity))
        }
    }

    /// Doubles the table, up to the size for `limit` mints.
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

    /// Returns the place of `id`, or the free place for it.
    private func place(of id: SubjectID) -> Int {
        let fingerprint = Self.fingerprint(of: id)
        // The ids are evenly spread already. The product's upper half maps them to the places (Lemire 2018).
        var index = Int(id.high.multipliedFullWidth(by: UInt64(places.count)).high)
        while fingerprints[index] != 0, fingerprints[index] != fingerprint || places[index].id != id {
            index = index + 1 == places.count ? 0 : index + 1
        }
        return index
    }

    /// Returns a byte of the half that does not determine the place, so that neighbors differ.
    private static func fingerprint(of id: SubjectID) -> UInt8 { max(1, UInt8(truncatingIfNeeded: id.low)) }
}
