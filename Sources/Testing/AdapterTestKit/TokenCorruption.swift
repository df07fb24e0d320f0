import AdapterKit

/// A way in which a token can be wrong. Each corruption is made from a good token's parts, and signed again unless it
/// breaks the signature itself, so that the verifier must find that very fault.
struct TokenCorruption {
    let name: String
    let token: [UInt8]

    private init(_ kind: CorruptionKind, of claim: String = "", token: [UInt8]) {
        name = kind.name(claim: claim)
        self.token = token
    }

    /// Returns every corruption of a token of `maker` for `subject`.
    static func all(of maker: TokenMaker, _ subject: Subject, at now: UnixTime) throws -> [TokenCorruption] {
        let good = try maker.token(for: subject, from: now.seconds)
        let (header, claims) = try parts(of: good)
        var all = [
            TokenCorruption(.empty, token: []),
            TokenCorruption(.blank, token: Array("   ".utf8)),
            TokenCorruption(.twoParts, token: Array(good[..<(good.lastIndex(of: dot) ?? 0)])),
            TokenCorruption(.fourParts, token: good + Array(".e30".utf8)),
            TokenCorruption(.trailingGarbage, token: good + Array("!".utf8)),
            TokenCorruption(.headerNotJSON, token: try maker.token(header: "no json", claims: claims)),
            TokenCorruption(.headerNotObject, token: try maker.token(header: "[]", claims: claims)),
            TokenCorruption(.payloadNotObject, token: try maker.token(header: header, claims: "[]")),
            TokenCorruption(.noType, token: try maker.token(header: without("typ", header), claims: claims)),
            TokenCorruption(.algorithmNone, token: unsigned(header, claims)),
            TokenCorruption(.otherAlgorithm, token: try maker.signedWithOtherAlgorithm(header, claims)),
            TokenCorruption(.unknownKey, token: try maker.withNewKey().token(for: subject, from: now.seconds)),
            TokenCorruption(.flippedSignature, token: flippingSignature(of: good)),
        ]
        if maker.recipe.claims.contains(where: { $0.name == "exp" }) {
            // No longer than the vendor accepts, so that the end is all that is wrong with it.
            let start = now.seconds - min(86_400, maker.recipe.lifetime.allowed.upperBound)
            all.append(
                TokenCorruption(.expired, token: try maker.token(for: subject, from: start, to: now.seconds)))
            all.append(
                TokenCorruption(
                    .expiryAsText,
                    token: try maker.token(header: header, claims: replacing("exp", "\"soon\"", claims))))
        } else {
            // The vendor measures the age from `iat`.
            let age = maker.recipe.lifetime.allowed.upperBound
            all.append(TokenCorruption(.expired, token: try maker.token(for: subject, from: now.seconds - age)))
        }
        if maker.recipe.namesKey {
            all.append(
                TokenCorruption(
                    .noKeyID, token: try maker.token(header: without("kid", header), claims: claims)))
            all.append(
                TokenCorruption(
                    .otherKeyID,
                    token: try maker.token(header: replacing("kid", "\"other\"", header), claims: claims)))
        }
        for claim in maker.recipe.claims where claims.contains("\"\(claim.name)\":") {
            all.append(
                TokenCorruption(
                    .noClaim, of: claim.name,
                    token: try maker.token(header: header, claims: without(claim.name, claims))))
            // A claim of another type than the vendor's is never the right one.
            if claim.name != "exp" {
                all.append(
                    TokenCorruption(
                        .wrongClaim, of: claim.name,
                        token: try maker.token(header: header, claims: replacing(claim.name, "[]", claims))))
            }
        }
        return all
    }

    private static let dot = UInt8(ascii: ".")

    private static func parts(of token: [UInt8]) throws -> (header: String, claims: String) {
        let jws = try CompactJWS(parsing: token)
        return (String(decoding: jws.header.json, as: UTF8.self), String(decoding: jws.payload, as: UTF8.self))
    }

    private static func object(_ text: String, _ body: (inout JSONWriter, String, JSONValue) -> Void) throws -> String {
        var json = JSONWriter()
        json.beginObject()
        for (name, value) in try JSONDocument(parsing: Array(text.utf8)).root.members { body(&json, name, value) }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func without(_ member: String, _ text: String) throws -> String {
        try object(text) { json, name, value in
            guard name != member else { return }
            json.name(name)
            json.raw(value.json)
        }
    }

    private static func replacing(_ member: String, _ replacement: String, _ text: String) throws -> String {
        try object(text) { json, name, value in
            json.name(name)
            json.raw(name == member ? Array(replacement.utf8) : value.json)
        }
    }

    private static func unsigned(_ header: String, _ claims: String) -> [UInt8] {
        let none = (try? replacing("alg", "\"none\"", header)) ?? header
        return Array("\(Base64.url.encode(Array(none.utf8))).\(Base64.url.encode(Array(claims.utf8))).".utf8)
    }

    /// Changes the signature's first character, all of whose bits count.
    private static func flippingSignature(of token: [UInt8]) -> [UInt8] {
        var token = token
        guard let index = token.lastIndex(of: dot).map({ $0 + 1 }), index < token.endIndex else { return token }
        token[index] = token[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return token
    }
}
