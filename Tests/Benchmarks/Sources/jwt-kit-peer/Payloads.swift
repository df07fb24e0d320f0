import Foundation
import JWTKit

/// The payload of a Braze token: the members of `adapters/Braze`.
struct BrazePayload: JWTPayload {
    let sub: SubjectClaim
    let exp: ExpirationClaim

    init(user: String, expiresAt: Date) {
        sub = SubjectClaim(value: user)
        exp = ExpirationClaim(value: expiresAt)
    }

    func verify(using algorithm: some JWTAlgorithm) async throws { try exp.verifyNotExpired() }
}

/// The payload of a OneSignal token: the members of `adapters/OneSignal`.
struct OneSignalPayload: JWTPayload {
    struct Identity: Codable, Sendable {
        let externalID: String

        enum CodingKeys: String, CodingKey { case externalID = "external_id" }
    }

    let iss: IssuerClaim
    let exp: ExpirationClaim
    let identity: Identity

    init(user: String, expiresAt: Date) {
        iss = IssuerClaim(value: "0f0f0f0f-1111-2222-3333-444444444444")
        exp = ExpirationClaim(value: expiresAt)
        identity = Identity(externalID: user)
    }

    func verify(using algorithm: some JWTAlgorithm) async throws { try exp.verifyNotExpired() }
}

/// The payload of an Infobip token: the members of `adapters/Infobip`.
struct InfobipPayload: JWTPayload {
    let typ: String
    let sub: SubjectClaim
    let applicationCode: String
    let iss: IssuerClaim
    let iat: IssuedAtClaim
    let exp: ExpirationClaim
    let jti: IDClaim

    enum CodingKeys: String, CodingKey {
        case typ, sub, iss, iat, exp, jti
        case applicationCode = "infobip-api-key"
    }

    init(user: String, issuedAt: Date, expiresAt: Date) {
        typ = "Bearer"
        sub = SubjectClaim(value: user)
        applicationCode = "bench"
        iss = IssuerClaim(value: "bench")
        iat = IssuedAtClaim(value: issuedAt)
        exp = ExpirationClaim(value: expiresAt)
        jti = IDClaim(value: UUID().uuidString)
    }

    func verify(using algorithm: some JWTAlgorithm) async throws { try exp.verifyNotExpired() }
}
