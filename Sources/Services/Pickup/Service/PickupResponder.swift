import Access
import AdapterKit
import Formats
import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// Answers the calls.
///
/// It selects the call by the path itself. A waiting call has no task: its entry in the table of waits keeps the
/// closure that gives the answer to the connection.
struct PickupResponder: Sendable {
    private static let standardWait = Duration.seconds(10)

    let terms: CurrentTerms
    let places: CallPlaces
    let clients: ClientAddresses
    let asks: TokenAsks
    let follower: TokenFollower
    let health: GatewayHealth
    let metrics: PickupMetrics
    let now: @Sendable () -> UnixTime

    private var access: AskerAccess { terms.current.access }
    private var frame: PickupFrame { terms.current.frame }

    private typealias Held = (wait: TokenAsks.Wait, asker: Asker, app: PickupApp, address: IPAddress?)

    private enum Step: Sendable {
        case answered(Answer)
        /// The call waits; the function turns the outcome into an answer.
        case waits(Held, @Sendable (TokenAsks.Outcome) throws(Problem) -> Answer)
    }

    /// Answers `request`, whose body may still arrive.
    ///
    /// - Parameters:
    ///   - channel: the request's connection.
    ///   - reply: called with the answer, once: before this returns, or after the call's wait.
    func respond(
        to request: Request, _ body: ArrivingBody, on channel: any Channel, _ reply: @escaping CallHandler.Reply
    ) async {
        let call = request.head.path.flatMap { PickupCall(target: $0) }
        let (frame, asked) = (frame, PickupFrame.Asked(request))
        let address = clients.client(
            of: request.headers, on: ObjectIdentifier(channel), from: channel.remoteAddress)
        let answer: Answer
        do {
            switch try await begin(request, body, call, address, channel) {
            case .answered(let given): answer = given
            case .waits(let held, let answer):
                return finish(held, on: channel) { result in
                    let give: @Sendable () -> Void = {
                        let given: Answer
                        do throws(Problem) { given = try answer(try result.get()) } catch { given = error.answer }
                        reply(frame.finish(given, to: asked, call))
                    }
                    // The thread that reads the tokens of all users opens none.
                    if case .success(.token(let token)) = result, token.isSealed { Task { give() } } else { give() }
                }
            }
        } catch let problem as Problem {
            answer = problem.answer
        } catch {
            // Whatever the error is, the caller did not cause it, and its text must not reach the caller.
            answer = Problem.unavailable("the call could not be answered").answer
        }
        reply(frame.finish(answer, to: asked, call))
        // Whatever of it still comes is not read.
        body.discard()
    }

    @concurrent
    private func begin(
        _ request: Request, _ body: ArrivingBody, _ call: PickupCall?, _ address: IPAddress?, _ channel: any Channel
    ) async throws -> Step {
        if let answer = frame.ownAnswer(to: request, call) {
            try access.arrivals.question(from: address)
            return .answered(answer)
        }
        switch call {
        case .reports(let name): return try await report(request, body, name, address)
        case .token(let name): return try await token(request, name, address)
        case .stream(let name): return .answered(try await stream(request, name, address, channel))
        case .live: return .answered(PickupAnswers.json(.ok) { $0.member("status", "alive") })
        case .ready: return .answered(PickupAnswers.ready(health))
        case .file(let file):
            try access.arrivals.admit(.none, from: address)
            return .answered(PickupAnswers.file(file))
        case nil:
            try access.arrivals.admit(.none, from: address)
            // A path is too long by its app's name, which is no attempt at a session.
            if request.head.path.map({ !PickupCall.isTooLong($0) }) ?? true { access.arrivals.fail(from: address) }
            throw Problem.noSuchCall
        }
    }

    private func requireTokens() throws(Problem) {
        guard follower.hasBegun else { throw follower.tail.isMissing ? Problem.topicMissing : .starting }
    }

    private func step(
        _ outcome: TokenAsks.Outcome, _ asker: Asker, _ app: PickupApp, _ address: IPAddress?,
        _ answer: @escaping @Sendable (TokenAsks.Outcome) throws(Problem) -> Answer
    ) throws(Problem) -> Step {
        guard case .waits(let wait) = outcome else { return .answered(try answer(outcome)) }
        return .waits((wait, asker, app, address), answer)
    }

