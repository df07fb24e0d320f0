/// A token as a vendor's verifier reads it, part by part, so that each adapter can return its vendor's own code for
/// each problem. Nothing here trusts the token; only `isSigned` proves its origin.
public struct TokenInspection: Sendable {
    /// The number of parts between the dots.
    public let partCount: Int
    /// The header, where the first part is a JSON object.
    public let header: JSONValue?
    /// The claims, where the second part is a JSON object.
    public let claims: JSONValue?
    private let token: [UInt8]

    /// Parses `token` as far as it is valid.
    public init(_ token: [UInt8]) {
        self.token = token
        // Four parts are enough to know that there are too many.
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        partCount = token.isEmpty ? 0 : parts.count
        header = parts.first.flatMap(Self.object)
        claims = parts.count > 1 ? Self.object(parts[1]) : nil
    }

    /// Returns whether one of `keys` made the signature, with its own algorithm; false for anything that is not
    /// strictly a compact JWS (RFC 7515), whatever its parts look like.
    public func isSigned(byAnyOf keys: [VerificationKey]) -> Bool {
        guard let jws = try? CompactJWS(parsing: token) else { return false }
        return (try? jws.verify(withAnyOf: keys)) != nil
    }

    /// Returns the number of seconds under `name`; fractions are cut, as verifiers cut them.
    public func time(_ name: String) -> Int64? {
        guard let number = claims?[name]?.number, number.magnitude < 1e15 else { return nil }
        return Int64(number)
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONValue? {
        guard part.count <= 16 << 10, let bytes = try? Base64.url.decode(part),
            let root = try? JSONDocument(parsing: bytes, limits: .init(bytes: 16 << 10, depth: 16)).root, root.isObject
        else { return nil }
        return root
    }
}
