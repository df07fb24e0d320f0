public import AdapterKit
@_spi(Signing) import JOSE

/// Makes tokens of one recipe with one key, good ones and, for the conformance suite, others.
public struct TokenMaker: Sendable {
    /// The recipe.
    public let recipe: Recipe
    /// The key.
    public let key: SigningKey

    /// A maker of `recipe`'s tokens with `key`.
    public init(recipe: Recipe, key: SigningKey) {
        self.recipe = recipe
        self.key = key
    }

    /// A good token for `subject` that lives from `issuedAt` to `expiresAt`, in seconds since 1970; as long as is
    /// standard where no end is given.
    ///
    /// - Throws: what the recipe or libcrypto refuses.
    public func token(for subject: Subject, from issuedAt: Int64, to expiresAt: Int64? = nil) throws -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        let life = Validity(from: issuedAt, to: expiresAt ?? issuedAt + recipe.lifetime.standard)
        let form = try TokenForm(recipe, keyID: key.keyID, valid: life)
        return try sign(form.signingInput(for: subject, random: &random), with: key)
    }

    func token(header: String, claims: String) throws -> [UInt8] {
        try token(header: header, claims: claims, signedWith: key)
    }

    /// The token of a key the vendor does not hold, under the id of one it does.
    func withNewKey() throws -> TokenMaker {
        TokenMaker(recipe: recipe, key: try SigningKey.generate(recipe.algorithm, keyID: key.keyID))
    }

    /// The same content, properly signed with an algorithm the vendor does not take and a key it does not hold.
    func signedWithOtherAlgorithm(_ header: String, _ claims: String) throws -> [UInt8] {
        let other: Algorithm = recipe.algorithm == .hs384 ? .hs256 : .hs384
        let header = header.split(separator: "\"\(recipe.algorithm.rawValue)\"", omittingEmptySubsequences: false)
            .joined(separator: "\"\(other.rawValue)\"")
        return try token(header: header, claims: claims, signedWith: SigningKey.generate(other, keyID: key.keyID))
    }

    private func token(header: String, claims: String, signedWith key: SigningKey) throws -> [UInt8] {
        let encodedHeader = Array(Base64.url.encode(Array(header.utf8)).utf8)
        return try sign(SigningInput(encodedHeader: encodedHeader, payload: Array(claims.utf8)), with: key)
    }

    private func sign(_ input: SigningInput, with key: SigningKey) throws -> [UInt8] {
        let signature = try Signer(key).sign(input)
        return input.token(signature: signature)
    }
}
