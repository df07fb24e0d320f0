import Foundation
import JOSE
import Testing

@testable import Formats

@Suite("JSON Web Keys on their way out")
struct JWKOutputTests {
    private static let asymmetric = Algorithm.allCases.filter { $0.keyType != .secret }

    /// The members RFC 7518 (section 6) and RFC 8037 (section 2) have for a public key.
    private func publicNames(_ algorithm: Algorithm) -> Set<String> {
        switch algorithm.keyType {
        case .rsa: ["kty", "n", "e"]
        case .ec: ["kty", "crv", "x", "y"]
        case .ed25519: ["kty", "crv", "x"]
        case .secret: []
        }
    }

    private func object(_ json: [UInt8]) throws -> [String: String] {
        try JSONDecoder().decode([String: String].self, from: Data(json))
    }

    @Test(arguments: asymmetric)
    func `a public JWK has the public members, the id, the use and the algorithm, and nothing else`(
        _ algorithm: Algorithm
    ) throws {
        let named = try SampleKeys.make(algorithm, keyID: #"key "1""#).verificationKey
        let members = try object(try #require(try JWK.publicJSON(of: named)))
        #expect(Set(members.keys) == publicNames(algorithm).union(["kid", "use", "alg"]))
        #expect(members["kid"] == #"key "1""#)
        #expect(members["use"] == "sig")
        #expect(members["alg"] == algorithm.rawValue)
        let nameless = try object(try #require(try JWK.publicJSON(of: named.named(nil))))
        #expect(Set(nameless.keys) == publicNames(algorithm).union(["use", "alg"]))
    }

    @Test(arguments: asymmetric)
    func `a key reads back as the same key`(_ algorithm: Algorithm) throws {
        let key = try SampleKeys.make(algorithm, keyID: "a")
        let json = try #require(try JWK.publicJSON(of: key.verificationKey))
        let read = try JWK.verificationKey(from: SecretBytes(copying: json))
        #expect(read.algorithm == algorithm)
        #expect(read.keyID == "a")
        #expect(read.hasSameMaterial(as: key.verificationKey))
        try CompactJWS(text: SampleToken.make(key)).verify(with: read)
        #expect(try JWK.publicJSON(of: read) == json)
        #expect(try JWK.thumbprint(of: read) == JWK.thumbprint(of: key.verificationKey))
        expectRefusal(.privateKeyRequired) { try JWK.signingKey(from: SecretBytes(copying: json)) }
    }

    @Test func `a private number is in no output, whatever key it was read from`() throws {
        for vector in try Vector.all() where vector.key["d"] != nil || vector.key["k"] != nil {
            let key = try vector.signingKey.verificationKey
            let outputs = try [JWK.publicJSON(of: key) ?? [], JWK.setJSON(of: [key])].map {
                String(decoding: $0, as: UTF8.self)
            }
            for name in ["d", "p", "q", "dp", "dq", "qi", "k"] {
                guard let number = vector.key[name] else { continue }
                for output in outputs {
                    #expect(!output.contains(number))
                    #expect(!output.contains("\"\(name)\""))
                }
            }
        }
    }

    @Test(arguments: [Algorithm.hs256, .hs384, .hs512])
    func `a shared secret has no public form and no thumbprint`(_ algorithm: Algorithm) throws {
        let key = try SigningKey.generate(algorithm, keyID: "secret").verificationKey
        #expect(try JWK.publicJSON(of: key) == nil)
        #expect(try JWK.thumbprint(of: key) == nil)
        #expect(try JWK.setJSON(of: [key]) == Array(#"{"keys":[]}"#.utf8))
    }

    @Test func `a set has every public key in order and leaves the secrets out`() throws {
        let keys = try Algorithm.allCases.map { try SampleKeys.make($0, keyID: $0.rawValue).verificationKey }
        let root = try JSONDocument(parsing: JWK.setJSON(of: keys)).root
        #expect(root.members.map(\.name) == ["keys"])
        let members = root["keys"]?.elements ?? []
        #expect(members.compactMap { $0["kid"]?.string } == Self.asymmetric.map(\.rawValue))
        #expect(members.allSatisfy { $0["kty"]?.string != "oct" && $0["k"] == nil && $0["d"] == nil && $0["p"] == nil })
        for (member, algorithm) in zip(members, Self.asymmetric) {
            let read = try JWK.verificationKey(from: SecretBytes(copying: member.json))
            #expect(read.algorithm == algorithm)
        }
        #expect(try JWK.setJSON(of: []) == Array(#"{"keys":[]}"#.utf8))
    }

    /// A coordinate that starts with a zero byte must keep it (RFC 7518, section 6.2.1.2). On P-256 one key in 128
    /// has such an x or y; on P-521 the first byte holds one bit, so half of all coordinates do.
    @Test(.timeLimit(.minutes(5)), arguments: [(Algorithm.es256, 32), (.es384, 48), (.es512, 66)])
    func `coordinates keep their leading zeros`(_ algorithm: Algorithm, _ width: Int) throws {
        var found = false
        for _ in 0..<5000 where !found {
            let key = try SigningKey.generate(algorithm)
            let json = try #require(try JWK.publicJSON(of: key.verificationKey))
            let members = try JSONDocument(parsing: json).root
            let coordinates = try ["x", "y"].map { try Base64.url.decode(text: try #require(members[$0]?.string)) }
            #expect(coordinates.allSatisfy { $0.count == width })
            guard coordinates.contains(where: { $0.first == 0 }) else { continue }
            found = true
            let read = try JWK.verificationKey(from: SecretBytes(copying: json))
            #expect(read.hasSameMaterial(as: key.verificationKey))
            try CompactJWS(text: SampleToken.make(key)).verify(with: read)
        }
        #expect(found)
    }

    @Test func `an RSA modulus has no leading zero`() throws {
        let json = try #require(try JWK.publicJSON(of: SampleKeys.make(.rs256).verificationKey))
        let members = try JSONDocument(parsing: json).root
        let modulus = try Base64.url.decode(text: try #require(members["n"]?.string))
        #expect(modulus.count == 256)
        #expect(modulus.first != 0)
        #expect(members["e"]?.string == "AQAB")
    }

    /// RFC 7638, section 3.2: the required members alone, in order, without white space.
    @Test(arguments: asymmetric)
    func `the thumbprint is the digest of the required members`(_ algorithm: Algorithm) throws {
        let key = try SampleKeys.make(algorithm, keyID: "any").verificationKey
        let members = try object(try #require(try JWK.publicJSON(of: key)))
        let required = members.filter { publicNames(algorithm).contains($0.key) }.sorted { $0.key < $1.key }
        let text = "{" + required.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",") + "}"
        #expect(try JWK.thumbprint(of: key) == Base64.url.encode(SHA256.hash(Array(text.utf8))))
        #expect(try JWK.thumbprint(of: key) == JWK.thumbprint(of: key.named("other")))
    }
}
