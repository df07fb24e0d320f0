import Foundation
import JOSE
import Keyring
import Testing

#if canImport(Glibc)
    import Glibc
#endif

@Suite struct MistakeTests {
    private static let time = UnixTime(seconds: 1_800_000_000)

    @Test func `never writes over a ring`() throws {
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
    func `writes no secret that would be read back as another`(_ bytes: [UInt8]) throws {
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

    @Test func `a ring on disk with one key twice loads, and names the two versions`() throws {
        let ring = try RingFolder()
        try ring.write("c2VjcmV0", to: "x")
        try ring.write("secret\n", to: "y")
        try ring.list(
            #"{"id": "a", "file": "x", "state": "active", "algorithm": "HS256", "encoding": "base64"}"#,
            #"{"id": "b", "file": "y", "state": "revoked", "algorithm": "HS256", "encoding": "utf8"}"#)
        #expect(try ring.load().active?.id == "a")
        let found = try ring.directory.repeatedKeys()
        #expect(found.map { [$0.version.id, $0.earlier.id] } == [["b", "a"]])
    }

    @Test(arguments: ["", "../a", "a/b", "/a"]) func `makes no file outside its folder`(_ id: String) throws {
        let ring = try RingFolder()
        #expect(throws: KeyRingError.self) {
            try ring.directory.create(SigningKey.generate(.hs256), id: id, secretEncoding: .hex, at: Self.time)
        }
        #expect(try ring.names() == [])
    }

    @Test func `says at which line a listing stops being JSON`() throws {
        let ring = try RingFolder()
        for (text, place) in [
            ("{\n  \"versions\": [}", "2:16"), ("{", "1:2"), ("{\"a\":1,\n\"a\":2}", "2:2"), (" ", ""),
        ] {
            try ring.write(text, to: "keyring.json")
            #expect(try ring.refusal().place == place, "\(text)")
        }
    }

    @Test func `refuses members that mean nothing`() throws {
        let ring = try RingFolder()
        try ring.write(#"{"version": 1, "versions": []}"#, to: "keyring.json")
        #expect(try ring.refusal().message.contains("\"version\""))
        try ring.write("s", to: "s")
        try ring.list(
            #"{"id": "a", "kid": "", "state": "active", "algorithm": "HS256", "file": "s", "encoding": "utf8"}"#)
        #expect(try ring.refusal().message.contains("\"kid\""))
    }

    @Test func `does not print a key that stands where its file's name belongs`() throws {
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

    @Test(.timeLimit(.minutes(10))) func `does not wait at a named pipe`() throws {
        let ring = try RingFolder()
        try #require(mkfifo(ring.path("pipe"), 0o600) == 0)
        try ring.list(#"{"id": "a", "state": "active", "algorithm": "HS256", "file": "pipe", "encoding": "utf8"}"#)
        #expect(try ring.refusal().message.contains("is not a file"))
    }
}
