extension JSONValue {
    /// The member `name` of a JWK; nil where it is absent, `null` or an empty array.
    ///
    /// RFC 7517 leaves out members without a value, and some libraries, Microsoft's among them, write every member they know:
    /// `"x5c": []`, `"oth": null`. Neither says anything about the key.
    package func jwkMember(_ name: String) -> JSONValue? {
        guard let member = self[name], !member.isNull, !(member.isArray && member.elements.isEmpty) else { return nil }
        return member
    }
}
