import Access
import Formats
import HTTPTransport
import JOSE
import Logging
import Synchronization
import Telemetry
import WorkerConfiguration

/// The session issuer's keys, from its URL or from a file.
struct KeySourceFile: Sendable {
    let keys: FetchedKeys
    private let session: Configuration.Pickup.Session
    private let journal: FetchJournal

    /// The longest time of a fetch, from the connection to the last byte.
    static let timeout = Duration.seconds(5)
    /// The part of a call's wait that may pass before the issuer's keys are there. An issuer has at least the lower
    /// bound to answer, and a stalled issuer delays a call by at most the upper bound.
    private static let waits = Duration.milliseconds(500) ... .seconds(2)

    /// The keys of `session`, not fetched yet.
    ///
    /// - Parameters:
    ///   - other: a source of the same place, fetched in another way; the new one begins with what it knows. Nil for
    ///     none.
    ///   - timeout: the longest time of a fetch.
    ///   - authorities: the authorities that the issuer's certificate is checked against; nil for the system's.
    init(
        _ session: Configuration.Pickup.Session, after other: KeySourceFile? = nil,
        timeout: Duration = KeySourceFile.timeout,
        trusting authorities: TrustedAuthorities? = nil, logger: Logger
    ) {
        self.session = session
        let journal = FetchJournal(session, after: other?.journal, logger)
        self.journal = journal
        var times = KeySetTimes()
        (times.coolDown, times.maxWait) = (session.coolDown, Self.waits.upperBound)
        keys = FetchedKeys(
            algorithms: session.algorithms, times: times,
            after: other?.keys,
            now: { .now },
            pause: { try await Task.sleep(for: $0) },
            fetch: { try await Self.fetch(session, trusting: authorities, within: timeout) },
            ended: { journal.record($0) })
    }

    /// Returns the longest wait for the issuer's keys of a call that waits for `wait`.
    static func maxWait(within wait: Duration) -> Duration {
        min(max(wait, waits.lowerBound), waits.upperBound)
    }

    /// Returns whether `other` has the same keys, fetched in the same way.
    func isOf(_ other: Configuration.Pickup.Session) -> Bool {
        session.keySet == other.keySet && session.algorithms == other.algorithms && session.coolDown == other.coolDown
    }

    func isAtPlace(of other: Configuration.Pickup.Session) -> Bool { session.keySet == other.keySet }

    /// Requests a fetch of the keys: from a file at once, from an issuer once the cool-down allows it.
    func refresh() { keys.refresh(atOnce: session.keySetFile != nil) }

    /// Fetches keys on request, until the task is canceled.
    func run() async { await keys.run() }

    /// Returns the JWK Set in the file of `session`. Other accounts may read the file, but not change it: an account
    /// that can write it can sign sessions of every user.
    static func document(of session: Configuration.Pickup.Session) throws(PickupError) -> [UInt8] {
        do throws(GuardedFileError) {
            return try GuardedFile.instructions(session.keySet, limit: KeySet.mostBytes)
        } catch { throw PickupError("pickup.\(session.name).jwks: \(error.path) \(error.message)") }
    }

    /// Checks that the file of `session` has a key that verifies its sessions.
    ///
    /// - Throws: `PickupError` with the file and the edit.
    static func requireKey(in session: Configuration.Pickup.Session) throws(PickupError) {
        let document = try document(of: session)
        do throws(KeySetError) { _ = try KeySet(parsing: document, algorithms: session.algorithms) } catch {
            let reason = error == .noUsableKey ? flaw(of: session) : "\(error); write the issuer's JWK Set to the file"
            throw PickupError("pickup.\(session.name).jwks: \(session.keySet): \(reason)")
        }
    }

    /// Returns the words for a key set of `session` without a key that verifies its sessions.
    fileprivate static func flaw(of session: Configuration.Pickup.Session) -> String {
        let names = Algorithm.allCases.filter(session.algorithms.contains).map(\.rawValue).joined(separator: ", ")
        return """
            no public signing key for \(names); add the issuer's key to the key set, or its algorithm to \
            pickup.\(session.name).algorithms
            """
    }

