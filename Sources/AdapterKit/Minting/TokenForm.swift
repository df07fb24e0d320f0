/// A recipe filled in as far as the tokens of one key are the same: what is left is the subject, the times, what a look-up
/// added, and ids. Thousands of tokens share one, so it is a reference.
public final class TokenForm: Sendable {
    /// What is filled in.
    public let recipe: Recipe
    private let encodedHeader: [UInt8]
    private let template: ClaimsTemplate

    /// The form of `recipe`'s tokens that are signed by the key named `keyID`.
    ///
    /// - Throws: `Rejection` with `.keyUnavailable` when the header names the key and the key has no id.
    public init(_ recipe: Recipe, keyID: String?) throws(Rejection) {
        encodedHeader = try recipe.encodedHeader(keyID: keyID)
        template = ClaimsTemplate(recipe.claims)
        self.recipe = recipe
    }

    /// What is to be signed for one token.
    ///
    /// - Parameters:
    ///   - subject: whom it is for.
    ///   - life: how long it lives.
    ///   - enrichment: what a look-up added.
    ///   - random: where ids come from.
    /// - Throws: `Rejection` with `.mintFailed` when the subject lacks what a claim needs.
    public func signingInput(
        for subject: Subject, living life: TokenLife, adding enrichment: Enrichment = Enrichment(),
        random: inout some RandomNumberGenerator
    ) throws(Rejection) -> SigningInput {
        var failure: Rejection?
        let input = SigningInput(encodedHeader: encodedHeader) {
            failure = template.write(subject, life, enrichment, to: &$0, random: &random)
        }
        if let failure { throw failure }
        return input
    }

    /// The claims of one token, as JSON.
    ///
    /// - Throws: as `signingInput`.
    public func claims(
        for subject: Subject, living life: TokenLife, adding enrichment: Enrichment = Enrichment(),
        random: inout some RandomNumberGenerator
    ) throws(Rejection) -> [UInt8] {
        var failure: Rejection?
        let claims = ByteWriter.bytes {
            failure = template.write(subject, life, enrichment, to: &$0, random: &random)
        }
        if let failure { throw failure }
        return claims
    }
}
