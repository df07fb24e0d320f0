import AsyncTestSupport
@_spi(Signing) import JOSE
import Testing

@Suite("Tampered tokens", .timeLimit(.minutes(5)))
struct TamperingTests {
    @Test(arguments: Algorithm.allCases)
    func `one bit changed in any decoded part spoils the signature`(_ algorithm: Algorithm) throws {
        let key = try SampleKeys.make(algorithm)
        let parts = try SampleToken.make(key).parts
        var generator = SeededGenerator(seed: 7)
        for index in parts.indices {
            for _ in 0..<16 {
                var bytes = try Base64.url.decode(text: parts[index])
                let bit = Int.random(in: 0..<(bytes.count * 8), using: &generator)
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                var spoilt = parts
                spoilt[index] = Base64.url.encode(bytes)
                #expect(throws: JOSEError.self, "part \(index), bit \(bit)") {
                    try CompactJWS(text: spoilt.joined(separator: ".")).verify(with: key.verificationKey)
                }
            }
        }
    }

    @Test(arguments: Algorithm.allCases)
    func `one bit changed in the token's text spoils the token`(_ algorithm: Algorithm) throws {
        let key = try SampleKeys.make(algorithm)
        let token = Array(try SampleToken.make(key).utf8)
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<64 {
            var spoilt = token
            let bit = Int.random(in: 0..<(token.count * 8), using: &generator)
            spoilt[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: JOSEError.self, "bit \(bit)") {
                try CompactJWS(parsing: spoilt).verify(with: key.verificationKey)
            }
        }
    }

    @Test(arguments: Algorithm.allCases)
    func `a token cut short anywhere is refused`(_ algorithm: Algorithm) throws {
        let key = try SampleKeys.make(algorithm)
        let token = Array(try SampleToken.make(key).utf8)
        for count in stride(from: token.count - 1, through: 0, by: -3) {
            #expect(throws: JOSEError.self, "\(count) of \(token.count) bytes") {
                try CompactJWS(parsing: Array(token[..<count])).verify(with: key.verificationKey)
            }
        }
    }

    @Test(arguments: Algorithm.allCases)
    func `a signature of any other width is refused`(_ algorithm: Algorithm) throws {
        let key = try SampleKeys.make(algorithm)
        let token = try CompactJWS(text: SampleToken.make(key))
        let signature = token.signature
        let others: [[UInt8]] = [
            [], [0], Array(signature.dropLast()), Array(signature.dropFirst()), signature + [0], [0] + signature,
            signature + signature, Array(signature[..<(signature.count / 2)]), Array(repeating: 0, count: 100_000),
        ]
        for other in others {
            #expect(!key.verificationKey.isValid(other, of: token.signingInput), "\(other.count) bytes")
        }
        #expect(key.verificationKey.isValid(signature, of: token.signingInput))
        // What is known of the width without a key: nothing of a longer RSA signature, which a longer key makes.
        let impossible = others.filter { $0.count != signature.count && !algorithm.canSign(in: $0.count) }
        #expect(impossible.count == (algorithm.keyType == .rsa ? 5 : 9))
        #expect(algorithm.canSign(in: signature.count))
    }

    @Test(arguments: Algorithm.allCases)
    func `a signature of zeros or of ones is refused`(_ algorithm: Algorithm) throws {
        let key = try SampleKeys.make(algorithm)
        let token = try CompactJWS(text: SampleToken.make(key))
        for byte in [0x00, 0x01, 0xFF] as [UInt8] {
            let forged = [UInt8](repeating: byte, count: token.signature.count)
            #expect(!key.verificationKey.isValid(forged, of: token.signingInput), "\(byte)")
        }
    }

    @Test(arguments: [(Algorithm.es256, 32), (.es384, 48), (.es512, 66)])
    func `an ECDSA signature is r and s at the curve's width, neither of them zero`(
        _ algorithm: Algorithm, _ width: Int
    ) throws {
        let key = try SampleKeys.make(algorithm)
        let token = try CompactJWS(text: SampleToken.make(key))
        let raw = token.signature
        #expect(raw.count == 2 * width)
        let r = Array(raw[..<width]), s = Array(raw[width...]), zero = [UInt8](repeating: 0, count: width)
        let der = DER.signature(fromRaw: raw)
        #expect(DER.raw(fromSignature: der, width: width) == raw)
        let padded = der + [UInt8](repeating: 0, count: max(2 * width - der.count, 0))
        for forged in [der, padded, zero + s, r + zero, zero + zero, s + r, [0] + r + [0] + s] {
            #expect(!key.verificationKey.isValid(forged, of: token.signingInput))
        }
    }

    /// One signature in 256 has an r whose first byte is zero, and as many such an s.
    @Test func `an ECDSA signature keeps its leading zeros`() throws {
        let key = try SigningKey.generate(.es256)
        let signer = try Signer(key)
        var found = false
        for round in 0..<5000 where !found {
            let input = Array("input \(round)".utf8)
            let signature = try signer.sign(input)
            #expect(signature.count == 64)
            guard signature[0] == 0 || signature[32] == 0 else { continue }
            found = true
            #expect(key.verificationKey.isValid(signature, of: input))
        }
        #expect(found)
    }

    @Test(arguments: Algorithm.allCases)
    func `a key of the same kind does not verify another's token`(_ algorithm: Algorithm) throws {
        let token = try CompactJWS(text: SampleToken.make(SampleKeys.make(algorithm)))
        let stranger = try SigningKey.generate(algorithm).verificationKey
        expectRefusal(.signatureInvalid) { try token.verify(with: stranger) }
    }

    @Test func `a longer RSA key does not verify a shorter one's token, nor the other way round`() throws {
        let keys = try [2048, 3072].map { try SigningKey.generate(.rs256, rsaBits: $0) }
        for (key, other) in [(keys[0], keys[1]), (keys[1], keys[0])] {
            let token = try CompactJWS(text: SampleToken.make(key))
            try token.verify(with: key.verificationKey)
            expectRefusal(.signatureInvalid) { try token.verify(with: other.verificationKey) }
        }
    }

    @Test func `the parts of two good tokens do not make a third`() throws {
        let key = try SigningKey.generate(.es256)
        let first = try SampleToken.make(key).parts
        let second = try SampleToken.make(key, header: #"{"alg":"ES256","x":1}"#, payload: #"{"sub":"user-2"}"#).parts
        for mask in 1..<7 {
            let mixed = first.indices.map { mask >> $0 & 1 == 1 ? second[$0] : first[$0] }.joined(separator: ".")
            expectRefusal(.signatureInvalid) { try CompactJWS(text: mixed).verify(with: key.verificationKey) }
        }
    }
}
