import AdapterKit
import Foundation
@_spi(Signing) package import JOSE
import Keyring

/// Tokens made one after the other as the worker makes them, and libcrypto's part of that alone.
package struct MintLoop: Sendable {
    package let app: BenchApp
    package let key: SigningKey
    /// The bytes that are signed for a token.
    private let sample: [UInt8]

    /// - Parameter file: the key's file; nil for a new key.
    package init(_ app: BenchApp, key file: String?) throws {
        self.app = app
        key = try file.map { try Self.read($0, app.algorithm) } ?? app.generateKey()
        var minting = try Minting(app, key)
        sample = try minting.input(for: 123_456).bytes
    }

    private static func read(_ file: String, _ algorithm: Algorithm) throws -> SigningKey {
        let bytes = try KeyFile.read(file)
        return algorithm.keyType == .secret
            ? try SigningKey(secret: bytes, algorithm: algorithm, keyID: "bench-1")
            : try SigningKey(pem: bytes, algorithm: algorithm, keyID: "bench-1")
    }

    /// Returns the work: one token of one user after the other.
    package func work() throws -> Throughput.Work {
        var minting = try Minting(app, key)
        let signer = try Signer(key)
        let subjects = (0..<4096).map { Subject(user: "user-\(100_000 + $0)") }
        return { times in try minting.tokens(times, of: subjects.span, with: signer) }
    }

    /// Signatures of the same bytes.
    package func limit() throws -> Throughput.Work {
        let signer = try BareSigner(key)
        return { [sample] times in try signer.sign(sample, times: times) }
    }

    /// The part of minting that comes before the signature.
    private struct Minting {
        private let form: TokenForm
        private var random = BufferedRandom()
        private var user = 0

        init(_ app: BenchApp, _ key: SigningKey) throws {
            let recipe = app.adapter.recipe(for: Subject(user: "user-0"))
            let life = Validity(from: 1_790_000_000, to: 1_790_003_600)
            form = try TokenForm(recipe, keyID: key.keyID, valid: life)
        }

        mutating func tokens(_ times: Int, of subjects: Span<Subject>, with signer: Signer) throws {
            for _ in 0..<times {
                user = (user + 1) % subjects.count
                _ = try signer.token(form.signingInput(for: subjects[user], random: &random))
            }
        }

        mutating func input(for user: Int) throws -> SigningInput {
            try form.signingInput(for: Subject(user: "user-\(user)"), random: &random)
        }
    }
}
