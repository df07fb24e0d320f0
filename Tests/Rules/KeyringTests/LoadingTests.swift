import Foundation
import JOSE
import Keyring
import Testing

/// A shared secret as its file holds it, and the bytes it stands for.
struct SecretFile: CustomTestStringConvertible {
    let encoding: String
    let text: String
    let bytes: [UInt8]

    init(_ encoding: String, _ text: String, _ bytes: [UInt8]) {
        self.encoding = encoding
        self.text = text
        self.bytes = bytes
    }

    var testDescription: String { "\(encoding), \(text.debugDescription)" }
}

@Suite struct LoadingTests {
    private static let secrets: [SecretFile] = [
        .init("utf8", "s3cret \u{E9}", Array("s3cret \u{E9}".utf8)),
        .init("utf8", " \tdeadbeef\r\n\n", Array("deadbeef".utf8)),
        .init("hex", "00ffABab", [0x00, 0xFF, 0xAB, 0xAB]),
        .init("hex", "00ff\n", [0x00, 0xFF]),
        .init("base64", "+/8=", [0xFB, 0xFF]),
        .init("base64url", "-_8", [0xFB, 0xFF]),
        // The same text, another secret: the encoding decides and nothing is guessed.
        .init("utf8", "deadbeef", Array("deadbeef".utf8)),
        .init("hex", "deadbeef", [0xDE, 0xAD, 0xBE, 0xEF]),
        .init("base64", "deadbeef", [0x75, 0xE6, 0x9D, 0x6D, 0xE7, 0x9F]),
        .init("base64url", "deadbeef", [0x75, 0xE6, 0x9D, 0x6D, 0xE7, 0x9F]),
    ]

    @Test(arguments: secrets) func `a secret is read in its stated encoding`(_ secret: SecretFile) throws {
        let ring = try RingFolder()
        try ring.write(secret.text, to: "a.secret")
        try ring.list(
            #"{"id": "a", "state": "active", "algorithm": "HS256", "file": "a.secret", "encoding": "\#(secret.encoding)"}"#
        )
        let active = try #require(try ring.load().active)
        #expect(active.signingKey?.secret?.array == secret.bytes)
        #expect(active.secretEncoding?.rawValue == secret.encoding)
    }

    @Test func `an encrypted key is opened with the passphrase of a file`() throws {
        let ring = try RingFolder()
        try ring.write(SamplePEM.encryptedP256, to: "a.pem")
        try ring.write("\(SamplePEM.passphrase)\r\n", to: "a.passphrase")
        try ring.list(
            #"{"id": "a", "state": "active", "algorithm": "ES256", "file": "a.pem", "passphrase_file": "a.passphrase"}"#
        )
        let plain = try SigningKey(pem: SecretBytes(text: SamplePEM.p256), algorithm: .es256)
        #expect(try plain.isPair(of: ring.load().active?.verificationKey))
        #expect(try ring.load().active?.secretEncoding == nil)
    }

    @Test func `the versions of a ring keep their order and states`() throws {
        let ring = try RingFolder()
        for name in ["1", "2", "3"] { try ring.write("secret-\(name)", to: name) }
        func version(_ id: String, _ state: String, _ more: String = "") -> String {
            #"{"id": "\#(id)", "state": "\#(state)", "algorithm": "HS256", "file": "\#(id)", "encoding": "utf8"\#(more)}"#
        }
        try ring.list(
            version("1", "passive", #", "retire_after": "2026-12-01T00:00:00Z""#), version("2", "active"),
            version("3", "prepared"))
        let loaded = try ring.load()
        #expect(loaded.versions.map(\.id) == ["1", "2", "3"])
        #expect(loaded.versions.map(\.state) == [.passive, .active, .prepared])
        #expect(loaded.active?.id == "2")
        #expect(loaded.verificationKeys.compactMap(\.keyID) == ["1", "2", "3"])
        #expect(loaded.versions.first?.retireAfter == UnixTime(seconds: 1_796_083_200))
    }

    @Test(arguments: ["retired", "revoked"]) func `a retired or revoked version needs no file`(
        _ state: String
    ) throws {
        let ring = try RingFolder()
        try ring.write("secret", to: "b")
        try ring.list(
            #"{"id": "a", "state": "\#(state)", "algorithm": "RS256", "file": "gone.pem"}"#,
            #"{"id": "0", "state": "\#(state)", "algorithm": "HS256"}"#,
            #"{"id": "b", "state": "active", "algorithm": "HS256", "file": "b", "encoding": "utf8"}"#)
        let loaded = try ring.load()
        let old = try #require(loaded.versions.first)
        #expect(old.state.rawValue == state)
        #expect(old.signingKey == nil)
        #expect(old.verificationKey == nil)
        #expect(loaded.verificationKeys.count == 1)
    }

    @Test func `several secrets under one kid are loaded`() throws {
        let ring = try RingFolder()
        try ring.write("old", to: "1")
        try ring.write("new", to: "2")
        try ring.list(
            #"{"id": "1", "kid": "api-key", "state": "passive", "algorithm": "HS256", "file": "1", "encoding": "utf8"}"#,
            #"{"id": "2", "kid": "api-key", "state": "active", "algorithm": "HS256", "file": "2", "encoding": "utf8"}"#)
        let loaded = try ring.load()
        #expect(loaded.active?.id == "2")
        #expect(loaded.active?.signingKey?.keyID == "api-key")
        #expect(loaded.verificationKeys.map(\.keyID) == ["api-key", "api-key"])
        #expect(loaded.verificationKeys.compactMap { $0.secret?.text } == ["old", "new"])
    }

    @Test func `a key's file may be an absolute path, a path below the folder or a symbolic link`() throws {
        let ring = try RingFolder()
        let elsewhere = try RingFolder()
        try elsewhere.write("secret", to: "a")
        try FileManager.default.createDirectory(
            at: ring.url.appending(path: "below"), withIntermediateDirectories: true)
        try ring.write("secret", to: "below/a")
        try FileManager.default.createSymbolicLink(atPath: ring.path("link"), withDestinationPath: elsewhere.path("a"))
        for file in [elsewhere.path("a"), "below/a", "./below/../below/a", "link"] {
            try ring.list(
                #"{"id": "a", "state": "active", "algorithm": "HS256", "file": "\#(file)", "encoding": "utf8"}"#)
            #expect(try ring.load().active?.signingKey?.secret?.text == "secret", "\(file)")
        }
    }

    @Test func `times with fractions and offsets are read, and null counts as absent`() throws {
        let ring = try RingFolder()
        try ring.write("secret", to: "a")
        try ring.list(
            #"{"id": "a", "state": "active", "algorithm": "HS256", "file": "a", "encoding": "utf8", "kid": null, "passphrase_file": null,"#
                + #" "created": "2026-11-01T00:00:00.5Z", "activated": null, "retire_after": "2026-12-01T02:00:00+02:00"}"#
        )
        let active = try #require(try ring.load().active)
        #expect(active.retireAfter == UnixTime(seconds: 1_796_083_200))
        #expect(active.signingKey?.keyID == "a")
    }
}
