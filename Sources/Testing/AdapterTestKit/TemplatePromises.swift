import AdapterKit

/// The promise that a signer, which knows the app's adapter, signs each of its tokens and no other one (`TokenTemplate`).
struct TemplatePromises {
    let adapter: any Adapter
    let recipe: Recipe
    let keyID: String?
    let now: UnixTime

    /// Returns the broken promises about `token`, which the adapter's recipe gives.
    func violations(of token: [UInt8]) throws -> [String] {
        // A signer signs no token without an end and with no derived key.
        guard recipe.derivation == nil, recipe.claims.contains(where: { $0.name == "exp" }) else { return [] }
        let jws = try CompactJWS(parsing: token)
        let (header, claims) = (jws.header.json, jws.payload)
        guard try admits(header, claims) else { return ["a signer would refuse its token"] }
        var others = [
            (
                "a header that lacks what its reader must know", Self.with(#""crit":["b64"],"b64":false"#, in: header),
                claims
            ),
            ("a header of another type", Self.with(#""typ":"dpop+jwt""#, in: header), claims),
            ("a claim more", header, Self.with(#""admin":true"#, in: claims)),
            ("another spelling", header, [UInt8(ascii: " ")] + claims),
        ]
        for claim in recipe.claims where try JSONDocument(parsing: claims).root[claim.name] != nil {
            let found: Bool
            switch claim.value {
            case .enrichment, .granted, .vouched: found = true
            default: found = false
            }
            if !found {
                others.append(("another \(claim.name)", header, try Self.replacing(claim.name, by: "[]", in: claims)))
                others.append(("no \(claim.name)", header, try Self.replacing(claim.name, by: nil, in: claims)))
            }
        }
        let violations = try others.filter { try admits($0.1, $0.2) }.map { "a signer would sign a token with \($0.0)" }
        let shorter = recipe.lifetime.standard - 1
        return try violations
            + (admits(header, claims, lifetime: shorter) ? ["a signer would sign a token that lives too long"] : [])
    }

    private func admits(_ header: [UInt8], _ claims: [UInt8], lifetime: Int64? = nil) throws -> Bool {
        let encoded = Array(Base64.url.encode(header).utf8)
        let input = SigningInput(encodedHeader: encoded, payload: claims)
        guard let root = try? JSONDocument(parsing: claims).root else { return false }
        return TokenTemplate(adapter, lifetime: lifetime ?? recipe.lifetime.standard)
            .admits(input.bytes, root, keyID: keyID, at: now)
    }

    private static func with(_ member: String, in object: [UInt8]) -> [UInt8] {
        object.dropLast() + Array(",\(member)}".utf8)
    }

    private static func replacing(_ name: String, by value: String?, in claims: [UInt8]) throws -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        for (other, own) in try JSONDocument(parsing: claims).root.members where other != name || value != nil {
            json.name(other)
            json.raw(other == name ? Array((value ?? "").utf8) : own.json)
        }
        json.endObject()
        return json.bytes
    }
}
