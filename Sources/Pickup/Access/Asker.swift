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
    let apps: [String: PickupApp]
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

    /// Who sends `request`, and the app called `name`, which is there and open to the caller.
    ///
    /// What the caller shows is checked before the app is looked for: a stranger cannot tell which apps there are.
    ///
    /// - Parameter allowsQuery: whether the session may stand in the query (RFC 6750, section 2.3), where no header can be set.
    /// - Throws: `Problem`.
    func asker(
        of request: Request, for name: String, from address: SocketAddress?, allowsQuery: Bool = false
    ) async throws(Problem) -> (asker: Asker, app: PickupApp) {
        let (asker, app): (Asker, PickupApp)
        do throws(AccessRefusal) {
            if let key = Self.apiKey.flatMap({ request.headers[$0] }) {
                let backend = try backends.verify(Array(key.utf8), for: name)
                guard let found = apps[name] else { throw AccessRefusal.appNotOpened }
                (asker, app) = (self.backend(backend, request, found), found)
            } else {
                (asker, app) = try await device(request, name, allowsQuery: allowsQuery)
            }
        } catch {
            refused(error.reason.rawValue)
            throw problem(of: error)
        }
        try askLimits(asker, app, address)
        return (asker, app)
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

    private func backend(_ name: String, _ request: Request, _ app: PickupApp) -> Asker {
        // Without a user there is nothing to vouch for; the adapter's own words say the rest.
        let members = Self.vouched.flatMap { request.headers[$0] }.map { Array($0.utf8) } ?? []
        let subject = (try? app.subject(vouchedBy: members)) ?? Subject(user: "")
        return Asker(
            vouched: members, subject: subject, device: deviceName(request), callers: [.backend(name: name)],
            sessionEnd: nil)
    }

    private func device(
        _ request: Request, _ name: String, allowsQuery: Bool
    ) async throws(AccessRefusal) -> (Asker, PickupApp) {
        guard let devices, let url = ComparableURL(publicURL + request.uri.path) else {
            throw AccessRefusal.noSession
        }
        let proven = ProvenRequest(method: request.method.rawValue, url: url)
        let device = try await devices.verify(
            credentials(request, allowsQuery: allowsQuery), for: proven, now: now())
        guard let app = apps[name] else { throw AccessRefusal.appNotOpened }
        let user = try SessionWay.user(of: device.session, by: app.ways)
        let vouched = app.vouched(user)
        let subject = (try? app.subject(vouchedBy: vouched)) ?? Subject(user: "")
        let asker = Asker(
            vouched: vouched, subject: subject, device: device.thumbprint ?? deviceName(request),
            callers: device.callers(as: user), sessionEnd: device.session.expiry)
        return (asker, app)
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
        case .notFound: return Problem(.unknownApp, "there is no such app, or it is not open to this caller")
        case .forbidden: return Problem(.forbidden, "not_allowed", "this key is not for this app")
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
