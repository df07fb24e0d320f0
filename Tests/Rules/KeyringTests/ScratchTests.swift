import AsyncTestSupport
import Foundation
import JOSE
import Synchronization
import Testing

@testable import Keyring

@Suite("Scratch files")
struct ScratchTests {
    @Test func `scratch names are recognized, and no other name is`() {
        for name in ["keyring.json", "a.pem", "a.b.new", ".remint-x.new", String(repeating: "é", count: 300)] {
            let scratch = ScratchFile.randomName(for: name)
            #expect(ScratchFile.isName(scratch), "\(scratch)")
            #expect(scratch.utf8.count <= 255)
            #expect(scratch != ScratchFile.randomName(for: name))
        }
        for name in [
            "keyring.json.71.new", "rotation.json.1.new", ".remint-a.new", ".remint-a.0123456789abcde.new",
            ".remint-a.0123456789ABCDEF.new", ".remint-.0123456789abcdef.new.new", "a.0123456789abcdef.new",
            ".remint-a-0123456789abcdef.new", ".remint-.0123456789abcdef",
        ] { #expect(!ScratchFile.isName(name), "\(name)") }
    }

    @Test func `a command removes what a dead one left, and nothing of a live one or of anybody else`() throws {
        let ring = try RingFolder()
        let dead = ".remint-a.pem.0123456789abcdef.new", live = ".remint-rotation-x.json.0123456789abcdef.new"
        let others = ["rotation.json.1.new", "notes.new", ".remint-a.new"]
        for name in [dead, live] + others { try ring.write("half", to: name) }
        let writer = open(ring.path(live), O_RDWR | O_CLOEXEC)
        try #require(writer >= 0 && flock(writer, LOCK_EX | LOCK_NB) == 0)
        _ = try KeyRingEditor(ring.directory).listing
        #expect(try ring.names() == ([live] + others).sorted())
        // By name: a child that another test is starting may have the descriptor too.
        flock(writer, LOCK_UN)
        close(writer)
        _ = try KeyRingEditor(ring.directory).listing
        #expect(try ring.names() == others.sorted())
    }

    /// In a container every start of the program has the process id 1.
    @Test func `a file can be written again after a crash by a process with the same id`() throws {
        let ring = try RingFolder()
        for step in 0..<5 {
            let write = DurableWrite(
                path: ring.path("job.json"), mode: 0o600, .replacing, Faults(.crash, from: step, through: 99).disk)
            #expect(throws: KeyRingError.self) { try write.write(SecretBytes(text: "\(step)")) }
            try KeyFile.write(SecretBytes(text: "after \(step)"), to: ring.path("job.json"))
            #expect(try ring.read("job.json") == "after \(step)")
            #expect(try ring.names() == ["job.json"])
        }
    }

    @Test func `writers succeed while other commands clear up`() throws {
        let ring = try RingFolder()
        let failures = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for round in 0..<Scale.rounds(500) {
                do {
                    if thread == 3 {
                        try ScratchFile.removeAbandoned(in: ring.url.path, .real)
                    } else {
                        try KeyFile.write(SecretBytes(text: "\(round)"), to: ring.path("\(thread % 2).json"))
                    }
                } catch { failures.add(1, ordering: .relaxed) }
            }
        }
        #expect(failures.load(ordering: .relaxed) == 0)
        #expect(try ring.names() == ["0.json", "1.json"])
    }
}
