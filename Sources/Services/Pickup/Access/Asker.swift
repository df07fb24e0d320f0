import Access
import AdapterKit
import Formats
import HTTPTypes
import Hummingbird
import JOSE

/// The caller and its user, determined by the caller's credentials, never by what the caller states about users.
struct Asker: Sendable {
    let vouched: [UInt8]
    let subject: Subject
    /// The device's name; nil where it has none.
    let device: String?
    let callers: [Caller]
    /// The end of the session; nil for a backend.
    let sessionEnd: UnixTime?
    /// Returns whether the session's key was withdrawn since.
    var isWithdrawn: @Sendable () -> Bool = { false }

    /// The user over all apps. Users of two issuers differ, although their ids may be the same.
    var user: String {
        for caller in callers {
            if case .user(let issuer, let user) = caller { return "\(issuer)\n\(user)" }
        }
        return String(decoding: subject.key(app: ""), as: UTF8.self)
    }
}

struct AskerAccess: Sendable {
    let apps: [String: PickupApp]
    let devices: DeviceAccess?
    let backends: APIKeys
    let arrivals: Arrivals
    /// The URL at which devices reach the gateway, without a path.
    let publicURL: String
    let now: @Sendable () -> UnixTime
    let isClockInDoubt: @Sendable () -> Bool
    /// Called with the reason of each refusal.
    let refused: @Sendable (String) -> Void

    private static let vouched = HTTPField.Name("Remint-Vouched")
    private static let deviceField = HTTPField.Name("Remint-Device")

    /// Determines the caller of `request`, and the app `name`, which must exist and be open to the caller.
    ///
    /// Limits come before every check that costs. Credentials are checked before the app is looked up, so that a
    /// stranger cannot learn which apps exist. A proof is used up last: a request refused by a limit can use it again.
    ///
    /// - Parameters:
    ///   - address: the caller's address.
    ///   - allowsQuery: whether the session may be in the query (RFC 6750, section 2.3), where no header can be set.
    ///   - wait: the time for which the call waits for its answer; fetching an issuer's keys may take a part of it.
    func asker(
        of request: Request, for name: String, from address: IPAddress?, allowsQuery: Bool = false,
        within wait: @autoclosure () -> Duration
    ) async throws(Problem) -> (asker: Asker, app: PickupApp) {
        let credentials = ShownCredentials(request, allowsQuery: allowsQuery)
        var admitted = try arrivals.admit(credentials, from: address)
        do {
            if let key = credentials.apiKey {
                _ = try backends.verify(key, for: name)
                guard let app = apps[name] else { throw AccessRefusal.appNotOpened }
                let asker = try backend(request, app)
                try limit(asker, app, [], &admitted)
                return (asker, app)
            }
            return try await device(credentials.device, request, name, &admitted, within: wait())
        } catch let error as Problem { throw error } catch {
            var refusal = error as? AccessRefusal ?? AccessRefusal.noSession
            if isClockInDoubt() { refusal = refusal.byWrongClock }
            refused(refusal.reason.rawValue)
            try arrivals.count(admitted)
            if refusal.isFailure { arrivals.fail(from: address) }
            throw problem(of: refusal)
        }
    }

    private func limit(
        _ asker: Asker, _ app: PickupApp, _ callers: [Caller], _ admitted: inout Arrivals.Admitted
    ) throws(Problem) {
        let subject = String(decoding: asker.subject.key(app: app.name), as: UTF8.self)
        try arrivals.ask(callers, subject: subject, &admitted)
    }

    private func backend(_ request: Request, _ app: PickupApp) throws(Problem) -> Asker {
        // The HTTP library replaces bytes that are not UTF-8 by one and the same character: different users would be one.
        guard Self.vouched.flatMap({ request.headers[$0] })?.utf8.allSatisfy({ $0 < 0x80 }) ?? true else {
            throw Problem(
                .malformedEvent, "Remint-Vouched is ASCII: write any other character as an escape, such as \\u00e9")
        }
        // Without a user there is nothing to vouch for; the adapter's own error explains the rest.
        let members = Self.vouched.flatMap { request.headers[$0] }.map { Array($0.utf8) } ?? []
        let subject = (try? app.subject(vouchedBy: members)) ?? Subject(user: "")
        return Asker(
            vouched: members, subject: subject, device: deviceName(request), callers: [],
            sessionEnd: nil)
    }