    /// Waits in a place of the caller's, which is free as soon as the caller leaves, and calls `done` once.
    private func finish(
        _ held: Held, on channel: any Channel, _ done: @escaping @Sendable (Result<TokenAsks.Outcome, Problem>) -> Void
    ) {
        let result = FirstResult(done)
        do throws(Problem) {
            let place = try places.take(.wait, held.asker, held.app.name, from: held.address) { problem in
                result.set(.failure(problem))
            }
            ClientDeparture.tell(channel) { place.release() }
            asks.finish(held.wait) { outcome in
                place.release()
                result.set(outcome)
            }
        } catch { result.set(.failure(error)) }
    }

    // MARK: Calls

    private func report(
        _ request: Request, _ body: ArrivingBody, _ name: String, _ address: IPAddress?
    ) async throws -> Step {
        try requireTokens()
        let start = ContinuousClock.now
        let wait = CallParameters.preferredWait(request)
        let (asker, app) = try await access.asker(
            of: request, for: name, from: address, within: .seconds(wait ?? 0))
        let left = Self.left(of: .seconds(wait ?? 0), since: start)
        try Self.requirePlain(request)
        _ = try app.subject(vouchedBy: asker.vouched)
        let place = try places.take(.report, asker, app.name, from: address) { body.fail($0) }
        defer { place.release() }
        let report: ByteBuffer
        do { report = try await body.collect() } catch is NIOTooManyBytesError { throw Self.tooLarge }
        let outcome = try await asks.answer(Array(buffer: report), of: asker, app, within: left)
        return try step(outcome, asker, app, address) { outcome throws(Problem) in
            if case .token = outcome { metrics.answeredReport(app.name, after: .now - start) }
            var answer = try handOver(outcome, asker.subject, app)
            if let wait, let name = HTTPField.Name("Preference-Applied") { answer.headers[name] = "wait=\(wait)" }
            return answer
        }
    }

    /// Returns the rest of a wait that began at `start`: fetching an issuer's keys may have taken a part of it.
    private static func left(of wait: Duration, since start: ContinuousClock.Instant) -> Duration {
        max(.zero, wait - (.now - start))
    }

    /// Requires a report without a coding and with a valid announced length, before its body is read: a client that
    /// waits for `100 Continue` sends nothing else.
    private static func requirePlain(_ request: Request) throws(Problem) {
        let codings = request.headers[values: .contentEncoding].filter { $0.lowercased() != "identity" }
        guard codings.isEmpty else {
            var problem = Problem(
                .unsupportedMediaType, "unsupported_coding", "a report is sent without Content-Encoding")
            problem.codings = "identity"
            throw problem
        }
        guard request.headers[.contentLength].map({ Int($0) ?? .max <= RequestHead.bodyLimit }) ?? true else {
            throw tooLarge
        }
    }

    private static var tooLarge: Problem {
        Problem(.eventTooLarge, "a report has at most \(RequestHead.bodyLimit) bytes")
    }

    private func token(_ request: Request, _ name: String, _ address: IPAddress?) async throws -> Step {
        try requireTokens()
        let start = ContinuousClock.now
        let (asker, app) = try await access.asker(
            of: request, for: name, from: address,
            within: CallParameters.wait(of: request, standard: Self.standardWait))
        let subject = try app.subject(vouchedBy: asker.vouched)
        let parameters = try CallParameters(request)
        let known = EntityTags(request.headers[values: .ifNoneMatch])
        let floor = ShownVersion.floor(known.versions, at: now())
        if parameters.after != nil || parameters.challenge != nil {
            let key = parameters.challenge.map { Subject(user: subject.user ?? "", challenge: $0) } ?? subject
            // As for `If-None-Match`: an impossible version must not keep its caller from every token.
            let after = ShownVersion.floor(parameters.after.map { [$0] } ?? [], at: now())
            let outcome = try asks.newer(
                than: max(after, floor - 1), key.key(app: app.name), of: app,
                within: Self.left(of: parameters.wait ?? .zero, since: start))
            return try step(outcome, asker, app, address) { outcome throws(Problem) in
                try answer(outcome, key, app, unless: known)
            }
        }
        let wait = parameters.wait ?? Self.standardWait
        // With more than half of a lifetime each call would ask for a new token.
        let life = min(parameters.life, app.lifetime / 2)
        let left = Self.left(of: wait, since: start)
        return try step(
            try await asks.token(for: asker, app, life: life, notBelow: floor, within: left), asker, app, address
        ) { outcome throws(Problem) in
            if case .accepted = outcome, wait > .zero { throw Problem.unanswered }
            return try answer(outcome, subject, app, unless: known)
        }
    }

