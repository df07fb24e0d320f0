import ArgumentParser
import Foundation
import JWTKit

/// One of the three tokens, minted as jwt-kit's documentation shows it: a collection with the key, filled once, and a
/// payload of typed claims.
struct Mint: Sendable {
    /// The algorithms that the compared vendors ask for.
    enum Algorithm: String, CaseIterable, ExpressibleByArgument {
        case rs256 = "RS256"
        case es256 = "ES256"
        case hs256 = "HS256"
    }

    /// The result of one run.
    struct Run: Sendable {
        var tokens = 0
        var seconds = 0.0
        var sample = ""
    }

    private let algorithm: Algorithm
    private let keys: JWTKeyCollection
    private let users: [String]
    private static let keyID: JWKIdentifier = "bench-1"

    /// More users for each lane than are minted for in ten seconds.
    private static let crowd = 1 << 19

    init(_ algorithm: Algorithm, key: String, lane: Int) async throws {
        self.algorithm = algorithm
        users = (0..<Self.crowd).map { "user-\(100_000 + lane * Self.crowd + $0)" }
        keys = JWTKeyCollection()
        switch algorithm {
        case .rs256: await keys.add(rsa: try Insecure.RSA.PrivateKey(pem: key), digestAlgorithm: .sha256)
        case .es256: await keys.add(ecdsa: try ES256PrivateKey(pem: key))
        case .hs256: await keys.add(hmac: HMACKey(from: key), digestAlgorithm: .sha256, kid: Self.keyID)
        }
    }

    /// Mints for `length`, each token for a user of its own.
    ///
    /// Names and times are made before, as `remint-bench mint` has them: neither is charged for what is not minting.
    @concurrent
    func run(for length: Duration) async throws -> Run {
        // Whole seconds: jwt-kit would write fractions as well.
        let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        var run = Run()
        let start = ContinuousClock.now
        let end = start + length
        repeat {
            run.sample = try await token(for: users[run.tokens % users.count], at: now)
            run.tokens += 1
        } while ContinuousClock.now < end
        run.seconds = (ContinuousClock.now - start) / .seconds(1)
        return run
    }

    /// Lifetimes are the vendors' standard ones.
    private func token(for user: String, at now: Date) async throws -> String {
        switch algorithm {
        case .rs256:
            return try await keys.sign(BrazePayload(user: user, expiresAt: now + 12 * 3600))
        case .es256:
            return try await keys.sign(OneSignalPayload(user: user, expiresAt: now + 3600))
        case .hs256:
            return try await keys.sign(
                InfobipPayload(user: user, issuedAt: now, expiresAt: now + 900), kid: Self.keyID)
        }
    }
}