    private func device(
        _ credentials: DeviceCredentials?, _ request: Request, _ name: String, _ admitted: inout Arrivals.Admitted,
        within wait: Duration
    ) async throws -> (asker: Asker, app: PickupApp) {
        guard let devices, let credentials else { throw AccessRefusal.noSession }
        guard let url = ComparableURL(publicURL + request.uri.path) else { throw Problem.noSuchCall }
        let proven = ProvenRequest(method: request.method.rawValue, url: url)
        let time = now()
        let session = try await devices.session(
            of: credentials, now: time, until: .now + KeySourceFile.maxWait(within: wait))
        // Before anything that can fail: whatever follows counts in the limits of all.
        try arrivals.admit(session)
        let device = try devices.device(credentials, of: session, for: proven, now: time)
        guard let app = apps[name] else { throw AccessRefusal.appNotOpened }
        let user = try SessionWay.user(of: session, by: app.ways)
        let vouched = app.vouched(user)
        let subject = (try? app.subject(vouchedBy: vouched)) ?? Subject(user: "")
        let asker = Asker(
            vouched: vouched, subject: subject, device: device.thumbprint ?? deviceName(request),
            callers: [.user(issuer: session.issuer, user: user)] + device.callers, sessionEnd: session.expiry,
            isWithdrawn: { devices.isWithdrawn(session) })
        try limit(asker, app, device.callers, &admitted)
        try devices.use(device, now: time)
        return (asker, app)
    }

    private func deviceName(_ request: Request) -> String? {
        guard let name = Self.deviceField.flatMap({ request.headers[$0] }), 1...128 ~= name.utf8.count,
            name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return name
    }

    private func problem(of refusal: AccessRefusal) -> Problem {
        switch refusal.answer {
        case .later(let wait) where refusal.reason == .tooManyProofs: return Problem.tooManyRequests(wait)
        case .later(let wait):
            return Problem(
                .serviceUnavailable, "unavailable", "sessions cannot be checked at the moment",
                retryAfter: max(1, Int(wait.components.seconds)))
        case .notFound: return Problem(.unknownApp, "there is no such app, or it is not open to this caller")
        case .forbidden: return Problem(.forbidden, "not_allowed", "this key is not for this app")
        case .invalid:
            return Problem(
                .malformedEvent,
                "the session is valid, but its user's id is longer than \(SessionRules.longestUser) bytes, the most that Remint allows"
            )
        case .unauthorised where refusal.reason == .unknownAPIKey:
            var problem = Problem(
                .unauthorized, "invalid_api_key", "this API key is unknown here; see pickup.api_keys")
            problem.challenge = "Bearer realm=\"remint\""
            return problem
        case .unauthorised:
            let isMissing = refusal.reason == .noSession
            var problem = Problem(
                .unauthorized, isMissing ? "no_session" : "invalid_session",
                isMissing
                    ? "show a session, or an API key" : "the session does not count here: \(refusal.reason.rawValue)")
            // A session that is bound to another key than the proof's came as DPoP too (RFC 9449, section 7.1).
            let isProven = refusal.reason.isOfProof || [.proofMismatch, .notBound].contains(refusal.reason)
            let scheme = isProven ? "DPoP" : "Bearer"
            let error =
                switch refusal.reason {
                case .proofWithoutNonce: "use_dpop_nonce"
                case let reason where reason.isOfProof: "invalid_dpop_proof"
                default: "invalid_token"
                }
            problem.challenge = isMissing ? "\(scheme) realm=\"remint\"" : "\(scheme) error=\"\(error)\""
            return problem
        }
    }
}

/// The limits on requests: those of their addresses, of all requests together, and of each caller.
///
/// A caller is known by a session that was verified before, or by an API key; everybody else is a stranger. A quarter of
/// each shared limit is for known callers, so strangers cannot use it up. A known caller's own limits come first, and a
/// request that they refuse counts in no shared one. An address with many refused requests has to wait, but for known
/// callers.
struct Arrivals: Sendable {
    /// A request that was admitted so far, with the shared limits that it still has to be counted in.
    struct Admitted: Sendable {
        fileprivate let shared: [Caller]
        /// Whether it was counted in the limits of its address and of all requests.
        fileprivate var isCounted: Bool
    }

    let devices: DeviceAccess?
    let backends: APIKeys
    let limits: SharedLimits
    let now: @Sendable () -> UnixTime
    /// Called with the reason of each refusal.
    let refused: @Sendable (String) -> Void

    /// Counts a request with `credentials` from `address`: a stranger's in the shared limits, a known caller's in that
    /// caller's own.
    ///
    /// - Throws: `Problem` where there were too many requests.
    @discardableResult
    func admit(_ credentials: ShownCredentials, from address: IPAddress?) throws(Problem) -> Admitted {
        let name = address.map { $0.network.description }
        if let backend = credentials.apiKey.flatMap({ backends.key($0) }) {
            try settle(limits.ask([.backend(name: backend.name)], hasArrived: true))
            return Admitted(shared: [], isCounted: false)
        }
        // With an API key, a session does not count.
        if credentials.apiKey == nil, let session = credentials.device?.session,
            let caller = devices?.knownCaller(session, now: now())
        {
            try settle(limits.ask([caller], hasArrived: true))
            return Admitted(shared: name.map { [.address($0)] } ?? [], isCounted: false)
        }
        guard let name else {
            try settle(limits.ask([], isStranger: true))
            return Admitted(shared: [], isCounted: true)
        }
        let wait = limits.wait(of: .refused(address: name))
        if wait > .zero {
            refused("too_many_refused")
            throw Problem.tooManyRequests(wait)
        }
        try settle(limits.ask([.address(name), .strangers(address: name)], isStranger: true))
        return Admitted(shared: [], isCounted: true)
    }

