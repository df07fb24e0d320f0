import JOSE
import Keyring
import Operations
import Testing

/// A campaign judges by its ring's states.
@Suite struct RotationRingTests {
    private static let time = UnixTime(seconds: 1_763_640_000)

    /// A ring of the versions a and b, and c where it is named.
    private static func ring(_ states: [(String, KeyVersion.State)]) throws -> KeyRingListing {
        var listing = KeyRingListing(file: "keyring.json")
        let first = ListedVersion(id: "zero", algorithm: .rs256, file: "zero.pem", created: time)
        try listing.add(first)
        for (id, state) in states {
            try listing.add(ListedVersion(id: id, algorithm: .rs256, file: "\(id).pem", created: time))
            switch state {
            case .prepared: break
            case .active: try listing.promote(id, at: time)
            case .passive:
                try listing.promote(id, at: time)
                try listing.promote("zero", at: time)
            case .retired: try listing.retire(id)
            case .revoked: try listing.revoke(id)
            }
        }
        return listing
    }

    private static func rotation(
        _ phase: Rotation.Phase, kind: Rotation.Kind = .rotation
    ) throws -> Rotation {
        var rotation = Rotation(id: "c-1", kind: kind, from: "a", to: "b", at: time)
        if phase != .prepared { try rotation.promoted() }
        if [.canary, .waves, .reissued].contains(phase) { try rotation.reissuing(isCautious: phase == .canary) }
        if phase == .reissued { rotation.reissued() }
        return rotation
    }

    /// The states of a and b, the phase of the file, and the phase that follows; nil with the command that settles it.
    private static let table: [(KeyVersion.State, KeyVersion.State?, Rotation.Phase, Rotation.Phase?, String)] = [
        (.active, nil, .prepared, .prepared, ""),
        (.active, .prepared, .prepared, .prepared, ""),
        (.active, .passive, .prepared, .prepared, ""),
        (.passive, .active, .prepared, .promoted, ""),
        (.passive, .active, .promoted, .promoted, ""),
        (.passive, .active, .waves, .waves, ""),
        (.retired, .active, .waves, .waves, ""),
        (.active, .passive, .promoted, nil, "remint rotate promote --now"),
        (.active, .passive, .canary, nil, "remint rotate promote --now"),
        (.active, .passive, .waves, nil, "remint rotate abort"),
        (.active, .prepared, .reissued, nil, "remint rotate abort"),
        (.passive, .passive, .waves, nil, "zero signs"),
        (.revoked, .active, .waves, nil, "remint rotate revoke --key-version a"),
        (.active, .retired, .prepared, nil, "remint rotate abort"),
        (.passive, .revoked, .waves, nil, "remint rotate abort"),
    ]

    @Test(arguments: table.indices) func `the ring's states decide the phase`(_ row: Int) throws {
        let (old, new, phase, expected, words) = Self.table[row]
        // Whichever is active is promoted last.
        var states = [("a", old)] + (new.map { [("b", $0)] } ?? [])
        if old == .active { states.reverse() }
        let listing = try Self.ring(states)
        do {
            let derived = try Self.rotation(phase).derived(from: listing)
            #expect(derived.phase == expected)
        } catch let error as RotationError {
            #expect(expected == nil, "\(error)")
            #expect(error.description.contains(words), "\(error)")
            #expect(error.description.contains("c-1"), "the campaign is named")
        }
    }

    @Test func `a revocation wants its old version revoked and its successor active`() throws {
        let rotation = try Self.rotation(.waves, kind: .revocation)
        #expect(try rotation.derived(from: Self.ring([("a", .revoked), ("b", .active)])) == rotation)
        for states in [[("a", .passive), ("b", .active)], [("a", .revoked), ("b", .passive)]]
            as [[(String, KeyVersion.State)]]
        {
            let refusal = #expect(throws: RotationError.self) { try rotation.derived(from: Self.ring(states)) }
            #expect(refusal?.description.contains("remint rotate revoke --key-version a") == true)
        }
    }

    /// A change outside of the campaign, the version, and the command that is named; nil where it is allowed.
    private static let changes: [(Rotation.RingChange, String, String?)] = [
        (.promote, "b", "remint rotate promote"), (.promote, "a", "remint rotate abort"),
        (.promote, "c", "remint rotate abort"), (.retire, "a", "remint rotate retire"),
        (.retire, "b", "remint rotate abort"), (.retire, "c", nil),
    ]

