public import Foundation

/// A client of the gateway for one app and one signed-in user.
///
/// Each call waits until there is an answer: the client repeats a failed call after the time of `Retry-After`. Callers
/// of the same call share one request. If the app cancels a caller's task, only this caller stops waiting. If the
/// gateway refuses a call permanently (400 to 499 except 408, 425 and 429), the call throws a `RemintError`. Tokens are
/// in memory only. Call `close()` at sign-out.
public actor RemintClient {
    /// A function that returns the user's current session, or nil if nobody is signed in. If the function throws, the
    /// client tries again.
    public typealias Session = @Sendable () async throws -> String?

    /// A call that has not finished, with its callers.
    private struct SharedCall {
        let number: Int
        let task: Task<Void, Never>
        var callers: [Int: CheckedContinuation<Answer, any Error>] = [:]
    }

    /// A request that callers share: for a token, or with a report.
    enum Work: Hashable {
        case token(life: Int)
        case report(Data, challenge: String?)
    }

    /// A pause between two tries.
    private struct Pause {
        let task: Task<Void, any Error>
        /// Whether the gateway named the length of the pause.
        let isFixed: Bool
    }

    let app: String
    let exchange: any HTTPExchange
    let timing: Timing
    let base: String
    let device: String?
    let session: Session
    private(set) var known = KnownTokens()
    private var calls: [Work: SharedCall] = [:]
    private var reporting: Work?
    private var pauses: [Int: Pause] = [:]
    private var streams: [Int: Task<Void, any Error>] = [:]
    private var lastNumber = 0
    private var isClosed = false

    /// Makes a client. The client makes no call yet.
    ///
    /// - Parameters:
    ///   - url: the address of the gateway, such as `https://tokens.example.com`.
    ///   - app: an app of the gateway's configuration.
    ///   - device: the device's name, 1 to 128 printable ASCII characters without spaces; nil for none.
    ///   - session: returns the session of the user. The client calls this function before each try.
    public init(url: URL, app: String, device: String? = nil, session: @escaping Session) {
        self.init(
            url: url, app: app, device: device, exchange: URLSessionExchange(), timing: .system, session: session)
    }

    package init(
        url: URL, app: String, device: String? = nil, exchange: any HTTPExchange, timing: Timing,
        session: @escaping Session
    ) {
        let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
        let name = app.addingPercentEncoding(withAllowedCharacters: plain) ?? app
        let address = url.absoluteString
        base = (address.hasSuffix("/") ? String(address.dropLast()) : address) + "/v1/apps/\(name)/"
        self.app = app
        self.device = device
        self.session = session
        self.exchange = exchange
        self.timing = timing
    }

    // MARK: Calls

    /// Returns a token with more than `minLife` seconds of life.
    ///
    /// In the last tenth to fifth of a token's life, at most an hour, the call returns the known token. The client
    /// renews this token in the background.
    ///
    /// - Parameter minLife: seconds, 0 to 86400.
    /// - Throws: `RemintError` if the gateway refuses the call, nobody is signed in, or the client is closed;
    ///   `CancellationError` if the caller's task is canceled.
    public func token(minLife: Int = 60) async throws -> Answer {
        try requireOpen()
        if let live = known.live(at: timing.now(), minLife: Double(minLife)) {
            if live.isDue { begin(.token(life: min(86400, Int(live.life.rounded(.up)) + 1))) }
            return live.answer
        }
        // The answer to a report is the next token.
        if let reporting, let answer = try await answer(of: reporting) { return answer }
        return try await share(.token(life: minLife))
    }

    /// Reports a failure of the vendor's SDK and returns the new token. The app passes this token to the SDK.
    ///
    /// - Parameter members: the members of the report, as the SDK gave them. `NSNull()` is JSON's null.
    /// - Throws: `RemintError` with the code `invalid_report` if the members are not JSON; otherwise the errors of
    ///   `report(json:)`.
    @discardableResult
    public func report(_ members: [String: any Sendable]) async throws -> Answer {
        guard JSONSerialization.isValidJSONObject(members),
            let json = try? JSONSerialization.data(withJSONObject: members, options: .sortedKeys)
        else { throw RemintError(app: app, code: "invalid_report") }
        return try await report(json: json)
    }

    /// Reports a failure of the vendor's SDK and returns the new token. The app passes this token to the SDK.
    ///
    /// Equal reports at the same time share one call.
    ///
    /// - Parameter json: the report as the SDK gave it, a JSON object of at most 65,536 bytes.
    /// - Throws: `RemintError` if the gateway refuses the report, nobody is signed in, or the client is closed;
    ///   `CancellationError` if the caller's task is canceled.
    @discardableResult
    public func report(json: Data) async throws -> Answer {
        try requireOpen()
        let members = try? JSONSerialization.jsonObject(with: json) as? [String: Any]
        let work = Work.report(json, challenge: members?["nonce"] as? String)
        if case .report(_, challenge: let challenge) = work {
            // At once: no caller of `token()` may get this token from now on.
            if calls[work] == nil { known.refuse(challenge: challenge) }
            if challenge == nil { reporting = work }
        }
        return try await share(work)
    }

    /// Returns a sequence of each newer token of the user. The stream ends at `close()`, or when nobody reads the
    /// sequence any more.
    ///
    /// If a connection closes, the client opens another one. Each connection starts after the newest known version. A
    /// slow reader gets only the newest token. The sequence throws a `RemintError` if the gateway refuses the stream,
    /// or if nobody is signed in.
    public nonisolated func tokens() -> AsyncThrowingStream<Answer, any Error> {
        let newest = AsyncThrowingStream(Answer.self, bufferingPolicy: .bufferingNewest(1)) { more in
            let task = Task { await self.stream(to: more) }
            more.onTermination = { _ in task.cancel() }
        }
        return AsyncThrowingStream(unfolding: { try await self.next(of: newest) })
    }

    /// Waits for the next token. Returns nil after `close()`: an unread token belongs to the signed-out user.
    private func next(of newest: AsyncThrowingStream<Answer, any Error>) async throws -> Answer? {
        for try await answer in newest { return isClosed ? nil : answer }
        return nil
    }

    /// Tries again at once, unless the gateway named a time. Call this method when the app returns to the foreground.
    public func resume() {
        for pause in pauses.values where !pause.isFixed { pause.task.cancel() }
    }

    /// Cancels every call and stream, and deletes the known tokens. Call this method at sign-out.
    ///
    /// Waiting callers and later calls get a `RemintError` with the code `closed`.
    public func close() {
        isClosed = true
        known = KnownTokens()
        for task in calls.values.map(\.task) { task.cancel() }
        for task in streams.values { task.cancel() }
    }

    // MARK: Shared calls

    /// The number of waiting callers.
    package var callers: Int { calls.values.reduce(0) { $0 + $1.callers.count } }

    func share(_ work: Work) async throws -> Answer {
        begin(work)
        let caller = nextNumber()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { calls[work]?.callers[caller] = $0 }
        } onCancel: {
            Task { await self.leave(work, caller) }
        }
    }

    /// Begins a call, unless an equal one has begun.
    private func begin(_ work: Work) {
        guard calls[work] == nil else { return }
        let number = nextNumber()
        let task = Task {
            let result: Result<Answer, any Error>
            do { result = .success(try await perform(work)) } catch { result = .failure(error) }
            finish(work, number, result)
        }
        calls[work] = SharedCall(number: number, task: task)
    }

    private func perform(_ work: Work) async throws -> Answer {
        switch work {
        case .token(let life): return keep(try await ask(.token(life: life)))
        case .report(let report, challenge: _):
            return keep(try await ask(.report(report)))
        }
    }

    private func finish(_ work: Work, _ number: Int, _ result: Result<Answer, any Error>) {
        guard calls[work]?.number == number, let call = calls.removeValue(forKey: work) else { return }
        if reporting == work { reporting = nil }
        let closed = isClosed ? RemintError(app: app, code: "closed") : nil
        for caller in call.callers.values {
            if let closed { caller.resume(throwing: closed) } else { caller.resume(with: result) }
        }
    }

    /// Removes a canceled caller. If this caller was the last one, cancels the call.
    private func leave(_ work: Work, _ caller: Int) {
        guard let continuation = calls[work]?.callers.removeValue(forKey: caller) else { return }
        continuation.resume(throwing: CancellationError())
        guard calls[work]?.callers.isEmpty ?? false, let call = calls.removeValue(forKey: work) else { return }
        if reporting == work { reporting = nil }
        call.task.cancel()
    }

    /// Returns the answer to a report that has not finished.
    ///
    /// Returns nil if the gateway refuses the report: the gateway may still accept a call for a token.
    private func answer(of report: Work) async throws -> Answer? {
        do { return try await share(report) } catch is RemintError {
            try requireOpen()
            return nil
        }
    }

    func keep(_ answer: Answer) -> Answer {
        isClosed ? answer : known.keep(answer, at: timing.now(), random: timing.random())
    }

    // MARK: Parts of calls

    func requireOpen() throws {
        if isClosed { throw RemintError(app: app, code: "closed") }
    }

    /// Waits after `tries` failed tries. `retryAfter` is nil for an answer without the header `Retry-After`.
    ///
    /// - Throws: `RemintError` if the app closed the client during the pause, or `CancellationError` if the task is
    ///   canceled.
    func pause(after tries: Int, retryAfter: Double?) async throws {
        let seconds = RetryDelay.seconds(retryAfter: retryAfter, tries: tries, random: timing.random())
        try await pause(seconds: seconds, isFixed: retryAfter != nil)
    }

    func pause(seconds: Double, isFixed: Bool) async throws {
        let sleep = timing.sleep
        let task = Task { try await sleep(seconds) }
        let number = nextNumber()
        pauses[number] = Pause(task: task, isFixed: isFixed)
        defer { pauses[number] = nil }
        await withTaskCancellationHandler {
            _ = await task.result
        } onCancel: {
            task.cancel()
        }
        try requireOpen()
        try Task.checkCancellation()
    }

    /// Runs a stream in a task that `close()` cancels.
    func running(_ stream: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task { try await stream() }
        let number = nextNumber()
        streams[number] = task
        defer { streams[number] = nil }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}
