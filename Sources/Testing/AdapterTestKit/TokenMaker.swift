public import AdapterKit
@_spi(Signing) import JOSE
import Synchronization

/// Makes tokens of one recipe with one key: good ones, and corrupted ones for the conformance suite.
public struct TokenMaker: Sendable {
    /// The recipe.
    public let recipe: Recipe
    /// The key.
    public let key: SigningKey
    /// The members that the edge vouches for: those of every token that is given no others.
    private let grants: Enrichment

    /// A maker of `recipe`'s tokens with `key`, which contain the members `grants`.
    public init(recipe: Recipe, key: SigningKey, grants: Enrichment = Enrichment()) {
        self.recipe = recipe
        self.key = key
        self.grants = grants
    }

    /// Returns a good token for `subject` that lives from `issuedAt` to `expiresAt`, in seconds since 1970; with the
    /// standard lifetime where no end is given.
    ///
    /// - Throws: the error of the recipe or of libcrypto.
    public func token(for subject: Subject, from issuedAt: Int64, to expiresAt: Int64? = nil) throws -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        let life = Validity(from: issuedAt, to: expiresAt ?? issuedAt + recipe.lifetime.standard)
        return try token(for: subject, valid: life, random: &random)
    }

    /// Returns a token for `subject` that lives for `life`, contains the members of `enrichment`, and takes its ids
    /// from `random`.
    ///
    /// - Throws: the error of the recipe or of libcrypto.
    public func token(
        for subject: Subject, valid life: Validity, adding enrichment: Enrichment? = nil,
        random: inout some RandomNumberGenerator
    ) throws -> [UInt8] {
        let form = try TokenForm(recipe, keyID: key.keyID, valid: life)
        return try sign(form.signingInput(for: subject, adding: enrichment ?? grants, random: &random), with: key)
    }

    func token(header: String, claims: String) throws -> [UInt8] {
        try token(header: header, claims: claims, signedWith: key)
    }

    /// Returns a maker with a key that the vendor does not have, under the id of one that it has.
    func withNewKey() throws -> TokenMaker {
        TokenMaker(
            recipe: recipe, key: try SampleKeys.key(recipe.algorithm, keyID: key.keyID, of: .stranger), grants: grants)
    }

    /// Returns the same content, properly signed with an algorithm that the vendor does not accept and a key that it
    /// does not have.
    func signedWithOtherAlgorithm(_ header: String, _ claims: String) throws -> [UInt8] {
        let other: Algorithm = recipe.algorithm == .hs384 ? .hs256 : .hs384
        let header = header.split(separator: "\"\(recipe.algorithm.rawValue)\"", omittingEmptySubsequences: false)
            .joined(separator: "\"\(other.rawValue)\"")
        return try token(
            header: header, claims: claims, signedWith: SampleKeys.key(other, keyID: key.keyID, of: .stranger))
    }

    private func token(header: String, claims: String, signedWith key: SigningKey) throws -> [UInt8] {
        let encodedHeader = Array(Base64.url.encode(Array(header.utf8)).utf8)
        // A key of the day is that of the day in the token's time of issue.
        let issuedAt = try? JSONDocument(parsing: Array(claims.utf8)).root["iat"]?.integer
        let label = issuedAt.flatMap { recipe.derivation?.label(at: $0) }
        return try sign(
            SigningInput(encodedHeader: encodedHeader, keyLabel: label) { $0.append(Array(claims.utf8)) }, with: key)
    }

    private func sign(_ input: SigningInput, with key: SigningKey) throws -> [UInt8] {
        let signature = try Signer(key).sign(input)
        return input.token(signature: signature)
    }
}

/// Keys that the suites of a process share: making one for RSA takes longer than all checks of a token.
package enum SampleKeys {
    /// A key that the vendor has, or one that it does not have.
    package enum Owner { case vendor, stranger }

    private struct Name: Hashable {
        let algorithm: Algorithm
        let owner: Owner
    }

    private static let made = Mutex<[Name: SigningKey]>([:])

    /// Returns the key of `owner` for `algorithm`, under the id `keyID`.
    ///
    /// - Throws: `JOSEError` if it cannot be made.
    package static func key(
        _ algorithm: Algorithm, keyID: String?, of owner: Owner = .vendor
    ) throws(JOSEError) -> SigningKey {
        let name = Name(algorithm: algorithm, owner: owner)
        if let key = made.withLock({ $0[name] }) { return key.named(keyID) }
        let fresh = try SigningKey.generate(algorithm)
        return made.withLock { made in
            defer { made[name] = made[name] ?? fresh }
            return made[name] ?? fresh
        }.named(keyID)
    }
}
