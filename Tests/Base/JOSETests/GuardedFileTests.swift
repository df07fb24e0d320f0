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

    /// The file in its owner's group, and a reader in a group of its own and in 2000.
    var access: FileAccess {
        FileAccess(mode: mode, owner: owner, group: owner, reader: reader, readerGroups: [reader, 2000])
    }

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
        file.access.exposure(of: "/k", content)
    }

    @Test(arguments: Guard.all) func `a file is for its owner, who is root or the one who reads it`(_ file: Guard) {
        #expect((complaint(file, .secret) == nil) == file.secret)
        #expect((complaint(file, .instructions) == nil) == file.instructions)
    }

    /// Modes with and without bits for each class, by owner and reader.
    private static let accesses: [FileAccess] = [UInt32]([0, 1000, 1001]).flatMap { owner in
        [UInt32]([0, 1000]).flatMap { reader in
            [UInt32]([owner, 1000, 2000, 3000]).flatMap { group in
                [UInt32]([0o000, 0o400, 0o440, 0o444, 0o600, 0o640, 0o644, 0o660, 0o666, 0o755, 0o777]).map { mode in
                    FileAccess(mode: mode, owner: owner, group: group, reader: reader, readerGroups: [reader, 2000])
                }
            }
        }
    }

    @Test(arguments: [GuardedFile.Content.secret, .instructions])
    func `the remedy makes a file one that is trusted and that its reader may open`(_ content: GuardedFile.Content) {
        for access in Self.accesses {
            let remedy = access.remedy(content)
            var after = access
            after.owner = remedy.owner ?? after.owner
            after.group = remedy.group ?? after.group
            after.mode = remedy.mode ?? after.mode
            #expect(after.exposure(of: "/k", content) == nil, "\(access): \(remedy)")
            #expect(after.isReadable, "\(access): \(remedy)")
            let isRight = access.isReadable && access.exposure(of: "/k", content) == nil
            let isNothing = remedy.owner == nil && remedy.group == nil && remedy.mode == nil
            if isNothing { #expect(isRight, "\(access): the remedy does nothing") }
        }
    }

    @Test func `a secret of root's that another account reads is handed to that account's group`() {
        let file = FileAccess(mode: 0o644, owner: 0, group: 0, reader: 1000, readerGroups: [1000, 2000])
        #expect(
            file.exposure(of: "/k", .secret)
                == "has mode 644, so others than its owner can use it; run: chgrp 1000 /k && chmod 640 /k (in Kubernetes: fsGroup, and defaultMode: 0440 for the volume)"
        )
        let shared = FileAccess(mode: 0o644, owner: 0, group: 2000, reader: 1000, readerGroups: [1000, 2000])
        #expect(shared.exposure(of: "/k", .secret)?.contains("run: chmod 640 /k (in") == true)
        let foreign = FileAccess(mode: 0o644, owner: 1001, group: 1001, reader: 1000, readerGroups: [1000])
        #expect(foreign.exposure(of: "/k", .secret)?.hasSuffix("run: chown 1000 /k && chmod 600 /k") == true)
    }

    @Test func `a file is read without a byte order mark, and not at all in UTF-16`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "GuardedFile-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for (bytes, text) in [
            ([0xEF, 0xBB, 0xBF, 0x61], "a"), ([0x61, 0xEF, 0xBB, 0xBF], "a\u{FEFF}"), ([0xEF, 0xBB, 0xBF], ""),
            ([0xFF, 0xFE, 0x61, 0], nil), ([0xFE, 0xFF, 0, 0x61], nil),
        ] as [([UInt8], String?)] {
            let isMade = FileManager.default.createFile(
                atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
            try #require(isMade)
            guard let text else {
                let error = #expect(throws: GuardedFileError.self) { try GuardedFile.read(path) }
                #expect(error?.message == "is UTF-16 text; save it as UTF-8")
                continue
            }
            #expect(try GuardedFile.read(path).array == Array(text.utf8))
        }
    }

    @Test func `the complaint about a file names the command that fixes it`() {
        let open = Guard(0o644, owner: 1000, reader: 1000, secret: false, instructions: true)
        #expect(
            complaint(open, .secret) == "has mode 644, so others than its owner can use it; run: chmod 600 /k")
        let foreign = Guard(0o600, owner: 1001, reader: 1000, secret: false, instructions: false)
        #expect(
            complaint(foreign, .secret)
                == "belongs to user 1001, who could change it, and this runs as user 1000; run: chown 1000 /k")
    }

    @Test(arguments: [0o700, 0o755, 0o750, 0o711, 0o500]) func `a folder that only its owner writes is accepted`(
        _ mode: UInt32
    ) {
        #expect(FolderAccess(mode: mode, owner: 7, reader: 7, isReadOnly: false).exposure(of: "k") == nil)
        #expect(FolderAccess(mode: mode, owner: 0, reader: 7, isReadOnly: false).exposure(of: "k") == nil)
        #expect(FolderAccess(mode: mode, owner: 7, reader: 0, isReadOnly: false).exposure(of: "k") == nil)
    }

    @Test(arguments: [0o777, 0o1777, 0o770, 0o2775, 0o702, 0o722] as [UInt32])
    func `a folder that others write is refused, unless it is mounted read-only`(_ mode: UInt32) {
        let message = FolderAccess(mode: mode, owner: 7, reader: 7, isReadOnly: false).exposure(of: "keys/shop")
        #expect(message?.hasPrefix("has mode \(String(mode, radix: 8)), so others") == true)
        #expect(message?.hasSuffix("; run: chmod go-w keys/shop") == true)
        #expect(FolderAccess(mode: mode, owner: 0, reader: 7, isReadOnly: true).exposure(of: "keys/shop") == nil)
    }

    @Test func `a folder of another account is refused`() {
        let message = FolderAccess(mode: 0o700, owner: 8, reader: 7, isReadOnly: false).exposure(of: "k")
        #expect(message?.hasSuffix("; use a folder of user 7, or run: chown 7 k") == true)
    }

    @Test func `in a folder with the sticky bit, only an entry of root's or the reader's own is accepted`() {
        let sticky = FolderAccess(mode: 0o1777, owner: 0, reader: 7, isReadOnly: false)
        #expect(sticky.exposure(of: "/tmp", entry: 7) == nil)
        #expect(sticky.exposure(of: "/tmp", entry: 0) == nil)
        #expect(sticky.exposure(of: "/tmp", entry: 8) != nil)
        let open = FolderAccess(mode: 0o777, owner: 0, reader: 7, isReadOnly: false)
        #expect(open.exposure(of: "/srv", entry: 7) != nil)
    }

    @Test func `every folder on the way to a file counts, that of a link and that of its target`() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "GuardedFile-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        for folder in ["links", "deep/er", "other"] {
            try FileManager.default.createDirectory(
                atPath: "\(root)/\(folder)", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        }
        try Data("a".utf8).write(to: URL(filePath: "\(root)/deep/er/file"))
        try #require(chmod("\(root)/deep/er/file", 0o644) == 0)
        try #require(symlink("../deep/er/file", "\(root)/links/link") == 0)
        let path = "\(root)/other/../links/./link"
        #expect(try GuardedFile.instructions(path) == Array("a".utf8))
        for folder in ["", "/links", "/deep", "/deep/er"].map({ root + $0 }) {
            try #require(chmod(folder, 0o777) == 0)
            let error = #expect(throws: GuardedFileError.self) { try GuardedFile.instructions(path) }
            #expect(error?.message.hasPrefix("is in \(folder), which has mode 777, so others") == true)
            #expect(GuardedFile.exposure(of: path, .instructions) == error?.message)
            try #require(chmod(folder, 0o755) == 0)
        }
        #expect(GuardedFile.exposure(of: path, .instructions) == nil)
        #expect(GuardedFile.exposure(of: "\(root)/none/file", .instructions) == nil)
    }

    @Test func `a pipe, a folder and a missing file are not read`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "GuardedFile-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
        for (name, says) in [("pipe", "is not a file but a pipe"), ("", "is not a file"), ("none", "cannot be opened")]
        {
            let error = #expect(throws: GuardedFileError.self) { try GuardedFile.read("\(folder)/\(name)") }
            #expect(error?.message.hasPrefix(says) == true)
        }
    }
}