    /// Counts a request in the limits of the users of `session`, which was verified.
    ///
    /// - Throws: `Problem` where there were too many requests.
    func admit(_ session: Session) throws(Problem) {
        try settle(
            limits.ask(session.users.map { .user(issuer: session.issuer, user: $0.user) }, hasArrived: true))
    }

    /// Counts one more request of `callers` for `subject`, with the shared limits that it was not counted in before.
    ///
    /// - Throws: `Problem` where there were too many requests.
    func ask(_ callers: [Caller], subject: String, _ admitted: inout Admitted) throws(Problem) {
        try settle(limits.ask(callers + admitted.shared, subject: subject, hasArrived: admitted.isCounted))
        admitted.isCounted = true
    }

    /// Counts a request that was refused in the limits of its address and of all requests, if it was not counted there
    /// before.
    ///
    /// - Throws: `Problem` where there were too many requests.
    func count(_ admitted: Admitted) throws(Problem) {
        guard !admitted.isCounted else { return }
        try settle(limits.ask(admitted.shared))
    }

    /// Counts a request from `address` that only asks for what is allowed, or uses another method. It has a limit of its
    /// own: a browser asks before every call, and so do those of known callers behind an address of strangers.
    ///
    /// - Throws: `Problem` where there were too many.
    func question(from address: IPAddress?) throws(Problem) {
        guard let address else { return }
        try settle(limits.ask([.questions(address: address.network.description)], hasArrived: true))
    }

    func fail(from address: IPAddress?) {
        guard let address else { return }
        limits.ask([.refused(address: address.network.description)], hasArrived: true)
    }

    /// Forgets what counts no more.
    func sweep() {
        limits.sweep()
        devices?.sweep(now: now())
    }

    private func settle(_ answer: RequestLimits.Answer) throws(Problem) {
        guard case .later(let wait) = answer else { return }
        refused("too_many_requests")
        throw Problem.tooManyRequests(wait)
    }
}

/// A request's credentials, not checked yet.
struct ShownCredentials: Sendable {
    /// An API key; with one, the session does not count.
    let apiKey: [UInt8]?
    let device: DeviceCredentials?

    static let none = ShownCredentials(apiKey: nil, device: nil)

    private init(apiKey: [UInt8]?, device: DeviceCredentials?) { (self.apiKey, self.device) = (apiKey, device) }

    private static let apiKeyField = HTTPField.Name("X-Api-Key")
    private static let proofField = HTTPField.Name("DPoP")

    /// The credentials of `request`.
    ///
    /// - Parameter allowsQuery: whether the session may be in the query (RFC 6750, section 2.3), where no header can be
    ///   set.
    init(_ request: Request, allowsQuery: Bool) {
        let keys = Self.apiKeyField.map { request.headers[values: $0] } ?? []
        // Several keys, or several sessions, count as none: a proxy in front may use another one than this gateway
        // would.
        apiKey = keys.isEmpty ? nil : keys.count == 1 ? Array(keys[0].utf8) : []
        device = Self.device(request, allowsQuery: allowsQuery)
    }

    private static func device(_ request: Request, allowsQuery: Bool) -> DeviceCredentials? {
        let proofs = proofField.map { name in request.headers[values: name] } ?? []
        // Several proofs count as none (RFC 9449, section 4.3): text that is no proof is refused as an invalid proof.
        let proof = proofs.count == 1 ? Array(proofs[0].utf8) : proofs.isEmpty ? nil : Array("several".utf8)
        let headers = request.headers[values: .authorization]
        let query = allowsQuery ? request.uri.queryParameters[values: "access_token"] : []
        guard headers.count + query.count == 1 else { return nil }
        guard let header = headers.first else {
            return DeviceCredentials(scheme: .bearer, session: Array(query[0].utf8), proof: proof)
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let session = Array(parts[1].utf8)
        switch parts[0].lowercased() {
        case "bearer": return DeviceCredentials(scheme: .bearer, session: session, proof: proof)
        case "dpop": return DeviceCredentials(scheme: .dpop, session: session, proof: proof)
        default: return nil
        }
    }
}