    private func answer(
        _ outcome: TokenAsks.Outcome, _ subject: Subject, _ app: PickupApp, unless known: EntityTags
    ) throws(Problem) -> Answer {
        if case .token(let token) = outcome, known.contain(TokenAnswer.tag(token.version)) {
            return Answer(.notModified, [.eTag: TokenAnswer.tag(token.version), .cacheControl: "no-store"])
        }
        return try handOver(outcome, subject, app)
    }

    private func handOver(
        _ outcome: TokenAsks.Outcome, _ subject: Subject, _ app: PickupApp
    ) throws(Problem) -> Answer {
        let now = now()
        let answer = try PickupAnswers.answer(to: outcome, of: subject, app, opening: terms.current.seals, at: now)
        if case .token(let token) = outcome { metrics.handedOver(token, app.name, at: now) }
        return answer
    }

    private func stream(
        _ request: Request, _ name: String, _ address: IPAddress?, _ channel: any Channel
    ) async throws -> Answer {
        try requireTokens()
        let opened = terms.current
        let (asker, app) = try await opened.access.asker(
            of: request, for: name, from: address, allowsQuery: true, within: Self.standardWait)
        _ = try app.subject(vouchedBy: asker.vouched)
        let parameters = try CallParameters(request)
        if health.isClosing { throw Problem.draining }
        if request.method == .head { return TokenStream.head }
        return try TokenStream(
            asker: asker, app: app, asks: asks, seals: opened.seals, metrics: metrics, now: now,
            isServed: { [terms] in opened.open(app.name, asIn: terms.current) },
            lastEvent: parameters.lastEvent ?? 0, channel: channel
        ).answer(in: places, from: address)
    }
}

/// Passes on the first result of several.
private final class FirstResult<Value: Sendable>: Sendable {
    private let done: Mutex<(@Sendable (Value) -> Void)?>

    init(_ done: @escaping @Sendable (Value) -> Void) { self.done = Mutex(done) }

    func set(_ value: Value) {
        let done = done.withLock { done in
            defer { done = nil }
            return done
        }
        done?(value)
    }
}

/// HTTP answers for outcomes, states and files.
private enum PickupAnswers {
    /// Returns the answer for the outcome of an ask.
    ///
    /// - Throws: `Problem` where a token has expired, or is sealed for another recipient.
    static func answer(
        to outcome: TokenAsks.Outcome, of subject: Subject, _ app: PickupApp, opening seals: OpenedTokens,
        at now: UnixTime
    ) throws(Problem) -> Answer {
        switch outcome {
        case .token(let token):
            guard token.expiresAt > now.seconds else { throw Problem.unavailable("no live token came") }
            return try TokenAnswer(token, of: subject, for: app, opening: seals, at: now).answer
        case .nothing, .waits: return Answer(.noContent, [.cacheControl: "no-store"])
        case .accepted(let event, let after, let challenge):
            var url = "/v1/apps/\(PercentEncoding.encoded(app.name))/token?after=\(after)"
            if let challenge { url += "&challenge=\(PercentEncoding.encoded(challenge))" }
            var answer = json(.accepted) { json in
                json.member("event_id", event)
                json.member("after", after)
                json.member("token_url", url)
            }
            answer.headers[.location] = url
            return answer
        }
    }

    /// Returns the gateway's readiness, with the problem of each dependency.
    static func ready(_ health: GatewayHealth) -> Answer {
        let readiness = health.readiness
        return json(readiness.isReady ? .ok : .serviceUnavailable) { json in
            json.member("status", readiness.isReady ? "ready" : "not_ready")
            json.name("dependencies")
            json.beginObject()
            for (dependency, problem) in readiness.dependencies {
                let well = readiness.unknown.contains(dependency) ? "not known" : "ok"
                json.member(dependency.rawValue, problem ?? well)
            }
            json.endObject()
            json.member("followed_records", Int64(health.followedRecords))
        }
    }

