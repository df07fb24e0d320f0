import JOSE
import Testing

@testable import Keyring

/// An old `keyring.json` brings no version back in silence.
@Suite struct RevivedVersionTests {
    private static let time = UnixTime(seconds: 1_763_640_000)

    /// A ring of a, which signs, b and c.
    private static func ring() throws -> RingFolder {
        let ring = try RingFolder()
        for id in ["a", "b", "c"] {
            var editor = try KeyRingEditor(ring.directory)
            try editor.add(SigningKey.generate(.hs256), id: id, at: time)
        }
        return ring
    }

    private static func change(
        _ ring: RingFolder, _ transition: (inout KeyRingListing) throws(KeyRingError) -> Bool
    ) throws {
        var editor = try KeyRingEditor(ring.directory)
        try editor.change(transition)
    }

    private static func revived(_ ring: RingFolder) throws -> [String] {
        let listing = try ring.directory.readListing()
        return ring.directory.revivedVersions(in: listing).map(\.description)
    }

    @Test(arguments: ["revoke", "rotate revoke"])
    func `a revoked version of a restored listing is found and cannot sign`(action: String) throws {
        let ring = try Self.ring()
        let old = try ring.read("keyring.json")
        try Self.change(ring) { listing throws(KeyRingError) in try listing.revoke("b") }
        let audit = AuditLog(ring.directory)
        try audit.append(action, version: "b", detail: "campaign x: promoted a", at: Self.time)
        #expect(try Self.revived(ring) == [])
        try ring.write(old, to: "keyring.json")
        #expect(
            try Self.revived(ring) == [
                "b was revoked, and keyring.json has it prepared again; an older file was restored. Run: remint rotate revoke --key-version b"
            ])
        let error = #expect(throws: KeyRingError.self) {
            try Self.change(ring) { listing throws(KeyRingError) in try listing.promote("b", at: Self.time) }
        }
        #expect(error?.message.contains("remint rotate revoke --key-version b") == true)
        try Self.change(ring) { listing throws(KeyRingError) in try listing.promote("c", at: Self.time) }
        try Self.change(ring) { listing throws(KeyRingError) in try listing.revoke("b") }
        #expect(try Self.revived(ring) == [])
    }

    @Test func `a version that signs again is retired with a successor`() throws {
        let ring = try Self.ring()
        let old = try ring.read("keyring.json")
        try AuditLog(ring.directory).append("retire", version: "a", at: Self.time)
        let steps = "remint rotate promote --key-version ID, then remint rotate retire --key-version a"
        #expect(try Self.revived(ring).first?.hasSuffix(steps) == true)
        try AuditLog(ring.directory).append("revoke", version: "a", at: Self.time)
        #expect(try Self.revived(ring).first?.hasSuffix("revoke --key-version a --promote ID") == true)
        #expect(try ring.read("keyring.json") == old)
        try Self.change(ring) { listing throws(KeyRingError) in try listing.promote("b", at: Self.time) }
    }

    @Test func `the lines of intents, failures, successors and new keys end no version`() throws {
        let ring = try Self.ring()
        let audit = AuditLog(ring.directory)
        try audit.intend("revoke", version: "a", at: Self.time)
        audit.note(failed: "revoke", version: "a", at: Self.time)
        try audit.append("rotate revoke", version: "b", detail: "campaign x: from a, kind revocation", at: Self.time)
        try audit.append("retire", version: "c", at: Self.time)
        try audit.append("generate", version: "c", at: Self.time)
        #expect(try Self.revived(ring) == [])
    }

    @Test(arguments: [Rotation.Kind.rotation, .revocation])
    func `a finished campaign whose old version is in use again reports it`(kind: Rotation.Kind) throws {
        let ring = try Self.ring()
        var rotation = Rotation(id: "x", kind: kind, from: "a", to: "b", at: Self.time)
        try rotation.promoted()
        try rotation.retired()
        try RotationFile(ring.directory).save(rotation)
        let listing = try ring.directory.readListing()
        let ended: KeyVersion.State = kind == .revocation ? .revoked : .retired
        #expect(
            ring.directory.revivedVersions(in: listing) == [RevivedVersion(id: "a", state: .active, ended: ended)])
        let error = #expect(throws: RotationError.self) { try rotation.derived(from: listing) }
        #expect(error?.description.contains("a was \(ended.rawValue)") == true)
    }
}
