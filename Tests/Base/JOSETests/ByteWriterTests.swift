import Foundation
import Testing

@_spi(Signing) @testable import JOSE

@Suite("Bytes written on the stack")
struct ByteWriterTests {
    private func text(_ write: (inout ByteWriter) -> Void) -> String {
        String(decoding: ByteWriter.bytes(write), as: UTF8.self)
    }

    @Test(
        arguments: [
            0, 1, 9, 10, 11, 99, 100, 101, 999, 1000, 1_790_000_000, -1, -9, -10, -100, .max, .max - 1, .min, .min + 1,
        ] as [Int64])
    func `decimal digits are what the standard library writes`(_ value: Int64) {
        #expect(text { $0.append(decimal: value) } == String(value))
    }

    @Test func `random decimals of every length agree`() {
        var random = BufferedRandom()
        for shift in 0..<64 {
            let value = Int64(bitPattern: random.next() >> UInt64(shift))
            #expect(text { $0.append(decimal: value) } == String(value))
        }
    }

    @Test(arguments: ["", "plain", "\"", "\\", "\n\r\t", "\u{1}\u{1f}", "é\u{20AC}😀", "a\"b\\c\u{7}d", "/"])
    func `strings are quoted so that another parser reads the same`(_ value: String) throws {
        let bytes = ByteWriter.bytes { $0.append(quoting: value) }
        let read = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) as? String
        #expect(read.map { Array($0.utf8) } == Array(value.utf8))
        var writer = JSONWriter()
        writer.string(value)
        #expect(writer.bytes == bytes)
    }

    @Test(arguments: [1, 2047, 2048, 2049, 5000, 100_000])
    func `bytes too many for the stack are written whole`(_ count: Int) {
        let piece = Array("0123456789".utf8)
        let bytes = ByteWriter.bytes { writer in
            for _ in 0..<count { writer.append(piece) }
            writer.append(UInt8(ascii: "!"))
        }
        #expect(bytes == Array(repeating: piece, count: count).flatMap { $0 } + Array("!".utf8))
    }

    @Test func `a stretch outside the bytes is not copied`() {
        let bytes = Array("abc".utf8)
        for (start, end) in [(-1, 2), (2, 1), (0, 4), (3, 3), (7, 9)] {
            #expect(ByteWriter.bytes { $0.append(bytes, from: start, to: end) } == [])
        }
        #expect(text { $0.append(bytes, from: 1, to: 3) } == "bc")
    }

    @Test(arguments: [0, 1, -1, 0x0102_0304, .max, .min] as [Int32])
    func `numbers are written with their lowest byte first, also if written later`(_ value: Int32) {
        let expected = withUnsafeBytes(of: value.littleEndian) { Array($0) }
        #expect(ByteWriter.bytes { $0.append(littleEndian: value) } == expected)
        let later = ByteWriter.bytes { writer in
            writer.append([7, 0, 0, 0, 0, 8])
            writer.overwrite(1, littleEndian: value)
            for outside in [-1, 3, 100] { writer.overwrite(outside, littleEndian: 5) }
        }
        #expect(later == [7] + expected + [8])
    }

    @Test func `a UUID is of version 4, its random bits where they belong`() {
        #expect(text { $0.append(uuid: 0, 0) } == "00000000-0000-4000-8000-000000000000")
        #expect(text { $0.append(uuid: .max, .max) } == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        let uuid = text { $0.append(uuid: 0x0123_4567_89AB_CDEF, 0x0123_4567_89AB_CDEF) }
        #expect(uuid == "01234567-89ab-4def-8123-456789abcdef")
        #expect(UUID(uuidString: uuid) != nil)
    }

    @Test func `buffered random numbers do not repeat`() {
        var first = BufferedRandom(), second = BufferedRandom()
        let numbers = (0..<3000).flatMap { _ in [first.next(), second.next()] }
        #expect(Set(numbers).count == numbers.count)
    }
}

@Suite("Base64 beside Foundation's")
struct Base64EncodingTests {
    @Test(arguments: [Algorithm.hs256, .hs512, .es256, .es512, .eddsa, .rs256])
    func `a token made in one go verifies, and is what its parts make`(_ algorithm: Algorithm) throws {
        let key = try SigningKey.generate(algorithm, keyID: "k")
        let signer = try Signer(key)
        for user in ["u", String(repeating: "x", count: 3000)] {
            let input = SigningInput(encodedHeader: Array("e30".utf8), payload: Array(#"{"sub":"\#(user)"}"#.utf8))
            let token = try signer.token(input)
            let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            try #require(parts.count == 3)
            #expect(Array(token.prefix(input.bytes.count)) == input.bytes)
            let signature = try Base64.url.decode(parts[2])
            #expect(ByteWriter.bytes { input.writeToken(signature: signature, to: &$0) } == token)
            #expect(key.verificationKey.isValid(try Base64.url.decode(parts[2]), of: input.bytes))
        }
    }
}
