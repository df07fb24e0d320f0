import Foundation
import JOSE
import Synchronization
import Testing

@testable import Keyring

/// A crash before any step of any write leaves the old ring or the new one.
@Suite struct CrashTests {
    private static let time = UnixTime(seconds: 1_763_640_000)

    /// Ends the writing at the `step`th step.
    private final class Crash: Sendable {
        private let left: Mutex<Int>
        init(before step: Int) { left = Mutex(step) }
        var wasReached: Bool { left.withLock { $0 < 0 } }
        var disk: Disk {
            Disk { _ in
                self.left.withLock { left in
                    left -= 1
                    return left >= 0 ? .real : .crash
                }
            }
        }
    }

    /// A change by an operator, and the ring's versions after it.
    private struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let after: [String: KeyVersion.State]
        let make: @Sendable (inout KeyRingEditor) throws -> Void
    }

    private static let before: [String: KeyVersion.State] = ["a": .active, "b": .prepared]
    private static let changes: [Change] = [
        Change(testDescription: "a new key", after: ["a": .active, "b": .prepared, "c": .prepared]) { editor in
            try editor.add(SigningKey.generate(.es256), id: "c", at: time)
        },
        Change(testDescription: "a promotion", after: ["a": .passive, "b": .active]) { editor in
            try editor.change { listing throws(KeyRingError) in try listing.promote("b", at: time) }
        },
        Change(testDescription: "a revocation with a successor", after: ["a": .revoked, "b": .active]) { editor in
            try editor.change { listing throws(KeyRingError) in
                try listing.promote("b", at: time)
                return try listing.revoke("a")
            }
        },
    ]

    @Test(arguments: changes) private func `a crash at any step leaves the old ring or the new one`(_ change: Change)
        throws
    {
        var outcomes: Set<[String: KeyVersion.State]> = []
        for step in 0... {
            let ring = try Self.ring()
            let crash = Crash(before: step)
            do {
                var editor = try KeyRingEditor(ring.directory, crash.disk, now: { Self.time })
                try change.make(&editor)
            } catch is KeyRingError {}
            let states = try Self.states(ring)
            #expect(states == Self.before || states == change.after, "before step \(step): \(states)")
            outcomes.insert(states)
            // Whoever comes next clears up and can do what was not done.
            do {
                var editor = try KeyRingEditor(ring.directory)
                if states == Self.before { try change.make(&editor) }
            }
            #expect(try Self.states(ring) == change.after)
            #expect(try ring.names().allSatisfy { !ScratchFile.isName($0) })
            guard crash.wasReached else {
                #expect(step > 8, "there were steps to crash at")
                break
            }
        }
        #expect(outcomes == [Self.before, change.after], "some crash came too early, some too late")
    }

    /// A crash between the writing of a key and of the listing leaves such a file.
    @Test func `a key that no version names is kept, and a new version gets another file`() throws {
        let ring = try Self.ring()
        try ring.write("half a key", to: "c.pem")
        do {
            var editor = try KeyRingEditor(ring.directory)
            try editor.add(SigningKey.generate(.es256), id: "c", at: Self.time)
        }
        #expect(try ring.load().versions.map(\.id) == ["a", "b", "c"])
        #expect(try ring.read("c.pem") == "half a key")
        #expect(try ring.directory.readListing().version("c").file == "c.2.pem")
    }

    @Test func `the second operator is refused while the first is at it`() throws {
        let ring = try Self.ring()
        var first = try KeyRingEditor(ring.directory)
        let refusal = #expect(throws: KeyRingError.self) { _ = try KeyRingEditor(ring.directory) }
        let words = "another operator is changing this key ring: \(AuditLog.account), process \(getpid()) on "
        #expect(refusal?.message.hasPrefix(words) == true, "\(refusal?.message ?? "")")
        #expect(refusal?.message.hasSuffix("; try again when that is done") == true)
        #expect(refusal?.message.contains(", since 20") == true)
        try first.change { listing throws(KeyRingError) in try listing.promote("b", at: Self.time) }
        _ = consume first
        _ = try KeyRingEditor(ring.directory)
        #expect(try Self.states(ring) == ["a": .passive, "b": .active])
    }

    @Test func `a listing keeps its readers`() throws {
        let ring = try Self.ring()
        try ring.setMode(0o644, of: "keyring.json")
        var editor = try KeyRingEditor(ring.directory)
        try editor.change { listing throws(KeyRingError) in try listing.promote("b", at: Self.time) }
        #expect(try ring.mode(of: "keyring.json") == 0o644)
        #expect(try ring.mode(of: "b.pem") == 0o600)
    }

    private static func ring() throws -> RingFolder {
        let ring = try RingFolder()
        var editor = try KeyRingEditor(ring.directory)
        for id in ["a", "b"] { try editor.add(SigningKey.generate(.es256), id: id, at: time) }
        return ring
    }

    /// The ring as a worker reads it, keys and all.
    private static func states(_ ring: RingFolder) throws -> [String: KeyVersion.State] {
        Dictionary(uniqueKeysWithValues: try ring.load().versions.map { ($0.id, $0.state) })
    }
}
