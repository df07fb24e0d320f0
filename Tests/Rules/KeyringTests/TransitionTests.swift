import JOSE
import Keyring
import Testing

/// Tests of the states that a version can enter, and of the effect on the other versions.
@Suite struct TransitionTests {
    private static let time = UnixTime(seconds: 1_763_640_000)

    /// From each state, the states it may go to.
    private static let table: [(KeyVersion.State, Set<KeyVersion.State>)] = [
        (.prepared, [.active, .retired, .revoked]), (.active, [.passive, .revoked]),
        (.passive, [.active, .retired, .revoked]), (.retired, [.revoked]), (.revoked, []),
    ]

    @Test(arguments: table) func `a state has these successors`(
        _ state: KeyVersion.State, _ successors: Set<KeyVersion.State>
    ) { #expect(state.successors == successors) }

    @Test func `the first version is active, the next are prepared`() throws {
        let listing = try Self.listing("a", "b")
        #expect(listing.versions.map(\.state) == [.active, .prepared])
        #expect(listing.active?.activated == Self.time)
    }

    @Test func `a promotion makes one version active and the one before passive`() throws {
        var listing = try Self.listing("a", "b", "c")
        #expect(try listing.promote("c", at: Self.time))
        #expect(listing.versions.map(\.state) == [.passive, .prepared, .active])
        #expect(try !listing.promote("c", at: Self.time), "again is nothing")
        #expect(try listing.promote("a", at: Self.time), "back again")
        #expect(listing.versions.map(\.state) == [.active, .prepared, .passive])
    }

    @Test func `an active version cannot be retired, a retired one not promoted`() throws {
        var listing = try Self.listing("a", "b")
        let refusal = #expect(throws: KeyRingError.self) { try listing.retire("a") }
        #expect(
            refusal?.message
                == "the version \"a\" is active and cannot become retired; promote another version first: remint rotate promote --key-version ID"
        )
        try listing.retire("b")
        let other = #expect(throws: KeyRingError.self) { try listing.promote("b", at: Self.time) }
        #expect(other?.message == "the version \"b\" is retired and cannot become active; generate or import a new one")
        #expect(listing.versions.map(\.state) == [.active, .retired], "nothing half done")
    }

    @Test func `a revoked active version leaves none that signs`() throws {
        var listing = try Self.listing("a", "b")
        try listing.revoke("a")
        #expect(listing.active == nil)
        #expect(try !listing.revoke("a"), "again is nothing")
    }

    @Test func `the id of a version is given once`() {
        let refusal = #expect(throws: KeyRingError.self) { try Self.listing("a", "a") }
        #expect(refusal?.message == "has a version \"a\" already; choose another id")
    }

    @Test func `an unknown id is answered with the known ones`() throws {
        var listing = try Self.listing("a", "b")
        let refusal = #expect(throws: KeyRingError.self) { try listing.revoke("c") }
        #expect(refusal?.message == "has no version \"c\"; it has: a, b")
    }

    private static func listing(_ ids: String...) throws(KeyRingError) -> KeyRingListing {
        var listing = KeyRingListing(file: "keyring.json")
        for id in ids {
            try listing.add(ListedVersion(id: id, algorithm: .es256, file: "\(id).pem", created: time))
        }
        return listing
    }
}