    /// Fetches the keys of `session` once.
    ///
    /// - Returns: the keys, in a line.
    /// - Throws: `PickupError` where no key verifies the session's tokens.
    static func look(at session: Configuration.Pickup.Session, within limit: Duration) async throws(PickupError)
        -> String
    {
        let document = try await fetch(session, trusting: nil, within: min(limit, timeout))
        do throws(KeySetError) {
            let set = try KeySet(parsing: document.bytes, algorithms: session.algorithms)
            return set.count.of("key")
        } catch { throw PickupError(error == .noUsableKey ? flaw(of: session) : error.description) }
    }

    private static func fetch(
        _ session: Configuration.Pickup.Session, trusting authorities: TrustedAuthorities?, within limit: Duration
    ) async throws(PickupError) -> KeySetDocument {
        let place = session.keySet
        guard session.keySetFile == nil else { return KeySetDocument(bytes: try document(of: session), maxAge: nil) }
        // Checked again here, where the request is made: keys that came in plain text may be anybody's.
        guard let url = try? EndpointURL(parsing: String(place.prefix { $0 != "?" })), url.isEncrypted || url.isLoopback
        else { throw PickupError("pickup.\(session.name).jwks must be an https URL, or a file") }
        let request = TransportRequest(
            url: place, host: url.authority,
            headers: [(name: "Accept", value: "application/jwk-set+json, application/json")],
            reading: .body(upTo: KeySet.mostBytes))
        let response: TransportResponse
        do throws(TransportError) {
            response = try await HTTPTransport.send(request, trusting: authorities, within: limit)
        } catch { throw PickupError(error.description) }
        guard response.status == 200 else {
            throw PickupError("\(url.authority) answers with status \(response.status)")
        }
        return KeySetDocument(bytes: response.body, cacheControl: response.header("cache-control"))
    }
}

extension Configuration.Pickup.Session {
    /// The file of the issuer's keys; nil where they are at a URL.
    var keySetFile: String? { keySet.contains("://") ? nil : keySet }
}

/// Logs that the issuer's keys cannot be fetched, or that none is usable: once in each outage and for each reason, and
/// once at its end.
private final class FetchJournal: Sendable {
    private struct State {
        var fetching = Outage()
        /// Sets without a usable key.
        var lacking = Outage()
    }

    private let state: Mutex<State>
    private let epoch: ContinuousClock.Instant
    private let session: Configuration.Pickup.Session
    private let logger: Logger

    /// - Parameter other: the journal of the same place that goes on in this one; nil for none.
    init(_ session: Configuration.Pickup.Session, after other: FetchJournal?, _ logger: Logger) {
        state = Mutex(other?.state.withLock { $0 } ?? State())
        epoch = other?.epoch ?? .now
        self.session = session
        self.logger = logger
    }

    /// Records the end of a fetch that brought keys, or the reason that it brought none.
    func record(_ reason: (any Error)?) {
        let now = ContinuousClock.now - epoch
        // A set without a usable key was fetched all the same.
        let lacksKeys = reason as? KeySetError == .noUsableKey
        let (fetching, lacking) = state.withLock { state -> (Outage.Notice?, Outage.Notice?) in
            if let reason, !lacksKeys { return (state.fetching.failed("\(reason)", at: now), nil) }
            let fetched = state.fetching.succeeded(at: now)
            return (fetched, lacksKeys ? state.lacking.failed("", at: now) : state.lacking.succeeded(at: now))
        }
        if let fetching { reportFetches(fetching) }
        if let lacking { reportKeys(lacking) }
    }

    private func reportFetches(_ notice: Outage.Notice) {
        switch notice {
        case .failed(let reason):
            logger.error(
                "session-keys.unavailable",
                "the session issuer's keys cannot be fetched; the known ones are used for a day, and it is tried again",
                metadata: [LogKey.detail: "\(reason)"])
        case .recovered(let length):
            logger.notice(
                "session-keys.available", "the session issuer's keys can be fetched again",
                metadata: [LogKey.outage: "\(Outage.text(length))"])
        }
    }

    private func reportKeys(_ notice: Outage.Notice) {
        switch notice {
        case .failed:
            logger.error(
                "session-keys.unusable",
                "the session issuer publishes no usable key; its sessions get 503 until it does",
                metadata: [LogKey.detail: "pickup.\(session.name).jwks: \(KeySourceFile.flaw(of: session))"])
        case .recovered(let length):
            logger.notice(
                "session-keys.usable", "the session issuer publishes a usable key again",
                metadata: [LogKey.outage: "\(Outage.text(length))"])
        }
    }
}
