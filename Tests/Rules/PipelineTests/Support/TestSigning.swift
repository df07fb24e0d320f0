import AdapterKit
@_spi(Decryption) @_spi(Signing) import JOSE
import Pipeline
import Synchronization
import Testing

/// A signing port over JOSE's own signer, with keys that can be exchanged while it runs.
final class InMemorySigning: SigningPort {
    private struct Entry: Sendable {
        var key: SigningKey
        var reference: SigningKeyReference
    }

    private let entries = Mutex<[String: Entry]>([:])
    private let asked = Mutex<[Int]>([])

    /// The number of signatures that each call requested.
    var calls: [Int] { asked.withLock { $0 } }

    /// Makes `key` the active version of `ring`.
    func activate(_ key: SigningKey, in ring: String, version: String = "2026-11", retireAfter: UnixTime? = nil) {
        let reference = SigningKeyReference(
            ring: ring, version: version, keyID: key.keyID ?? version, algorithm: key.algorithm,
            retireAfter: retireAfter)
        entries.withLock { $0[ring] = Entry(key: key, reference: reference) }
    }

    /// Leaves `ring` without an active version.
    func deactivate(_ ring: String) { entries.withLock { $0[ring] = nil } }

    func activeKey(of ring: String) -> SigningKeyReference? { entries.withLock { $0[ring]?.reference } }

    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        asked.withLock { $0.append(requests.count) }
        let entries = entries.withLock { $0 }
        return requests.map { request in
            guard let key = entries[request.key.ring]?.key, let signature = try? Signer(key).sign(request.input.bytes)
            else {
                return .failure(Rejection(.mintFailed, "no key"))
            }
            return .success(signature)
        }
    }
}

/// A signing port that has every key, with scripted answers.
struct ScriptedSigning: SigningPort {
    var algorithm = Algorithm.rs256
    let answer: @Sendable ([SigningRequest]) -> [Result<[UInt8], Rejection>]

    func activeKey(of ring: String) -> SigningKeyReference? {
        SigningKeyReference(ring: ring, version: "v1", keyID: "v1", algorithm: algorithm, retireAfter: nil)
    }

    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        answer(requests)
    }
}

/// A clock that a test moves.
final class ManualClock: Sendable {
    private let time: Mutex<UnixTime>

    init(_ time: UnixTime) { self.time = Mutex(time) }

    var now: UnixTime {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}

/// SplitMix64: the same numbers from the same seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A recipient of sealed tokens, with the private key that no worker has.
struct SealRecipient: CustomTestStringConvertible, Sendable {
    let key: JWEDecryptionKey
    let seal: TokenSeal

    var testDescription: String { key.algorithm.rawValue }

    init(_ algorithm: KeyManagementAlgorithm, keyID: String = "pickup-1") throws {
        key = try JWEDecryptionKey.generate(algorithm, keyID: keyID)
        seal = try TokenSeal(publicJWK: SecretBytes(copying: key.recipient.publicJSON()))
    }

    /// One of each algorithm, made once.
    static let all = Result { try KeyManagementAlgorithm.allCases.map { try SealRecipient($0) } }

    /// The one of `algorithm`.
    static func of(_ algorithm: KeyManagementAlgorithm) throws -> SealRecipient {
        guard let found = try all.get().first(where: { $0.key.algorithm == algorithm }) else {
            throw Rejection(.mintFailed, "no recipient for \(algorithm)")
        }
        return found
    }

    /// Returns the content of `token`.
    func open(_ token: String) throws -> [UInt8] { try CompactJWE(parsing: Array(token.utf8)).open(with: key) }
}