    @Test(arguments: changes.indices) func `a change beside an open campaign is refused`(_ row: Int) throws {
        let (change, version, command) = Self.changes[row]
        for phase in [Rotation.Phase.prepared, .promoted, .canary, .waves, .reissued] {
            do {
                try Self.rotation(phase).requireNoPart(of: [version], in: change)
                #expect(command == nil)
            } catch let error as RotationError {
                #expect(command.map { error.description.hasSuffix("use: \($0)") } == true, "\(error)")
            }
        }
        var over = try Self.rotation(.promoted)
        try over.abort()
        try over.requireNoPart(of: [version], in: change)
    }

    // MARK: Whom a revocation is about

    @Test func `a revocation takes over only from a campaign of the version, or where the version signs`() throws {
        let ring = try Self.ring([("c", .passive), ("b", .prepared), ("a", .active)])
        let open = try Self.rotation(.prepared)
        for version in ["zero", "c"] {
            let plan = try RevocationPlan(version, promoting: nil, in: ring, open: open)
            #expect(plan.beside == open && plan.open == nil && plan.successor == "a")
        }
        for version in ["a", "b"] {
            let plan = try RevocationPlan(version, promoting: nil, in: ring, open: open)
            #expect(plan.open == open && plan.beside == nil)
        }
        let refusal = #expect(throws: RotationError.self) {
            try RevocationPlan("c", promoting: "zero", in: ring, open: open)
        }
        #expect(refusal?.description.contains("remint rotate abort") == true)
        // A hand made another version sign: the campaign disagrees already, and the compromised one must stop.
        let third = try Self.ring([("a", .passive), ("b", .prepared), ("c", .active)])
        let plan = try RevocationPlan("c", promoting: "a", in: third, open: open)
        #expect(plan.open == open && plan.beside == nil && plan.successor == "a")
    }

    @Test func `a revocation's successor is the version that signs, or the campaign's other one`() throws {
        let prepared = try Self.ring([("b", .prepared), ("a", .active)])
        func plan(
            _ version: String?, _ listing: KeyRingListing, _ open: Rotation? = nil, promote: String? = nil
        ) throws -> [String?] {
            let plan = try RevocationPlan(version, promoting: promote, in: listing, open: open)
            return [plan.leaked, plan.successor]
        }
        let open = try Self.rotation(.prepared)
        #expect(try plan(nil, prepared, open) == ["a", "b"])
        #expect(try plan(nil, prepared) == ["a", "b"], "the only prepared version comes before passive ones")
        #expect(try plan(nil, prepared, promote: "b") == ["a", "b"])
        #expect(try plan("b", prepared, open) == ["b", "a"])
        #expect(try plan("zero", prepared, open) == ["zero", "a"], "what signs goes on")
        #expect(try plan("zero", prepared, open, promote: "a") == ["zero", "a"])
        let promoted = try Self.ring([("a", .passive), ("b", .active)])
        #expect(try plan(nil, promoted, try Self.rotation(.waves)) == ["a", "b"])
        #expect(try plan("b", promoted, try Self.rotation(.waves)) == ["b", "a"])
        let revoked = try Self.ring([("a", .revoked), ("b", .active)])
        #expect(try plan("b", revoked, try Self.rotation(.waves, kind: .revocation)) == ["b", "zero"])
    }

    @Test func `the operator names one of several versions that could sign, and the remedy lists the commands`() throws
    {
        let two = try Self.ring([("c", .prepared), ("b", .prepared), ("a", .active)])
        let plan = try RevocationPlan("a", promoting: nil, in: two, open: nil)
        #expect(plan.successor == nil && plan.candidates.map(\.id) == ["zero", "c", "b"])
        for id in ["zero (passive)", "b (prepared)", "c (prepared)"] {
            #expect(plan.remedy.contains("remint rotate revoke --key-version a --promote \(id)"), "\(plan.remedy)")
        }
        let usable = try RevocationPlan("a", promoting: nil, in: two, open: nil) { version, leaked in
            leaked == "a" && version.id == "zero"
        }
        #expect(usable.successor == "zero")
        let none = try RevocationPlan("a", promoting: nil, in: two, open: nil) { _, _ in false }
        #expect(none.successor == nil)
        #expect(none.remedy.hasSuffix("then: remint rotate revoke --key-version a --promote ID"))
    }
}
