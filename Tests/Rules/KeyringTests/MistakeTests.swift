import Foundation
import JOSE
import Keyring
import Testing

#if canImport(Glibc)
    import Glibc
#endif

@Suite struct MistakeTests {
    private static let time = UnixTime(seconds: 1_800_000_000)

    @Test func `a ring is never overwritten by a new one`() throws {
        let ring = try RingFolder()
        let key = try SigningKey.generate(.es256)
        try ring.directory.create(key, id: "a", secretEncoding: nil, at: Self.time)
        let error = #expect(throws: KeyRingError.self) {
            try ring.directory.create(SigningKey.generate(.es256), id: "a", secretEncoding: nil, at: Self.time)
        }
        #expect(error?.file == ring.path("keyring.json"))
        #expect(try key.isPair(of: ring.load().active?.verificationKey))
    }

    @Test(arguments: [[0xFF, 0xFE], Array(" padded ".utf8), Array("line\n".utf8), Array("\u{FEFF}marked".utf8)])
    func `a secret that would be read back as another is not written`(_ bytes: [UInt8]) throws {
        let ring = try RingFolder()
        let key = try SigningKey(secret: SecretBytes(copying: bytes), algorithm: .hs256)
        let error = #expect(throws: KeyRingError.self) {
            try ring.directory.create(key, id: "a", secretEncoding: .utf8, at: Self.time)
        }
        #expect(error?.message.contains("hex") == true)
        #expect(try ring.names() == [])
    }

    @Test(arguments: [Algorithm.es256, .hs256, .eddsa])
    func `a key is imported into a ring under one id alone`(_ algorithm: Algorithm) throws {
        let ring = try RingFolder()
        let key = try SigningKey.generate(algorithm), other = try SigningKey.generate(algorithm)
        try ring.directory.create(key, id: "a", secretEncoding: .hex, at: Self.time)
        var editor = try KeyRingEditor(ring.directory)
        try editor.add(other, id: "b", at: Self.time)
        let before = try ring.names()
        for (again, holder) in [(key, "\"a\", which is active"), (other, "\"b\", which is prepared")] {
            let error = #expect(throws: KeyRingError.self) { try editor.add(again, id: "c", at: Self.time) }
            #expect(error?.message.contains(holder) == true, "\(String(describing: error))")
        }
        try editor.change { listing throws(KeyRingError) in try listing.revoke("b") }
        let error = #expect(throws: KeyRingError.self) { try editor.add(other, id: "c", at: Self.time) }
        #expect(error?.message.contains("which is revoked; generate or import another key") == true)
        #expect(try ring.names() == before)
    }

    @Test func `a ring on disk with one key twice loads, and both versions are seen to have it`() throws {
        let ring = try RingFolder()
        try ring.write("c2VjcmV0", to: "x")
        try ring.write("secret\n", to: "y")
        try ring.list(
            #"{"id": "a", "file": "x", "state": "active", "algorithm": "HS256", "encoding": "base64"}"#,
            #"{"id": "b", "file": "y", "state": "revoked", "algorithm": "HS256", "encoding": "utf8"}"#)
        #expect(try ring.load().active?.id == "a")
        let stored = try ring.directory.storedKeys()
        try #require(stored.map(\.version.id) == ["a", "b"])
        #expect(stored[0].key.hasSameMaterial(as: stored[1].key))
    }

    @Test func `a key that others can read signs nothing, and is still known as the one it is`() throws {
        let ring = try RingFolder()
        let key = try SigningKey.generate(.es256)
        try ring.directory.create(key, id: "a", secretEncoding: nil, at: Self.time)
        try ring.setMode(0o644, of: "a.pem")
        #expect(throws: KeyRingError.self) { try ring.load() }
        #expect(try ring.directory.storedKeys().first?.key.hasSameMaterial(as: key.verificationKey) == true)
        var editor = try KeyRingEditor(ring.directory)
        #expect(throws: KeyRingError.self) { try editor.add(key, id: "b", at: Self.time) }
    }

    @Test func `a listing behind a link is not changed, and neither is the link`() throws {
        let ring = try RingFolder(), elsewhere = try RingFolder()
        try ring.directory.create(SigningKey.generate(.hs256), id: "a", secretEncoding: .hex, at: Self.time)
        for name in ["keyring.json", "rotation.json"] {
            if name == "rotation.json" { try ring.write("{}", to: name) }
            try FileManager.default.moveItem(atPath: ring.path(name), toPath: elsewhere.path(name))
            try FileManager.default.createSymbolicLink(
                atPath: ring.path(name), withDestinationPath: elsewhere.path(name))
            let before = try elsewhere.read(name)
            #expect(try ring.load().active?.id == "a", "it is read as it is: so a secret's volume has it")
            let error = #expect(throws: KeyRingError.self) { _ = try KeyRingEditor(ring.directory).listing }
            #expect(error?.message.contains("cp --remove-destination -p") == true, "\(error?.message ?? "")")
            #expect(try elsewhere.read(name) == before)
            #expect(throws: KeyRingError.self) {
                try DurableWrite(path: ring.path(name), mode: 0o600).write(SecretBytes(text: "x"))
            }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: ring.path(name)) == elsewhere.path(name))
            try FileManager.default.removeItem(atPath: ring.path(name))
            try FileManager.default.moveItem(atPath: elsewhere.path(name), toPath: ring.path(name))
        }
        try FileManager.default.removeItem(atPath: ring.path("rotation.json"))
        _ = try KeyRingEditor(ring.directory).listing
    }

    /// Ids, and what the refusal repeats of each.
    private static let oddIDs = [
        ("", "\"\" cannot be a version's id: it is empty"), ("a b", "\"a b\" cannot be a version's id: it holds \" \""),
        ("*", "\"*\" cannot be a version's id: it holds \"*\""),
        ("<b>", "\"<b>\" cannot be a version's id: it holds \"<\""),
        ("é", "\"é\" cannot be a version's id: it holds \"é\""), ("a:b", "it holds \":\""), ("%2e", "it holds \"%\""),
        ("-x", "\"-x\" cannot be a version's id: it begins with a hyphen"), ("--", "it begins with a hyphen"),
        (".", "\".\" cannot be a version's id: it begins with a dot"), ("..", "it begins with a dot"),
        (".a", "it begins with a dot"), ("../a", "it begins with a dot"), ("a/b", "it holds \"/\""),
        ("/a", "it holds \"/\""),
        ("a\\b", "\"a\\\\b\" cannot"), ("a\nb", "\"a\\nb\" cannot"), ("a\u{1B}[2J", "\"a\\u{1b}[2J\" cannot"),
        ("a\u{202E}b", "\"a\\u{202e}b\" cannot"), ("k\"1", "\"k\\\"1\" cannot"), ("1 ", "it holds \" \""),
        ("keyring", "it is the name of the ring's own files"),
        (String(repeating: "a", count: 129), "it has 129 characters"),
        (String(repeating: "a", count: 300), "\"\(String(repeating: "a", count: 40))…\" cannot"),
        (String(repeating: "é", count: 300), "it holds \"é\""),
    ]

    @Test(arguments: oddIDs)
    func `an id that is no plain name is refused with the id and the remedy, and makes no file`(
        _ id: String, _ part: String
    ) throws {
        let ring = try RingFolder()
        let error = try #require(
            #expect(throws: KeyRingError.self) {
                try ring.directory.create(SigningKey.generate(.hs256), id: id, secretEncoding: .hex, at: Self.time)
            })
        #expect(error.message.contains(part), "\(error.message)")
        #expect(error.message.contains("give another with --id, such as 2026-11"))
        #expect(!error.message.contains { $0.isNewline } && error.message.utf8.count < 500)
        #expect(try ring.names() == [])
    }

    @Test(arguments: ["2026-11", "a", "_", "A.b-c_9", "1", "rotation", String(repeating: "a", count: 128)])
    func `plain ids are accepted`(_ id: String) throws {
        let ring = try RingFolder()
        try ring.directory.create(SigningKey.generate(.hs256), id: id, secretEncoding: .hex, at: Self.time)
        #expect(try ring.load().active?.id == id)
        #expect(try ring.directory.readListing().oddIDs == [])
    }

    @Test func `a ring on disk with odd ids loads, changes its states, and is reported`() throws {
        let ring = try RingFolder()
        try ring.write("secret-a", to: "x")
        try ring.write("secret-b", to: "y")
        try ring.list(
            #"{"id": "a b", "file": "x", "state": "active", "algorithm": "HS256", "encoding": "utf8"}"#,
            #"{"id": "é", "file": "y", "state": "prepared", "algorithm": "HS256", "encoding": "utf8"}"#)
        var editor = try KeyRingEditor(ring.directory)
        try editor.change { listing throws(KeyRingError) in try listing.promote("é", at: Self.time) }
        try editor.add(SigningKey.generate(.hs256), id: "c", at: Self.time)
        #expect(try ring.load().active?.id == "é")
        #expect(try ring.directory.readListing().oddIDs == ["a b", "é"])
    }

    @Test func `an empty kid is refused before it makes the ring unreadable`() throws {
        let ring = try RingFolder()
        try ring.directory.create(SigningKey.generate(.hs256), id: "a", secretEncoding: .hex, at: Self.time)
        var editor = try KeyRingEditor(ring.directory)
        let error = #expect(throws: KeyRingError.self) {
            try editor.add(SigningKey.generate(.hs256), id: "b", keyID: "", at: Self.time)
        }
        #expect(error?.message.contains("--kid") == true)
        #expect(try ring.load().versions.map(\.id) == ["a"])
    }

    @Test func `a key in place of its file's name is not printed`() throws {
        let ring = try RingFolder()
        let pem = SamplePEM.p256.split(whereSeparator: \.isNewline).joined(separator: "\\n")
        for member in [#""file": "\#(pem)""#, #""file": "k", "passphrase_file": "\#(pem)""#] {
            try ring.write(SamplePEM.p256, to: "k")
            try ring.list(#"{"id": "a", "state": "active", "algorithm": "ES256", \#(member)}"#)
            let error = try ring.refusal()
            #expect(!"\(error)".contains("MHcCAQEE"))
            #expect(error.message.contains("mode 600"))
        }
    }
}
