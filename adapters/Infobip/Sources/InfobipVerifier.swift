import AdapterKit

/// The device's verdict on a token before it sends the token (MMJwtUtils.swift, AuthorizationUtils.java: presence
/// only), and then the server's verdict.
struct InfobipVerifier {
    static let tokenType = "Bearer"

    let applicationCode: String
    let keys: [VerificationKey]

    func verdict(on token: [UInt8], expecting subject: Subject, at time: UnixTime) -> VendorVerdict {
        let inspection = TokenInspection(token)
        if let refusal = deviceRefusal(token, inspection, at: time) { return refusal }
        guard let keyID = inspection.header?["kid"]?.string,
            inspection.isSigned(byAnyOf: keys.filter { $0.keyID == keyID && $0.algorithm == .hs256 }),
            let claims = inspection.claims, claims["typ"]?.string == Self.tokenType,
            claims["infobip-api-key"]?.string == applicationCode,
            let user = claims["sub"]?.string, user.hasSameBytes(as: subject.user)
        else { return .refused(code: "401", name: InfobipCode.unauthorized.name) }
        return .accepted
    }

    private func deviceRefusal(_ token: [UInt8], _ inspection: TokenInspection, at time: UnixTime) -> VendorVerdict? {
        guard token.contains(where: { $0 > 0x20 }) else { return structure(10) }
        guard inspection.partCount == 3 else { return structure(12) }
        guard let header = inspection.header else { return structure(13) }
        guard ["alg", "typ", "kid"].allSatisfy({ header[$0] != nil }) else { return structure(14) }
        guard let claims = inspection.claims else { return structure(15) }
        guard Self.mandatory.allSatisfy({ claims[$0] != nil }) else { return structure(16) }
        // iOS takes an end it cannot read for one that has passed.
        guard let expiresAt = inspection.time("exp"), expiresAt > time.seconds else {
            return .refused(code: "11", name: InfobipCode.expired.name)
        }
        return nil
    }

    private func structure(_ code: Int) -> VendorVerdict {
        .refused(code: String(code), name: InfobipCode.structureInvalid.name)
    }

    private static let mandatory = ["typ", "sub", "infobip-api-key", "iat", "exp", "jti"]
}
