import AsyncTestSupport
import Foundation
import JOSE
import Testing

@testable import Formats

@Suite("Base64")
struct Base64Tests {
    /// RFC 4648, section 10.
    static let vectors = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test(arguments: vectors)
    func `the vectors of RFC 4648 encode and decode`(text: String, encoded: String) throws {
        let bytes = Array(text.utf8), unpadded = encoded.replacing("=", with: "")
        #expect(Base64.standard.encode(bytes) == encoded)
        #expect(Base64.url.encode(bytes) == unpadded)
        #expect(try Base64.standard.decode(text: encoded) == bytes)
        #expect(try Base64.url.decode(text: unpadded) == bytes)
        #expect(Base64.standard.encodedCount(of: bytes.count) == encoded.utf8.count)
        #expect(Base64.url.encodedCount(of: bytes.count) == unpadded.utf8.count)
    }

    @Test func `our Base64 agrees with Foundation's on random bytes of every length to 200`() throws {
        var generator = SeededGenerator(seed: 3)
        for count in 0...200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let expected = Data(bytes).base64EncodedString()
            #expect(Base64.standard.encode(bytes) == expected)
            #expect(try Base64.standard.decode(text: expected) == bytes)
            let url = expected.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(Base64.url.encode(bytes) == url)
            #expect(try Base64.url.decode(text: url) == bytes)
            #expect(Base64.url.encodedCount(of: count) == url.utf8.count)
        }
    }

    @Test func `each alphabet's 64 characters decode and encode`() throws {
        let shared = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        #expect(try Base64.url.encode(Base64.url.decode(text: shared + "-_")) == shared + "-_")
        #expect(try Base64.standard.encode(Base64.standard.decode(text: shared + "+/")) == shared + "+/")
        #expect(Base64.url.encode([0xFB, 0xEF, 0xFF]) == "--__")
        #expect(Base64.standard.encode([0xFB, 0xEF, 0xFF]) == "++//")
        #expect(throws: InvalidEncoding.self) { try Base64.url.decode(text: "++//") }
        #expect(throws: InvalidEncoding.self) { try Base64.standard.decode(text: "--__") }
    }

    @Test(arguments: [
        "Z", "Zm9vY", "Zg==", "Zg=", "Zm8=", "Zm9v=", "=", "====", "Zh", "Zi", "Zv", "Zm9", "Zm-", "Zm9v ", " Zm9v",
        "Zm9v\n",
        "Zm\r\n9v", "Zm9v\0", "Zm9+", "Zm9/", "Zm9v.", "Zm9é", "Zm9v!", "Z*9v", "%5Am9v",
        "Zm_",
    ])
    func `base64url that is not canonical is refused`(_ text: String) {
        #expect(throws: InvalidEncoding.self) { try Base64.url.decode(text: text) }
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zm8", "Zm9vYg", "Z", "Z===", "====", "=", "==", "===", "Zh==", "Zm9=", "Zm8==", "Zm9v=",
        "Zm9v====",
        "Zg==Zg==", "Zm9v\n", " Zm9v", "Zm 9", "Zg=A", "Z=g=", "=Zg=", "Zm9-", "Zm9_", "Zm9v\0AAA", "Zm9é",
    ])
    func `base64 that is not canonical is refused`(_ text: String) {
        #expect(throws: InvalidEncoding.self) { try Base64.standard.decode(text: text) }
    }

    @Test func `no text decodes to bytes that encode to another text`() throws {
        var generator = SeededGenerator(seed: 5)
        let characters = Array("ABCDXYZabcdxyz019-_+/= \n.".utf8)
        for _ in 0..<Scale.rounds(20_000) {
            let text = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                characters[Int.random(in: characters.indices, using: &generator)]
            }
            for alphabet in [Base64.url, .standard] {
                guard let bytes = try? alphabet.decode(text[...]) else { continue }
                var again: [UInt8] = []
                alphabet.encode(bytes, appendingTo: &again)
                #expect(again == text)
            }
        }
    }

    @Test func `a slice of an array encodes and decodes`() throws {
        let bytes = Array("__foobar__".utf8)
        var output = Array(">".utf8)
        Base64.url.encode(bytes[2..<8], appendingTo: &output)
        #expect(output == Array(">Zm9vYmFy".utf8))
        #expect(try Base64.url.decode(output[1...]) == Array("foobar".utf8))
    }
}