    static func json(_ code: HTTPResponse.Status, _ body: (inout JSONWriter) -> Void) -> Answer {
        var json = JSONWriter()
        json.beginObject()
        body(&json)
        json.endObject()
        return Answer(
            code, [.contentType: "application/json", .cacheControl: "no-store"], body: ByteBuffer(bytes: json.bytes))
    }

    static func file(_ file: PickupResources) -> Answer {
        Answer(
            .ok, [.contentType: file.contentType, HTTPField.Name("X-Content-Type-Options") ?? .via: "nosniff"],
            body: ByteBuffer(bytes: file.bytes))
    }
}

/// The rules of every call: the origins of pages, the methods, and the count of answers.
struct PickupFrame: Sendable {
    private static let exposed = "DPoP-Nonce, ETag, Location, Preference-Applied, Retry-After, WWW-Authenticate"
    private static let asked = "authorization, content-type, prefer, remint-device, dpop, if-none-match, last-event-id"

    private static let proof = HTTPField.Name("DPoP")
    private static let nonce = HTTPField.Name("DPoP-Nonce")

    /// The part of a request that its answer depends on. A waiting call keeps no more of its request.
    struct Asked: Sendable {
        fileprivate let origin: String?
        fileprivate let hasOptionsMethod: Bool
        fileprivate let hasProof: Bool

        init(_ request: Request) {
            origin = request.headers[.origin]
            hasOptionsMethod = request.method == .options
            hasProof = PickupFrame.proof.map { request.headers.contains($0) } ?? false
        }
    }

    let origins: Set<String>
    let metrics: PickupMetrics
    /// Returns the nonce for the next proof; nil where proofs need none.
    let nextNonce: @Sendable () -> String?

    /// Returns the answer to a request that reaches no call: a browser's preflight request, or a method that the call
    /// does not have.
    func ownAnswer(to request: Request, _ call: PickupCall?) -> Answer? {
        if request.method == .options {
            if request.headers[.origin] != nil { return Answer(.noContent) }
            // `*` is the whole server (RFC 9110, section 9.3.7).
            if request.head.path == "*" { return Answer(.noContent, [.allow: "GET, HEAD, OPTIONS, POST"]) }
            return call.map { Answer(.noContent, [.allow: Self.allowed($0)]) }
        }
        guard let call, request.method != call.method else { return nil }
        // For each GET call a HEAD request is allowed; the connection leaves the body out.
        if request.method == .head, call.method == .get { return nil }
        var problem = Problem(.methodNotAllowed, "method_not_allowed", "this call has another method")
        problem.allow = Self.allowed(call)
        return problem.answer
    }

    private static func allowed(_ call: PickupCall) -> String {
        call.method == .get ? "GET, HEAD, OPTIONS" : "\(call.method.rawValue), OPTIONS"
    }

    /// Counts an answer, and names the pages that may read it.
    func finish(_ answer: Answer, to asked: Asked, _ call: PickupCall?) -> Answer {
        metrics.answered(call?.name ?? "other", Int(answer.status.code))
        var answer = answer
        if asked.hasProof, let nonce = Self.nonce, let next = nextNonce() { answer.headers[nonce] = next }
        // A cache must not give the answer to a request without an origin to a page.
        answer.headers[.vary] = "Origin"
        if let origin = asked.origin { addOrigin(origin, asked, &answer) }
        return answer
    }

    /// Lets pages of the configured origins call and read the answers (WHATWG Fetch, CORS protocol).
    private func addOrigin(_ origin: String, _ asked: Asked, _ answer: inout Answer) {
        guard origins.contains(origin) else { return }
        answer.headers[.accessControlAllowOrigin] = origin
        answer.headers[.accessControlExposeHeaders] = Self.exposed
        guard asked.hasOptionsMethod else { return }
        answer.headers[.accessControlAllowMethods] = "GET, HEAD, POST"
        answer.headers[.accessControlAllowHeaders] = Self.asked
        answer.headers[.accessControlMaxAge] = "600"
    }
}
