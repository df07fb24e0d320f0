public import AdapterKit
package import Logging
public import Pipeline
import Synchronization
import Telemetry

/// Signs through a signer, a process that holds the keys: `SigningPort` over its Unix socket.
///
/// Nothing is sent twice: when a connection breaks, its open requests fail, and their callers decide. Every answer is
/// checked before it is used.
public final class SignerProcess: SigningPort, CustomStringConvertible {
    /// The client's timeouts and intervals. Tests have others.
    struct Times: Sendable {
        /// The longest time for signatures.
        var timeout = Duration.seconds(5)
        /// The longest time for the keys, which take no work. After it the connection is given up.
        var keyTimeout = Duration.seconds(5)
        /// The time between two questions for the keys.
        var interval = Duration.seconds(1)
    }

    /// The maximum number of requests in a frame: few enough that one core finishes RSA with 4096 bits within the time
    /// limit.
    private static let pieceCount = 256
    /// About the most bytes of a frame.
    private static let pieceBytes = 1 << 20
    /// Frames on their way at once: while one is looked at, the next is signed.
    private static let piecesAtOnce = 2

    struct State {
        var connection: SignerConnection?
        var rings: [String: TrustedRing] = [:]
        /// Rings that are not trusted as the signer last described them; they have no active key.
        var distrusted: Set<String> = []
        var troubles: [SignerTrouble: String] = [:]
    }

    let socket: String
    /// The rings that this signer is asked for, with the algorithms of the apps that use them.
    public let wanted: [String: Set<Algorithm>]
    let times: Times
    let state = Mutex(State())
    let problems: KeyProblems
    let metrics: SignerMetrics?
    let logger: Logger
    private let checks: [SignatureCheck]
    private let known: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

    /// A signer's client; it is connected while `run` runs.
    ///
    /// - Parameters:
    ///   - socket: the path of the signer's socket.
    ///   - wanted: the rings that it is asked for, with the algorithms of the apps that use them.
    ///   - problems: called with the problems that keep it from signing.
    ///   - metrics: the metrics of all signers; nil for none.
    ///   - lanes: threads that verify signatures.
    package convenience init(
        socket: String, wanted: [String: Set<Algorithm>], problems: @escaping KeyProblems, metrics: SignerMetrics?,
        lanes: Int, logger: Logger
    ) {
        self.init(
            socket: socket, wanted: wanted, problems: problems, metrics: metrics, lanes: lanes, times: Times(),
            logger: logger)
    }

    init(
        socket: String, wanted: [String: Set<Algorithm>], problems: @escaping KeyProblems,
        metrics: SignerMetrics? = nil, lanes: Int, times: Times, logger: Logger
    ) {
        self.socket = socket
        self.wanted = wanted
        self.problems = problems
        self.metrics = metrics
        self.times = times
        self.logger = logger
        checks = (0..<max(1, lanes)).map { SignatureCheck("\($0)") }
        known = AsyncStream.makeStream()
        metrics?.begin(socket)
    }

    /// The signer by its socket.
    public var description: String { "the signer at \(socket)" }

    /// Returns the version of `ring` that signs, as the signer last reported it.
    public func activeKey(of ring: String) -> SigningKeyReference? {
        state.withLock { $0.distrusted.contains(ring) ? nil : $0.rings[ring]?.active }
    }

    /// Returns the public keys of a ring. Shared secrets stay with the signer, so nothing can be verified with them
    /// here.
    public func verificationKeys(of ring: String) -> [RingKey] {
        state.withLock { state in
            guard !state.distrusted.contains(ring), let trusted = state.rings[ring] else { return [] }
            return trusted.versions.compactMap { id, version in
                guard case .publicKey(let key) = version.check else { return nil }
                return RingKey(key, version: id, signer: version.signer)
            }
        }
    }

    /// Waits until the signer has sent its keys for the first time, or for `limit`.
    public func waitForKeys(within limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [known] in for await _ in known.stream {} }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Notes that the signer has published its keys.
    func keysAreKnown() { known.continuation.finish() }

    // MARK: Signing

