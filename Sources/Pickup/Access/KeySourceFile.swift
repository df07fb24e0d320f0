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

    /// The time of a fetch, from the connection to the last byte.
    private static let timeout = Duration.seconds(5)

    /// The keys of `session`, which nobody has fetched yet.
    ///
    /// - Parameters:
    ///   - timeout: the longest time of a fetch.
    ///   - authorities: the authorities that the issuer's certificate is checked against; nil for the system's.
    init(
        _ session: Configuration.Pickup.Session, timeout: Duration = KeySourceFile.timeout,
        trusting authorities: TrustedAuthorities? = nil, logger: Logger
    ) {
        self.session = session
        let place = session.keySet
        let journal = FetchJournal(logger)
        keys = FetchedKeys(
            algorithms: session.algorithms, times: KeySetTimes(coolDown: session.coolDown), now: { .now },
            pause: { try await Task.sleep(for: $0) },
            fetch: { try await Self.fetch(place, trusting: authorities, within: timeout) },
            ended: { journal.record($0) })
    }

    /// Whether `other` has the same keys, fetched in the same way.
    func isOf(_ other: Configuration.Pickup.Session) -> Bool {
        session.keySet == other.keySet && session.algorithms == other.algorithms && session.coolDown == other.coolDown
    }

    /// Fetches what is asked for, until the task is cancelled.
    func run() async { await keys.run() }

    /// The JWK Set in the file `path`. Others may read the file, but not change it: whoever can write it signs sessions for
    /// everybody.
    ///
    /// - Throws: `PickupError`.
    static func document(in path: String) throws(PickupError) -> [UInt8] {
        do throws(GuardedFileError) {
            return try GuardedFile.read(path, .instructions, limit: KeySet.mostBytes).withBytes { Array($0) }
        } catch { throw PickupError("pickup.session.jwks: \(error.path) \(error.message)") }
    }

    /// Gets the keys of `session` once.
    ///
    /// - Returns: what they are, in a line.
    /// - Throws: `PickupError` where there is none that verifies its sessions.
    static func look(at session: Configuration.Pickup.Session, within limit: Duration) async throws(PickupError)
        -> String
    {
        let document = try await fetch(session.keySet, trusting: nil, within: limit)
        do throws(KeySetError) {
            let set = try KeySet(parsing: document.bytes, algorithms: session.algorithms)
            return "\(set.count) \(set.count == 1 ? "key" : "keys")"
        } catch { throw PickupError(error.description) }
    }

    private static func fetch(
        _ place: String, trusting authorities: TrustedAuthorities?, within limit: Duration
    ) async throws(PickupError) -> KeySetDocument {
        guard place.contains("://") else { return KeySetDocument(bytes: try Self.document(in: place), maxAge: nil) }
        // Said again here, where the request is made: keys that came in plain text are anybody's.
        guard let url = try? EndpointURL(parsing: String(place.prefix { $0 != "?" })), url.isEncrypted || url.isLoopback
        else { throw PickupError("pickup.session.jwks must be an https URL, or a file") }
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

/// Reports that the issuer's keys cannot be had, once in each outage and for each reason, and that they can be had again.
private final class FetchJournal: Sendable {
    private let outage = Mutex(Outage())
    private let epoch = ContinuousClock.now
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func record(_ failure: (any Error)?) {
        let now = ContinuousClock.now - epoch
        let notice = outage.withLock { outage in
            failure.map { outage.failed("\($0)", at: now) } ?? outage.succeeded(at: now)
        }
        switch notice {
        case .failed(let reason):
            logger.error(
                "the session issuer's keys cannot be fetched; the known ones are used for a day, and it is tried again",
                metadata: [LogKey.detail: "\(reason)"])
        case .recovered(let length):
            logger.notice(
                "the session issuer's keys can be fetched again",
                metadata: [LogKey.outage: "\(Outage.text(length))"])
        case nil: break
        }
    }
}
