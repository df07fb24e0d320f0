extension JSONValue {
    /// Returns the member `name` of a JWK; nil where it is absent, `null` or an empty array.
    ///
    /// RFC 7517 leaves out members without a value, and some libraries, Microsoft's among them, write every member that
    /// they know: `"x5c": []`, `"oth": null`. Neither has a meaning for the key.
    package func jwkMember(_ name: String) -> JSONValue? {
        guard let member = self[name], !member.isNull, !(member.isArray && member.elements.isEmpty) else { return nil }
        return member
    }
}