    /// Has the signer sign `requests`, and returns a signature or a rejection for each, in their order.
    public func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        let pieces = Self.pieces(of: requests)
        return await withTaskGroup(of: (Int, [Result<[UInt8], Rejection>]).self) { group in
            var results = [[Result<[UInt8], Rejection>]](repeating: [], count: pieces.count)
            for (number, piece) in pieces.enumerated() {
                if number >= Self.piecesAtOnce, let (done, signatures) = await group.next() {
                    results[done] = signatures
                }
                let check = checks[number % checks.count]
                group.addTask { (number, await self.sign(piece, urgency, check)) }
            }
            for await (done, signatures) in group { results[done] = signatures }
            return Array(results.joined())
        }
    }

    private func sign(
        _ piece: ArraySlice<SigningRequest>, _ urgency: SigningUrgency, _ check: SignatureCheck
    ) async -> [Result<[UInt8], Rejection>] {
        let (open, before) = state.withLock { ($0.connection, $0.rings) }
        guard let connection = open else {
            metrics?.count(.unreachable, at: socket, after: nil)
            let rejection = Rejection(.keyUnavailable, "the signer cannot be reached")
            return piece.map { _ in .failure(rejection) }
        }
        let items = piece.map { request in
            SignerFrame.Item(
                ring: request.key.ring, version: request.key.version, algorithm: request.key.algorithm.rawValue,
                input: request.input.bytes)
        }
        let start = ContinuousClock.now
        let answer = await connection.ask(within: times.timeout, { .signRequest(id: $0, urgency, items) })
        let time = ContinuousClock.now - start
        let (result, signatures) = await take(answer, piece, before, connection, check)
        metrics?.count(result, at: socket, after: time)
        return signatures
    }

    /// Returns the signatures of `answer`, or the reasons why there are none, and notes the signer's faults.
    private func take(
        _ answer: Result<SignerFrame, SignerFailure>, _ piece: ArraySlice<SigningRequest>,
        _ before: [String: TrustedRing], _ connection: SignerConnection, _ check: SignatureCheck
    ) async -> (SignerMetrics.Result, [Result<[UInt8], Rejection>]) {
        func failed(_ code: ErrorCode, _ text: String) -> [Result<[UInt8], Rejection>] {
            piece.map { _ in .failure(Rejection(code, text)) }
        }
        switch answer {
        case .success(.signatures(_, let answers)):
            // A key that was replaced meanwhile was the right one when the question was asked.
            let now = state.withLock { $0.rings }
            let (results, troubles) = await check.results(of: piece, answers, [now, before])
            note(troubles)
            guard results.allSatisfy({ (try? $0.get()) != nil }) else { return (.refused, results) }
            clear([.overdue, .malformed, .count, .signature, .failed, .policy])
            return (.signed, results)
        case .success:
            let text = "answered another question than was asked"
            note([.malformed: text])
            connection.close(.malformed(text))
            return (.malformed, failed(.mintFailed, "the signer \(text)"))
        case .failure(.malformed(let text)):
            note([.malformed: "gave an answer that is not of the protocol: \(text)"])
            return (.malformed, failed(.mintFailed, "the signer's answer is not of the protocol: \(text)"))
        case .failure(.overdue(let timeout)):
            note([.overdue: "did not sign within \(timeout)"])
            return (.overdue, failed(.keyUnavailable, "the signer did not answer within \(timeout)"))
        case .failure(.broken(let text)):
            return (.unreachable, failed(.keyUnavailable, "the connection to the signer broke: \(text)"))
        case .failure(.closed(let reason)):
            return (.unreachable, failed(.keyUnavailable, "the signer closed the connection: \(reason)"))
        case .failure(.tooLarge(let text)):
            return (.refused, failed(.mintFailed, "the token is too large for the signer: \(text)"))
        }
    }

    /// Contiguous pieces of a batch that fit into a frame each.
    static func pieces(of requests: [SigningRequest]) -> [ArraySlice<SigningRequest>] {
        var pieces: [ArraySlice<SigningRequest>] = []
        var start = 0
        var bytes = 0
        for (index, request) in requests.enumerated() {
            let size = request.input.bytes.count
            if index > start, index - start >= pieceCount || bytes + size > pieceBytes {
                pieces.append(requests[start..<index])
                (start, bytes) = (index, 0)
            }
            bytes += size
        }
        if start < requests.count { pieces.append(requests[start...]) }
        return pieces
    }
}
