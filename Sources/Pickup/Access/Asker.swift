import Access
import AdapterKit
import HTTPTypes
import Hummingbird
import JOSE
import NIOCore

/// Who asks, and for whom: decided by what the caller shows, never by what it says of users.
struct Asker: Sendable {
    /// The members that vouch for the user.
    let vouched: [UInt8]
    /// The user, without a challenge.
    let subject: Subject
    /// The device's name, where there is one.
    let device: String?
    let callers: [Caller]
    /// When the session ends; nil for a backend.
    let sessionEnd: UnixTime?
}

/// Tells who asks.
struct AskerAccess: Sendable {
    let devices: DeviceAccess?
    let backends: APIKeys
    let limits: SharedLimits
    /// How devices reach the gateway, without a path.
    let publicURL: String
    let now: @Sendable () -> UnixTime
    /// Told why somebody was refused.
    let refused: @Sendable (String) -> Void

    private static let apiKey = HTTPField.Name("X-Api-Key")
    private static let vouched = HTTPField.Name("Remint-Vouched")
    private static let deviceField = HTTPField.Name("Remint-Device")
    private static let proof = HTTPField.Name("DPoP")

    /// Who sends `request` for `app`.
    ///
    /// - Parameter allowsQuery: whether the session may stand in the query (RFC 6750, section 2.3), where no header can be set.
    /// - Throws: `Problem`.
    func asker(
        of request: Request, for app: PickupApp, from address: SocketAddress?, allowsQuery: Bool = false
    ) async throws(Problem) -> Asker {
        let asker: Asker
        do throws(AccessRefusal) {
            if let key = Self.apiKey.flatMap({ request.headers[$0] }) {
                let name = try backends.verify(Array(key.utf8), for: app.name)
                asker = try backend(name, request, app)
            } else {
                asker = try await device(request, app, allowsQuery: allowsQuery)
            }
        } catch {
            refused(error.reason.rawValue)
            throw problem(of: error)
        }
        try askLimits(asker, app, address)
        return asker
    }

    private func askLimits(_ asker: Asker, _ app: PickupApp, _ address: SocketAddress?) throws(Problem) {
        let key = String(decoding: asker.subject.key(app: app.name), as: UTF8.self)
        let place = address?.ipAddress.map { [Caller.address($0)] } ?? []
        guard case .later(let wait) = limits.ask(asker.callers + place, subject: key) else { return }
        refused("too_many_requests")
        throw Problem(
            .tooManyRequests, "too_many_requests", "there were too many requests lately",
            retryAfter: max(1, Int(wait.components.seconds) + 1))
    }

    private func backend(_ name: String, _ request: Request, _ app: PickupApp) throws(AccessRefusal) -> Asker {
        // Without a user there is nothing to vouch for; the adapter's own words say the rest.
        let members = Self.vouched.flatMap { request.headers[$0] }.map { Array($0.utf8) } ?? []
        let subject = (try? app.subject(vouchedBy: members)) ?? Subject(user: "")
        return Asker(
            vouched: members, subject: subject, device: deviceName(request), callers: [.backend(name: name)],
            sessionEnd: nil)
    }

    private func device(
        _ request: Request, _ app: PickupApp, allowsQuery: Bool
    ) async throws(AccessRefusal) -> Asker {
        guard let devices, let url = ComparableURL(publicURL + request.uri.path) else {
            throw AccessRefusal.noSession
        }
        let proven = ProvenRequest(method: request.method.rawValue, url: url)
        let device = try await devices.verify(
            credentials(request, allowsQuery: allowsQuery), for: proven, userClaim: app.claim, now: now())
        let vouched = app.vouched(device.session.user)
        let subject = (try? app.subject(vouchedBy: vouched)) ?? Subject(user: "")
        return Asker(
            vouched: vouched, subject: subject, device: device.thumbprint ?? deviceName(request),
            callers: device.callers, sessionEnd: device.session.expiry)
    }

    private func credentials(_ request: Request, allowsQuery: Bool) -> DeviceCredentials? {
        let proofs = Self.proof.map { name in request.headers[values: name] } ?? []
        // Several proofs are none (RFC 9449, section 4.3): the last byte is spoilt so that no one of them counts.
        let proof = proofs.count == 1 ? Array(proofs[0].utf8) : proofs.isEmpty ? nil : Array("several".utf8)
        if let header = request.headers[.authorization] {
            let parts = header.split(separator: " ", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            let session = Array(parts[1].utf8)
            switch parts[0].lowercased() {
            case "bearer": return DeviceCredentials(scheme: .bearer, session: session, proof: proof)
            case "dpop": return DeviceCredentials(scheme: .dpop, session: session, proof: proof)
            default: return nil
            }
        }
        guard allowsQuery, let session = request.uri.queryParameters["access_token"] else { return nil }
        return DeviceCredentials(scheme: .bearer, session: Array(session.utf8), proof: proof)
    }

    private func deviceName(_ request: Request) -> String? {
        guard let name = Self.deviceField.flatMap({ request.headers[$0] }), 1...128 ~= name.utf8.count,
            name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return name
    }

    private func problem(of refusal: AccessRefusal) -> Problem {
        switch refusal.answer {
        case .later(let wait):
            return Problem(
                .serviceUnavailable, "unavailable", "sessions cannot be checked at the moment",
                retryAfter: max(1, Int(wait.components.seconds)))
        case .forbidden: return Problem(.forbidden, "not_allowed", "this key is not for this app")
        case .invalid:
            return Problem(
                .malformedEvent,
                "the session is valid, but its user's id is longer than \(SessionRules.longestUser) bytes, the most that Remint allows"
            )
        case .unauthorised:
            let isMissing = refusal.reason == .noSession
            var problem = Problem(
                .unauthorized, isMissing ? "no_session" : "invalid_session",
                isMissing
                    ? "show a session, or an API key" : "the session does not count here: \(refusal.reason.rawValue)")
            let scheme = refusal.reason.isOfProof ? "DPoP" : "Bearer"
            let error = refusal.reason.isOfProof ? "invalid_dpop_proof" : "invalid_token"
            problem.challenge = isMissing ? "\(scheme) realm=\"remint\"" : "\(scheme) error=\"\(error)\""
            return problem
        }
    }
}
