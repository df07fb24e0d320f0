import AsyncTestSupport
import Testing

@testable import Formats
@_spi(Decryption) @testable import JOSE

@Suite("Tampered encrypted tokens", .timeLimit(.minutes(5)))
struct EncryptionTamperingTests {
    @Test(arguments: SampleRecipient.all)
    func `one bit changed in any decoded part spoils the token`(_ recipient: SampleRecipient) throws {
        let key = try recipient.key
        let parts = try key.recipient.seal(text: ForgedJWE.plaintext, contentType: "JWT").parts
        var generator = SeededGenerator(seed: 13)
        for index in parts.indices {
            for _ in 0..<16 {
                var bytes = try Base64.url.decode(text: parts[index])
                let bit = Int.random(in: 0..<(bytes.count * 8), using: &generator)
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                var spoilt = parts
                spoilt[index] = Base64.url.encode(bytes)
                let error = #expect(throws: JOSEError.self, "part \(index), bit \(bit)") {
                    try key.open(text: spoilt.joined(separator: "."))
                }
                if index > 0 { #expect(error == Self.failure, "part \(index), bit \(bit)") }
            }
        }
    }

    @Test(arguments: SampleRecipient.all)
    func `a token cut short anywhere is refused`(_ recipient: SampleRecipient) throws {
        let key = try recipient.key
        let token = try key.recipient.seal(text: ForgedJWE.plaintext)
        for count in stride(from: token.utf8.count - 1, through: 0, by: -7) {
            #expect(throws: JOSEError.self, "\(count) bytes") { try key.open(text: String(token.prefix(count))) }
        }
    }

    @Test(arguments: SampleRecipient.some)
    func `every part but the last may lose or gain bytes and is refused for it`(_ recipient: SampleRecipient) throws {
        let key = try recipient.key
        let parts = try key.recipient.seal(text: ForgedJWE.plaintext).parts
        for index in [1, 3] {
            let bytes = try Base64.url.decode(text: parts[index])
            let others: [[UInt8]] = [
                [], [0], Array(bytes.dropLast()), Array(bytes.dropFirst()), bytes + [0], [0] + bytes, bytes + bytes,
                bytes.reversed(), Array(repeating: 0, count: bytes.count), Array(repeating: 0xFF, count: bytes.count),
                Array(repeating: 0, count: 8000),
            ]
            for other in others {
                var spoilt = parts
                spoilt[index] = Base64.url.encode(other)
                let error = #expect(throws: JOSEError.self) { try key.open(text: spoilt.joined(separator: ".")) }
                #expect(error == Self.failure, "part \(index), \(other.count) bytes")
            }
        }
    }

    @Test(arguments: SampleRecipient.all)
    func `the parts of two good tokens do not make a third`(_ recipient: SampleRecipient) throws {
        let key = try recipient.key
        let first = try key.recipient.seal(text: "first", type: "a").parts
        let second = try key.recipient.seal(text: "later", type: "b").parts
        for mask in 1..<31 {
            let mixed = first.indices.map { mask >> $0 & 1 == 1 ? second[$0] : first[$0] }.joined(separator: ".")
            let error = #expect(throws: JOSEError.self, "\(mask)") { try key.open(text: mixed) }
            #expect(error == Self.failure, "\(mask)")
        }
    }

    @Test(arguments: SampleRecipient.all)
    func `two parts in each other's place are refused`(_ recipient: SampleRecipient) throws {
        let key = try recipient.key
        let parts = try key.recipient.seal(text: ForgedJWE.plaintext).parts
        for first in parts.indices {
            for second in parts.indices where second > first {
                var spoilt = parts
                spoilt.swapAt(first, second)
                #expect(throws: JOSEError.self) { try key.open(text: spoilt.joined(separator: ".")) }
            }
        }
    }

    @Test(arguments: SampleRecipient.all)
    func `a header of the same members in other bytes is another header`(_ recipient: SampleRecipient) throws {
        let key = try recipient.key
        let parts = try key.recipient.seal(text: ForgedJWE.plaintext).parts
        let header = String(decoding: try Base64.url.decode(text: parts[0]), as: UTF8.self)
        for other in [
            header + " ", " " + header, header.replacing(#","enc""#, with: #", "enc""#),
            header.dropLast() + #","typ":"JWT"}"#, header.replacing(#""kid""#, with: #""k\u0069d""#),
        ] {
            let text = ([Base64.url.encode(text: String(other))] + parts[1...]).joined(separator: ".")
            let error = #expect(throws: JOSEError.self) { try key.open(text: text) }
            #expect(error == Self.failure)
        }
    }

    @Test(arguments: SampleRecipient.all)
    func `another key of the same kind fails in the same words as a changed token`(_ recipient: SampleRecipient) throws
    {
        let token = try recipient.key.recipient.seal(text: ForgedJWE.plaintext)
        let stranger = try recipient.stranger()
        let error = #expect(throws: JOSEError.self) { try stranger.open(text: token) }
        #expect(error == Self.failure)
        let any = #expect(throws: JOSEError.self) { try CompactJWE(text: token).open(withAnyOf: [stranger]) }
        #expect(any == Self.failure)
    }

    @Test func `a longer RSA key does not open a shorter one's token, nor the other way round`() throws {
        let keys = try SampleRecipient.all.filter { $0.algorithm == .rsaOAEP256 }.map { try $0.key }
        for (key, other) in [(keys[0], keys[1]), (keys[1], keys[0])] {
            let token = try key.recipient.seal(text: "{}")
            let error = #expect(throws: JOSEError.self) { try other.open(text: token) }
            #expect(error == Self.failure)
        }
    }

    @Test func `a refusal leaves no error of libcrypto behind`() throws {
        let key = try SampleRecipient.rsa2048.key
        let token = try key.recipient.seal(text: "{}")
        var spoilt = token.parts
        spoilt[1] = Base64.url.encode([UInt8](repeating: 1, count: 256))
        for _ in 0..<3 {
            expectRefusal(.decryptionFailed) { try key.open(text: spoilt.joined(separator: ".")) }
            #expect(try key.open(text: token) == "{}")
        }
    }

    /// The error of every failed decryption, whatever was wrong.
    private static let failure = JOSEError(.decryptionFailed, "the key does not open the token")
}
