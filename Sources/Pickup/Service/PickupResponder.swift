import AdapterKit
import Formats
import HTTPTypes
import Hummingbird
@_spi(Decryption) import JOSE
import NIOCore

/// Answers the calls.
///
/// It selects the call by the path itself. Each step before a wait runs in a task of its own; otherwise each connection
/// would hold the stack that a session's verification needed. A waiting call has no task at all (`HeldCall`).
struct PickupResponder: HTTPResponder {
    /// The longest report, in bytes.
    private static let reportLimit = RequestHead.bodyLimit
    /// The wait of a call for a token that names none.
    private static let patience = Duration.seconds(10)

    let terms: CurrentTerms
    let streams: StreamPlaces
    let clients: ClientAddresses
    let asks: TokenAsks
    let follower: TokenFollower
    let health: GatewayHealth
    let held: HeldCalls
    let metrics: PickupMetrics
    let now: @Sendable () -> UnixTime

    private var access: AskerAccess { terms.current.access }
    private var keys: [JWEDecryptionKey] { terms.current.keys }
    private var frame: PickupFrame { terms.current.frame }

    /// The progress of a call.
    private enum Step: Sendable {
        case answered(Response)
        /// The call waits; the function turns the outcome into an answer.
        case waits(TokenAsks.Wait, @Sendable (TokenAsks.Outcome) throws(Problem) -> Response)
    }

    func respond(to request: Request, context: PickupContext) async throws -> Response {
        let call = PickupCall(request.uri.path)
        let response: Response
        do {
            let address = clients.client(of: request.headers, on: context.connection, from: context.address)
            switch try await Task(operation: { try await begin(request, call, address, context.channel) }).value {
            case .answered(let answer): response = answer
            case .waits(let wait, let answer): return held.mark(hold(wait, request, call, answer))
            }
        } catch let problem as Problem {
            response = problem.response
        } catch is CancellationError { throw CancellationError() } catch {
            // Whatever the error is, the caller did not cause it, and its text must not reach the caller.
            response = Problem.unavailable("the call could not be answered").response
        }
        return frame.finish(response, to: request, call)
    }

    /// Answers the call when its wait is over. Of the request it keeps only the parts that the answer needs.
    private func hold(
        _ wait: TokenAsks.Wait, _ request: Request, _ call: PickupCall?,
        _ answer: @escaping @Sendable (TokenAsks.Outcome) throws(Problem) -> Response
    ) -> HeldCall {
        let held = self.held.call()
        var head = HTTPRequest(method: request.method, scheme: nil, authority: nil, path: nil)
        for name in PickupFrame.read { head.headerFields[name] = request.headers[name] }
        let kept = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        let frame = frame
        asks.finish(wait) { result in
            let response: Response
            do throws(Problem) { response = try answer(try result.get()) } catch { response = error.response }
            held.answer(frame.finish(response, to: kept, call))
        }
        return held
    }

    @concurrent
    private func begin(
        _ request: Request, _ call: PickupCall?, _ address: IPAddress?, _ channel: any Channel
    ) async throws -> Step {
        if let response = frame.ownAnswer(to: request, call) { return .answered(response) }
        switch call {
        case .reports(let name): return try await report(request, name, address)
        case .token(let name): return try await token(request, name, address)
        case .stream(let name): return .answered(try await stream(request, name, address, channel))
        case .live: return .answered(PickupAnswers.json(.ok) { $0.member("status", "alive") })
        case .ready: return .answered(PickupAnswers.ready(health))
        case .openAPI:
            try access.arrivals.admit(.none, from: address)
            return .answered(PickupAnswers.file(.openAPI, "application/json"))
        case .script:
            try access.arrivals.admit(.none, from: address)
            return .answered(PickupAnswers.file(.client, "text/javascript; charset=utf-8"))
        case nil:
            try access.arrivals.admit(.none, from: address)
            access.arrivals.fail(from: address)
            throw Problem(.notFound, "not_found", "no such call")
        }
    }

    private func requireTokens() throws(Problem) {
        guard follower.hasBegun else { throw Problem.starting }
    }

    /// Returns an answer, or a wait for it.
    private func step(
        _ outcome: TokenAsks.Outcome, _ answer: @escaping @Sendable (TokenAsks.Outcome) throws(Problem) -> Response
    ) throws(Problem) -> Step {
        if case .waits(let wait) = outcome { return .waits(wait, answer) }
        return .answered(try answer(outcome))
    }

