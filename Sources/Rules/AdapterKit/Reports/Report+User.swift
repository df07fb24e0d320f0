extension Report {
    /// Returns the user that a report names under one or two spellings of one member, and on every level where a bridge
    /// wraps its object.
    ///
    /// All of them must agree. A report with one name for the checker and another one for the minter would get a token
    /// of another user. So a report that names two users is refused, and so is one with a name in one place and null in
    /// another. Where the edge vouches for a user, it must be the same.
    ///
    /// - Parameters:
    ///   - first: the member's usual name, which details use.
    ///   - second: its other spelling; nil if there is one spelling.
    ///   - levels: the same report as it is around or inside this one.
    public func user(
        _ first: String, _ second: String? = nil, _ third: String? = nil, alsoIn levels: [Report] = []
    ) -> ReportedUser {
        var agreed = spellings(first, second, third)
        for level in levels {
            let other = level.spellings(first, second, third)
            guard let here = agreed, let there = other else { return .namesTwo }
            agreed = here.agreeing(with: there)
        }
        guard let agreed else { return .namesTwo }
        return ReportedUser(agreed, name: first, vouched: vouched)
    }

    private func spellings(_ first: String, _ second: String?, _ third: String?) -> ReportField? {
        guard let agreed = field(first).agreeing(with: second.map(field) ?? .absent) else { return nil }
        return third.map { agreed.agreeing(with: field($0)) } ?? agreed
    }
}

extension ReportedUser {
    /// A report whose members name different users.
    public static let namesTwo = ReportedUser.unusable(.namesTwoUsers)
}

extension Rejection {
    /// A report whose members name different users, or a user and nobody.
    public static let namesTwoUsers = Rejection(
        .malformedReport, "the report names two different users; send one, exactly as the SDK named it")
}

extension ReportField {
    /// Returns the value that two spellings of one member have in common: either, where the other is absent; nil where
    /// they differ. Texts are compared byte for byte.
    public func agreeing(with other: ReportField) -> ReportField? {
        switch (self, other) {
        case (.absent, let field), (let field, .absent): field
        case (.null, .null): self
        case (.text(let left), .text(let right)): left.hasSameBytes(as: right) ? self : nil
        case (.integer(let left), .integer(let right)): left == right ? self : nil
        default: nil
        }
    }
}
