import AdapterKit

/// Bloomreach's verdict on a token: a status, and for an expired stream token the flag that names it.
struct BloomreachVerifier {
    let mode: BloomreachSettings.Mode
    let keys: [VerificationKey]

    func verdict(on token: [UInt8], expecting subject: Subject, at time: UnixTime) -> VendorVerdict {
        guard !token.isEmpty else { return .refused(code: "401", name: "TOKEN_NOT_PROVIDED") }
        let inspection = TokenInspection(token)
        // The key is chosen by `kid`: a token without one, or with one nobody knows, has no key.
        guard inspection.partCount == 3, let keyID = inspection.header?["kid"]?.string,
            inspection.isSigned(byAnyOf: keys.filter { $0.keyID == keyID && $0.algorithm == mode.recipe.algorithm }),
            let claims = inspection.claims, let ids = claims[mode.subjectClaim], holds(ids, subject),
            let expiresAt = inspection.time("exp")
        else { return Self.rejected }
        guard expiresAt > time.seconds else {
            return mode == .stream ? .refused(code: "401", name: "TOKEN_EXPIRED") : Self.rejected
        }
        return .accepted
    }

    private static let rejected = VendorVerdict.refused(code: "401", name: "TOKEN_REJECTED")

    /// Strings only, and they are this customer's: all of them, but for the soft id where the customer is not known by it. A
    /// customer token must hold another than that.
    private func holds(_ ids: JSONValue, _ subject: Subject) -> Bool {
        let expectsSoft = BloomreachAttributes.ids(of: subject).contains { $0.name == CustomerIDs.softID }
        var held: [Subject.Identifier] = []
        for (name, value) in ids.members {
            guard let id = value.string else { return false }
            if name != CustomerIDs.softID || expectsSoft { held.append(.init(name: name, value: id)) }
        }
        guard held.contains(where: { mode == .stream || $0.name != CustomerIDs.softID }) else { return false }
        return Subject(identifiers: held) == subject
    }
}

extension BloomreachSettings.Mode {
    var subjectClaim: String { self == .stream ? "ids" : "sub" }
}
