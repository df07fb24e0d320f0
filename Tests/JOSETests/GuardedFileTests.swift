import Foundation
import Testing

@testable import Formats
@testable import JOSE

/// A file's mode and owner, who reads it, and whether it may.
struct Guard: Sendable, CustomTestStringConvertible {
    let mode: UInt32
    let owner: UInt32
    let reader: UInt32
    let secret: Bool
    let instructions: Bool

    init(_ mode: UInt32, owner: UInt32, reader: UInt32, secret: Bool, instructions: Bool) {
        (self.mode, self.owner, self.reader) = (mode, owner, reader)
        (self.secret, self.instructions) = (secret, instructions)
    }

    var testDescription: String { "\(String(mode, radix: 8)) of \(owner), read by \(reader)" }

    static let all = [
        Guard(0o600, owner: 1000, reader: 1000, secret: true, instructions: true),
        Guard(0o400, owner: 1000, reader: 1000, secret: true, instructions: true),
        Guard(0o640, owner: 1000, reader: 1000, secret: false, instructions: true),
        Guard(0o610, owner: 1000, reader: 1000, secret: false, instructions: true),
        Guard(0o604, owner: 1000, reader: 1000, secret: false, instructions: true),
        Guard(0o644, owner: 1000, reader: 1000, secret: false, instructions: true),
        Guard(0o620, owner: 1000, reader: 1000, secret: false, instructions: false),
        Guard(0o602, owner: 1000, reader: 1000, secret: false, instructions: false),
        // Root hands a secret to a group.
        Guard(0o640, owner: 0, reader: 1000, secret: true, instructions: true),
        Guard(0o440, owner: 0, reader: 1000, secret: true, instructions: true),
        Guard(0o660, owner: 0, reader: 1000, secret: false, instructions: false),
        Guard(0o644, owner: 0, reader: 1000, secret: false, instructions: true),
        // Somebody else's, whatever its mode.
        Guard(0o600, owner: 1001, reader: 1000, secret: false, instructions: false),
        Guard(0o444, owner: 1001, reader: 1000, secret: false, instructions: false),
        // Root helps an account with its ring.
        Guard(0o600, owner: 1001, reader: 0, secret: true, instructions: true),
        Guard(0o640, owner: 1001, reader: 0, secret: false, instructions: true),
        Guard(0o600, owner: 0, reader: 0, secret: true, instructions: true),
        Guard(0o640, owner: 0, reader: 0, secret: true, instructions: true),
    ]
}

@Suite("Files that are believed") struct GuardedFileTests {
    private func complaint(_ file: Guard, _ content: GuardedFile.Content) -> String? {
        GuardedFile.exposure(of: "/k", content, mode: file.mode, owner: file.owner, reader: file.reader)
    }

    @Test(arguments: Guard.all) func `a file is for its owner, who is root or the one who reads it`(_ file: Guard) {
        #expect((complaint(file, .secret) == nil) == file.secret)
        #expect((complaint(file, .instructions) == nil) == file.instructions)
    }

    @Test func `what is wrong is said with the remedy`() {
        let open = Guard(0o644, owner: 1000, reader: 1000, secret: false, instructions: true)
        #expect(
            complaint(open, .secret) == "has mode 644, so others than its owner can use it; run: chmod 600 /k")
        let foreign = Guard(0o600, owner: 1001, reader: 1000, secret: false, instructions: false)
        #expect(
            complaint(foreign, .secret)
                == "belongs to user 1001, who could change it, and this runs as user 1000; run: chown 1000 /k")
    }

    @Test func `no pipe, no folder, nothing that is not there`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "GuardedFile-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
        for (name, says) in [("pipe", "is not a file"), ("", "is not a file"), ("none", "cannot be opened")] {
            let error = #expect(throws: GuardedFileError.self) { try GuardedFile.read("\(folder)/\(name)") }
            #expect(error?.message.hasPrefix(says) == true)
        }
    }
}
