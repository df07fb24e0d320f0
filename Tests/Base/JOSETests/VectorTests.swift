import Foundation
import JOSE
import Testing

@testable import Formats

@Suite("Published vectors")
struct VectorTests {
    @Test func `the folder of vectors has one file for each published example`() throws {
        let files = try Vector.files()
        #expect(files.count == 15)
        #expect(files.allSatisfy { $0.pathExtension == "json" })
        let vectors = try Vector.all()
        #expect(vectors.allSatisfy { $0.origin.hasPrefix("RFC ") })
        #expect(try Vector.signed().count == 9)
        #expect(Set(vectors.compactMap { Algorithm(rawValue: $0.algorithm) }.map { "\($0.keyType)" }).count == 5)
    }

    @Test(arguments: try Vector.signed())
    func `the published token is verified with the published key`(_ vector: Vector) throws {
        let token = try CompactJWS(text: try #require(vector.token))
        #expect(token.algorithmName == vector.algorithm)
        #expect(token.keyID == vector.key["kid"])
        try token.verify(with: vector.verificationKey)
        if let payload = vector.payload { #expect(token.payload == Array(payload.utf8)) }
    }

    @Test(arguments: try Vector.signed())
    func `the published input is signed so that the published key verifies it`(_ vector: Vector) throws {
        let published = try #require(vector.token)
        let parts = published.parts
        let token = try SampleToken.make(
            vector.signingKey, encodedHeader: parts[0],
            payload: String(decoding: try Base64.url.decode(text: parts[1]), as: UTF8.self))
        try CompactJWS(text: token).verify(with: vector.verificationKey)
        #expect((token == published) == (vector.deterministic == true))
    }

    @Test func `the claims of RFC 7515 A_1 are read though white space is part of the signed bytes`() throws {
        let vector = try #require(try Vector.signed().first { $0.origin == "RFC 7515, appendix A.1" })
        let token = try CompactJWS(text: try #require(vector.token))
        #expect(token.header["typ"]?.string == "JWT")
        let claims = try token.claims()
        #expect(claims.members.map(\.name) == ["iss", "exp", "http://example.com/is_root"])
        #expect(claims["iss"]?.string == "joe")
        #expect(claims["exp"]?.integer == 1_300_819_380)
        #expect(claims["http://example.com/is_root"]?.bool == true)
    }

    @Test(arguments: ["RFC 7515, appendix A.4", "RFC 7520, section 4.1", "RFC 8037, appendices A.1 to A.5"])
    func `a payload that is no object keeps its bytes and is refused as claims`(origin: String) throws {
        let vector = try #require(try Vector.signed().first { $0.origin == origin })
        let token = try CompactJWS(text: try #require(vector.token))
        #expect(!token.payload.isEmpty)
        expectRefusal(.malformedPayload) { try token.claims() }
    }

    @Test(arguments: try Vector.all().filter { $0.thumbprint != nil })
    func `the thumbprint of the published key is the published one`(_ vector: Vector) throws {
        #expect(try JWK.thumbprint(of: vector.verificationKey) == vector.thumbprint)
    }

    @Test(arguments: try Vector.all().filter { $0.key["d"] != nil })
    func `a private JWK and its public half have one thumbprint`(_ vector: Vector) throws {
        let whole = try JWK.thumbprint(of: vector.signingKey.verificationKey)
        #expect(try whole == JWK.thumbprint(of: vector.verificationKey))
        #expect(whole?.count == 43)
    }

    @Test(arguments: try Vector.all())
    func `the public members of the published JWK are written as they were read`(_ vector: Vector) throws {
        let key = try vector.verificationKey
        #expect(key.keyID == vector.key["kid"])
        guard let json = try JWK.publicJSON(of: key) else {
            #expect(vector.key["kty"] == "oct")
            return
        }
        let written = try JSONDecoder().decode([String: String].self, from: Data(json))
        for name in ["kty", "crv", "x", "y", "n", "e", "kid"] {
            #expect(written[name] == vector.key[name], "member \(name)")
        }
        #expect(written["d"] == nil)
    }

    @Test(arguments: try Vector.all().filter { $0.key["kty"] != "oct" && $0.key["d"] == nil })
    func `a published public JWK is refused as a signing key`(_ vector: Vector) {
        expectRefusal(.privateKeyRequired) { try vector.signingKey }
    }
}
