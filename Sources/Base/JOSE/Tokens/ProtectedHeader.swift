/// The protected header of a compact token, which signed and encrypted ones have in common.
struct ProtectedHeader: Sendable {
    /// The header: an object.
    let root: JSONValue
    /// The header's `alg`, as it is there. Never a reason to use that algorithm.
    let algorithmName: String
    /// The header's `kid`, if any.
    let keyID: String?

    /// Parses the encoded header `part`.
    ///
    /// - Throws: `JOSEError` with `.malformedHeader` or `.unsupportedCritical`.
    init(parsing part: ArraySlice<UInt8>, _ limits: CompactJWS.Limits) throws(JOSEError) {
        root = try Self.object(part, limits)
        guard let algorithmName = root["alg"]?.string else {
            throw JOSEError(.malformedHeader, "the header has no string \"alg\"")
        }
        self.algorithmName = algorithmName
        keyID = try Self.keyID(root)
        guard root["crit"] == nil else {
            throw JOSEError(.unsupportedCritical, "the header's \"crit\" asks for an extension that is not understood")
        }
    }

    /// Returns whether the token may belong to a key of the id `known`: it has that `kid`, or one of the two has none.
    func mayMean(_ known: String?) -> Bool {
        guard let keyID, let known else { return true }
        return known.hasSameBytes(as: keyID)
    }

    private static func object(_ part: ArraySlice<UInt8>, _ limits: CompactJWS.Limits) throws(JOSEError) -> JSONValue {
        let bytes = try Base64.url.decoded(part, .malformedHeader, "header")
        do throws(JSONError) {
            let root = try JSONDocument(parsing: bytes, limits: .init(bytes: limits.bytes, depth: limits.depth)).root
            if root.isObject { return root }
        } catch { throw JOSEError(.malformedHeader, "the header is not usable JSON: \(error)") }
        throw JOSEError(.malformedHeader, "the header is not a JSON object")
    }

    private static func keyID(_ header: JSONValue) throws(JOSEError) -> String? {
        guard let member = header["kid"] else { return nil }
        guard let keyID = member.string else {
            throw JOSEError(.malformedHeader, "the header's \"kid\" is not a string")
        }
        return keyID
    }
}
