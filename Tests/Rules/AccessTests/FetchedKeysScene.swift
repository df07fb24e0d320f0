import Access
import JOSE
import Testing

struct Down: Error {}

/// Keys that are fetched by hand, and who asks for them.
struct Scene: Sendable {
    let clock = ManualClock()
    let fetch = ManualCall<Int, KeySetDocument>()
    let pause = ManualCall<Duration, Void>()
    let keys: FetchedKeys
    let verifier: SessionVerifier
    let old: SigningKey
    let new: SigningKey

    init() throws {
        keys = FetchedKeys(
            algorithms: SampleIssuer.rules.algorithms, now: { [clock] in clock.now },
            pause: { [pause] in try await pause.make($0) }, fetch: { [fetch] in try await fetch.make(0) })
        verifier = SessionVerifier(rules: SampleIssuer.rules, keys: keys)
        old = try SampleIssuer.key(.es256, "old")
        new = try SampleIssuer.key(.es256, "new")
    }

    /// Runs `body` beside the fetching, whose first answer is `first`; nil leaves it open.
    func run(_ first: Result<KeySetDocument, any Error>?, _ body: (Scene) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await keys.run() }
            _ = await fetch.next()
            if let first {
                fetch.answer(first)
                // Waits for what was answered, if need be.
                _ = await keys.keys(for: "old")
            }
            try await body(self)
            group.cancelAll()
        }
    }

    func published(_ keys: SigningKey...) throws -> Result<KeySetDocument, any Error> {
        .success(KeySetDocument(bytes: try SampleIssuer.document(keys)))
    }

    /// A set without a usable key, each in a way of its own.
    static let unusableSets = [
        #"{"keys":[]}"#, #"{"keys":[{}]}"#, #"{"keys":[{"kty":"oct","k":"AAAA","alg":"HS256","kid":"old"}]}"#,
        #"{"keys":[{"kty":"EC","crv":"P-256","use":"enc","kid":"old","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#,
    ]

    /// Returns the outcome of a session of `key`, where its keys are waited for until `deadline`.
    func outcome(_ key: SigningKey, until deadline: ContinuousClock.Instant? = nil) async -> String {
        do throws(AccessRefusal) {
            return try await verifier.verify(
                (try? SampleIssuer.session(key)) ?? [], now: SampleIssuer.now, until: deadline
            ).user(by: "sub") ?? "nobody"
        } catch {
            guard case .later(let wait) = error.answer else { return error.reason.rawValue }
            return "\(error.reason.rawValue), later \(wait.components.seconds)"
        }
    }

    /// The outcomes of `count` sessions of `key` that all wait by the time the returned task group goes on.
    func outcomes(
        _ callers: [(key: SigningKey, count: Int)], while answer: () async throws -> Void
    ) async throws -> [String: Int] {
        try await withThrowingTaskGroup(of: String.self) { group in
            for (key, count) in callers {
                for _ in 0..<count { group.addImmediateTask { await outcome(key) } }
            }
            try await answer()
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }
}
