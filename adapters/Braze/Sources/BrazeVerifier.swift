import AdapterKit

/// Braze's verdict on a token. Braze does not document the order of its checks; this one goes from form to content.
struct BrazeVerifier {
    static let audience = "braze"

    let settings: BrazeSettings
    let keys: [VerificationKey]

    func verdict(on token: [UInt8], expecting subject: Subject, at time: UnixTime) -> VendorVerdict {
        problem(with: token, expecting: subject, at: time)?.verdict ?? .accepted
    }

    private func problem(with token: [UInt8], expecting subject: Subject, at time: UnixTime) -> BrazeCode? {
        guard !token.isEmpty else { return .missingToken }
        let inspection = TokenInspection(token)
        guard inspection.partCount == 3, let header = inspection.header, header["typ"]?.string != nil else {
            return .decodingError
        }
        guard header["alg"]?.string == Algorithm.rs256.rawValue else { return .incorrectAlgorithm }
        guard let claims = inspection.claims else { return .invalidPayload }
        guard inspection.isSigned(byAnyOf: keys) else { return .noMatchingPublicKeys }
        guard let expiry = claims["exp"] else { return .expirationRequired }
        guard expiry.isNumber, let expiresAt = inspection.time("exp") else { return .invalidPayload }
        if let audience = claims["aud"], audience.string != Self.audience { return .invalidPayload }
        // Without a key of the app's to compare with, no issuer can be the right one.
        if let issuer = claims["iss"], issuer.string == nil || issuer.string != settings.sdkAPIKey {
            return .invalidPayload
        }
        guard expiresAt > time.seconds else { return .expired }
        guard let user = claims["sub"]?.string, user.hasSameBytes(as: subject.user) else { return .subjectMismatch }
        return nil
    }
}
