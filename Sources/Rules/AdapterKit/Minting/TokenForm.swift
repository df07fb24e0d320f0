/// A recipe filled in as far as the tokens of one key and one life are the same. The subject, a look-up's members and
/// ids are still to be filled in. Thousands of tokens share one form, so it is a reference.
public final class TokenForm: Sendable {
    /// The recipe that the form fills in.
    public let recipe: Recipe
    /// The life of its tokens.
    public let life: Validity
    private let encodedHeader: [UInt8]
    /// The label from which the signing key is derived; nil where the ring's key signs.
    private let keyLabel: [UInt8]?
    private let keyID: String?
    /// The claims without the times, from which the next second's are made, and with them.
    private let template: ClaimsTemplate
    private let claims: ClaimsTemplate

    /// The form of `recipe`'s tokens that are signed by the key named `keyID` and live for `life`.
    ///
    /// - Throws: `Rejection` with `.keyUnavailable` when header or claims name the key and the key has no id.
    public convenience init(_ recipe: Recipe, keyID: String?, valid life: Validity) throws(Rejection) {
        guard keyID != nil || !recipe.needsKeyID else {
            throw Rejection(.keyUnavailable, "the vendor's tokens name their key, and the key has no id")
        }
        self.init(
            recipe, keyID, try recipe.encodedHeader(keyID: keyID, issuedAt: life.issuedAt),
            ClaimsTemplate(recipe.claims, keyID: keyID ?? ""), life)
    }

    private init(
        _ recipe: Recipe, _ keyID: String?, _ encodedHeader: [UInt8], _ template: ClaimsTemplate, _ life: Validity
    ) {
        self.recipe = recipe
        self.keyID = keyID
        self.life = life
        keyLabel = recipe.derivation?.label(at: life.issuedAt)
        self.encodedHeader = encodedHeader
        self.template = template
        claims = template.valid(life)
    }

    /// Returns the same form with another life, at a small part of the cost.
    public func valid(_ life: Validity) -> TokenForm {
        // A header that could be made once can be made for another day.
        let dated = recipe.hasDatedHeader ? try? recipe.encodedHeader(keyID: keyID, issuedAt: life.issuedAt) : nil
        return TokenForm(recipe, keyID, dated ?? encodedHeader, template, life)
    }

    /// Returns the signing input of a token.
    ///
    /// - Parameters:
    ///   - subject: the token's subject.
    ///   - enrichment: the members that a look-up added.
    ///   - isFinishedInPlace: whether to leave room for the signature; false where the signature is put behind the
    ///     input elsewhere.
    ///   - random: the source of ids.
    /// - Throws: `Rejection` with `.mintFailed` when the subject lacks a value that a claim needs.
    public func signingInput(
        for subject: Subject, adding enrichment: Enrichment = Enrichment(), isFinishedInPlace: Bool = true,
        random: inout some RandomNumberGenerator
    ) throws(Rejection) -> SigningInput {
        var failure: Rejection?
        let input = SigningInput(
            encodedHeader: encodedHeader, keyLabel: keyLabel, isFinishedInPlace: isFinishedInPlace
        ) {
            failure = claims.write(subject, enrichment, to: &$0, random: &random)
        }
        if let failure { throw failure }
        return input
    }

    /// Returns the claims of a token, as JSON.
    ///
    /// - Throws: as `signingInput`.
    public func claims(
        for subject: Subject, adding enrichment: Enrichment = Enrichment(), random: inout some RandomNumberGenerator
    ) throws(Rejection) -> [UInt8] {
        var failure: Rejection?
        let json = ByteWriter.bytes { failure = claims.write(subject, enrichment, to: &$0, random: &random) }
        if let failure { throw failure }
        return json
    }
}
