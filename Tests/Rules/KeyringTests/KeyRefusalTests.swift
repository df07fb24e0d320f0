import Foundation
import JOSE
import Keyring
import Testing

/// A key file that does not fit its version, and the text of the refusal.
struct BadKey: CustomTestStringConvertible {
    let name: String
    let algorithm: String
    let contents: String
    let more: String
    let words: [String]

    init(_ name: String, _ algorithm: String, _ contents: String, _ more: String = "", _ words: String...) {
        self.name = name
        self.algorithm = algorithm
        self.contents = contents
        self.more = more
        self.words = words
    }

    var testDescription: String { name }
}

@Suite struct KeyRefusalTests {
    private static let utf8 = #", "encoding": "utf8""#
    private static let hex = #", "encoding": "hex""#
    private static let secret = "correct-horse-battery"

    private static let keys: [BadKey] = [
        .init("a P-256 key for RS256", "RS256", SamplePEM.p256, "", "RS256", "RSA", "P-256"),
        .init("a P-256 key for ES384", "ES384", SamplePEM.p256, "", "ES384", "P-384", "P-256"),
        .init("a P-256 key for EdDSA", "EdDSA", SamplePEM.p256, "", "EdDSA", "Ed25519", "P-256"),
        .init("an RSA key for ES256", "ES256", SamplePEM.shortRSA, "", "ES256", "P-256", "RSA"),
        .init("an RSA key of 1024 bits", "RS256", SamplePEM.shortRSA, "", "1024", "2048"),
        .init("an RSA key of 1024 bits for PS256", "PS256", SamplePEM.shortRSA, "", "1024", "2048"),
        .init("a public key", "ES256", SamplePEM.publicP256, "", "public key", "private"),
        .init("an encrypted key without a passphrase", "ES256", SamplePEM.encryptedP256, "", "encrypted", "passphrase"),
        .init("a secret for a key pair", "RS256", secret, "", "not a private key in PEM"),
        .init("an empty file for a key pair", "RS256", "", "", "not a private key in PEM"),
        .init("half a PEM", "ES256", String(SamplePEM.p256.prefix(120)), "", "not a private key in PEM"),
        .init("a secret without its encoding", "HS256", secret, "", "\"encoding\"", "utf8, hex, base64, base64url"),
        .init(
            "a secret of an unknown encoding", "HS256", secret, #", "encoding": "HEX""#, "\"encoding\"",
            "utf8, hex, base64, base64url"),
        .init(
            "an encoding that is no string", "HS256", secret, #", "encoding": 1"#, "\"encoding\"",
            "utf8, hex, base64, base64url"),
        .init("an odd number of hex digits", "HS256", "abc", hex, "odd number"),
        .init("hex with another character", "HS256", "abcg", hex, "not a hex digit"),
        .init("hex with a prefix", "HS256", "0xabcd", hex, "not a hex digit"),
        .init("base64 without padding", "HS256", "+/8", #", "encoding": "base64""#, "padding"),
        .init("base64 of the other alphabet", "HS256", "-_8=", #", "encoding": "base64""#, "alphabet"),
        .init("base64url with padding", "HS256", "-_8=", #", "encoding": "base64url""#, "alphabet"),
        .init("base64url cut short", "HS256", "A", #", "encoding": "base64url""#, "cut short"),
        .init("an empty secret", "HS512", "", utf8, "empty"),
        .init("a secret of white space", "HS512", " \n", utf8, "empty"),
    ]

    @Test(arguments: keys) func `the refusal of a bad key points at its file's name and never quotes the key`(
        _ key: BadKey
    ) throws {
        let ring = try RingFolder()
        try ring.write(key.contents, to: "k")
        try ring.list(#"{"id": "a", "file": "k", "state": "active", "algorithm": "\#(key.algorithm)"\#(key.more)}"#)
        let error = try ring.refusal()
        #expect(error.file == ring.path("keyring.json"))
        #expect(error.place == "2:21")
        for word in key.words { #expect(error.message.contains(word), "\(error)") }
        expectSilence(error, about: key.contents)
    }

    /// No run of eight bytes of the key may be in the error.
    private func expectSilence(
        _ error: KeyRingError, about contents: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let lines = contents.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-----") }
        let printed = "\(error) \(String(reflecting: error))"
        for line in lines where line.count >= 8 {
            for start in line.indices.dropLast(7) {
                let run = String(line[start...].prefix(8))
                #expect(!printed.contains(run), "the error shows a part of the key", sourceLocation: sourceLocation)
            }
        }
    }

    @Test(arguments: ["wrong", ""]) func `a passphrase that does not open the key is refused`(_ passphrase: String)
        throws
    {
        let ring = try RingFolder()
        try ring.write(SamplePEM.encryptedP256, to: "k")
        try ring.write(passphrase, to: "p")
        try ring.list(#"{"id": "a", "file": "k", "passphrase_file": "p", "state": "active", "algorithm": "ES256"}"#)
        let error = try ring.refusal()
        #expect(error.place == "2:21")
        #expect(error.message.contains("passphrase"))
        expectSilence(error, about: SamplePEM.encryptedP256)
    }

    @Test func `the refusal of a missing passphrase file points at its member`() throws {
        let ring = try RingFolder()
        try ring.write(SamplePEM.encryptedP256, to: "k")
        try ring.list(#"{"id": "a", "passphrase_file": "p", "file": "k", "state": "active", "algorithm": "ES256"}"#)
        let error = try ring.refusal()
        #expect(error.place == "2:32")
        #expect(error.message.contains("\"passphrase_file\""))
        #expect(error.message.contains("No such file"))
    }

    @Test func `a secret that is not UTF-8 is refused where text is stated`() throws {
        let ring = try RingFolder()
        try ring.write([0xFF, 0xF0, 0x00, 0x41], to: "k")
        try ring.list(#"{"id": "a", "file": "k", "state": "active", "algorithm": "HS256"\#(Self.utf8)}"#)
        let error = try ring.refusal()
        #expect(error.message.contains("not UTF-8"))
        #expect(error.message.contains("hex, base64 or base64url"))
    }

    @Test(arguments: ["prepared", "active", "passive"])
    func `the missing file of a version that still counts is refused`(
        _ state: String
    ) throws {
        let ring = try RingFolder()
        try ring.list(#"{"id": "a", "file": "gone.pem", "state": "\#(state)", "algorithm": "RS256"}"#)
        let error = try ring.refusal()
        #expect(error.place == "2:21")
        #expect(error.message.contains("gone.pem"))
        #expect(error.message.contains("No such file"))
    }

    @Test func `a folder, a dangling link and a file too large for a key are refused`() throws {
        let ring = try RingFolder()
        try FileManager.default.createDirectory(
            at: ring.url.appending(path: "folder"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: ring.path("dangling"), withDestinationPath: ring.path("gone"))
        try ring.write([UInt8](repeating: 0x41, count: 65_537), to: "large")
        for (name, words) in [
            ("folder", "is not a file"), ("dangling", "No such file"), ("large", "65536"), ("", "is not a file"),
        ] {
            try ring.list(#"{"id": "a", "file": "\#(name)", "state": "active", "algorithm": "HS256"\#(Self.utf8)}"#)
            let error = try ring.refusal()
            #expect(error.place == "2:21")
            #expect(error.message.contains(words), "\(error)")
        }
    }
}
