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

    /// What came of one run.
    struct Run: Sendable {
        var tokens = 0
        var sample = ""
    }

    private let algorithm: Algorithm
    private let keys: JWTKeyCollection
    private static let keyID: JWKIdentifier = "2026-11"

    init(_ algorithm: Algorithm, key: String) async throws {
        self.algorithm = algorithm
        keys = JWTKeyCollection()
        switch algorithm {
        case .rs256: await keys.add(rsa: try Insecure.RSA.PrivateKey(pem: key), digestAlgorithm: .sha256)
        case .es256: await keys.add(ecdsa: try ES256PrivateKey(pem: key))
        case .hs256: await keys.add(hmac: HMACKey(from: key), digestAlgorithm: .sha256, kid: Self.keyID)
        }
    }

    /// Mints for `length`, each token for a user of its own.
    @concurrent
    func run(lane: Int, for length: Duration) async throws -> Run {
        var run = Run()
        let end = ContinuousClock.now + length
        repeat {
            run.sample = try await token(for: "user-\(lane)-\(run.tokens)")
            run.tokens += 1
        } while ContinuousClock.now < end
        return run
    }

    /// Lifetimes are the vendors' standard ones, times whole seconds: jwt-kit would write fractions as well.
    private func token(for user: String) async throws -> String {
        let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
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