    // MARK: Calls

    private func report(_ request: Request, _ name: String, _ address: IPAddress?) async throws -> Step {
        try requireTokens()
        let start = ContinuousClock.now
        let wait = CallParameters.preferredWait(request)
        let (asker, app) = try await access.asker(
            of: request, for: name, from: address, within: .seconds(wait ?? 0))
        let left = Self.left(of: .seconds(wait ?? 0), since: start)
        try Self.requirePlain(request)
        _ = try app.subject(vouchedBy: asker.vouched)
        let body: ByteBuffer
        do { body = try await request.body.collect(upTo: Self.reportLimit) } catch is NIOTooManyBytesError {
            throw Self.tooLarge
        }
        let outcome = try await asks.answer(Array(buffer: body), of: asker, app, within: left)
        return try step(outcome) { outcome throws(Problem) in
            if case .token = outcome { metrics.answeredReport(app.name, after: .now - start) }
            var response = try handOver(outcome, asker.subject, app)
            if let wait, let name = HTTPField.Name("Preference-Applied") { response.headers[name] = "wait=\(wait)" }
            return response
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
        guard request.headers[.contentLength].map({ Int($0) ?? .max <= reportLimit }) ?? true else {
            throw tooLarge
        }
    }

    private static var tooLarge: Problem { Problem(.eventTooLarge, "a report has at most \(reportLimit) bytes") }

    private func token(_ request: Request, _ name: String, _ address: IPAddress?) async throws -> Step {
        try requireTokens()
        let start = ContinuousClock.now
        let (asker, app) = try await access.asker(
            of: request, for: name, from: address,
            within: CallParameters.wait(of: request, standard: Self.patience))
        let subject = try app.subject(vouchedBy: asker.vouched)
        let parameters = try CallParameters(request)
        let known = EntityTags(request.headers[values: .ifNoneMatch])
        if parameters.after != nil || parameters.challenge != nil {
            let key = parameters.challenge.map { Subject(user: subject.user ?? "", challenge: $0) } ?? subject
            let outcome = try asks.newer(
                than: parameters.after ?? 0, key.key(app: app.name), of: app,
                within: Self.left(of: parameters.wait ?? .zero, since: start))
            return try step(outcome) { outcome throws(Problem) in try answer(outcome, key, app, unless: known) }
        }
        let wait = parameters.wait ?? Self.patience
        // With more than half of a lifetime each call would ask for a new token.
        let life = min(parameters.life, app.lifetime / 2)
        let left = Self.left(of: wait, since: start)
        return try step(try await asks.token(for: asker, app, life: life, within: left)) { outcome throws(Problem) in
            if case .accepted = outcome, wait > .zero { throw Problem.unanswered }
            return try answer(outcome, subject, app, unless: known)
        }
    }

    private func answer(
        _ outcome: TokenAsks.Outcome, _ subject: Subject, _ app: PickupApp, unless known: EntityTags
    ) throws(Problem) -> Response {
        if case .token(let token) = outcome, known.contain(TokenAnswer.tag(token.version)) {
            return Response(
                status: .notModified, headers: [.eTag: TokenAnswer.tag(token.version), .cacheControl: "no-store"])
        }
        return try handOver(outcome, subject, app)
    }

    private func handOver(
        _ outcome: TokenAsks.Outcome, _ subject: Subject, _ app: PickupApp
    ) throws(Problem) -> Response {
        let now = now()
        let response = try PickupAnswers.response(to: outcome, of: subject, app, opening: keys, at: now)
        if case .token(let token) = outcome { metrics.handedOver(token, app.name, at: now) }
        return response
    }

    private func stream(
        _ request: Request, _ name: String, _ address: IPAddress?, _ channel: any Channel
    ) async throws -> Response {
        try requireTokens()
        let opened = terms.current
        let (asker, app) = try await opened.access.asker(
            of: request, for: name, from: address, allowsQuery: true, within: Self.patience)
        _ = try app.subject(vouchedBy: asker.vouched)
        let parameters = try CallParameters(request)
        if health.isClosing { throw Problem.draining }
        if request.method == .head { return TokenStream.head }
        return TokenStream(
            asker: asker, app: app, asks: asks, keys: keys, metrics: metrics, now: now,
            isServed: { [terms] in opened.open(app.name, asIn: terms.current) },
            lastEvent: parameters.lastEvent ?? 0, place: try streams.take(asker, app, from: address),
            channel: channel
        ).response
    }
}
