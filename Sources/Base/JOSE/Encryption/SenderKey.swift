/// The members of an agreement's header: the sender's ephemeral public key, and the two parties (RFC 7518, section
/// 4.6.1).
struct SenderKey: Sendable {
    /// `epk`: a point that is on its curve.
    let key: EVPKey
    /// The bytes that are mixed into the derived key: `apu` and `apv`.
    let info: [UInt8]

    /// - Throws: `JOSEError` with `.malformedHeader`.
    init(_ header: JSONValue) throws(JOSEError) {
        guard let member = header["epk"] else { throw JOSEError(.malformedHeader, "the header has no \"epk\"") }
        guard member.isObject, member["kty"]?.string == "EC", member["d"] == nil else {
            throw JOSEError(.malformedHeader, "the header's \"epk\" is not a public key whose \"kty\" is EC")
        }
        do throws(JOSEError) { key = try JWKMembers(publicKey: member).evpKey(isPrivate: false) } catch {
            throw JOSEError(.malformedHeader, "the header's \"epk\" is not usable: \(error)")
        }
        info = KeyAgreement.info(partyU: try Self.party("apu", header), partyV: try Self.party("apv", header))
    }

    private static func party(_ name: String, _ header: JSONValue) throws(JOSEError) -> [UInt8] {
        guard let member = header[name] else { return [] }
        guard member.isString else { throw JOSEError(.malformedHeader, "the header's \"\(name)\" is not a string") }
        return try Base64.url.decoded(member.rawBytes, .malformedHeader, "header's \"\(name)\"")
    }
}
