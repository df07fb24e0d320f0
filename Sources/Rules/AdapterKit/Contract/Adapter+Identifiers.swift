// The one place that checks a user's id, for every adapter and every way to name a user. The pipeline, the gateway and the commands
// call these three functions; nothing else calls an adapter's own.
extension Adapter {
    /// Reads `report` and checks the id that it names against `identifiers`.
    ///
    /// - Returns: the adapter's reading; a rejection with `.malformedReport` where that user may have no token.
    public func reading(of report: Report) -> Reading {
        let reading = read(report)
        guard let refusal = reading.refusal(by: identifiers) else { return reading }
        return .rejected(Rejection(.malformedReport, refusal))
    }

    /// Returns the user that the edge vouches for, where a token may be for that user.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`.
    public func user(vouchedBy members: JSONValue) throws(Rejection) -> VouchedUser {
        let user = try vouchedUser(members)
        if let refusal = identifiers.refusal(of: user.subject) {
            throw Rejection(.malformedEvent, "\"vouched\": \(refusal)")
        }
        return user
    }

    /// Returns the subject that an operator or the edge names, where a token may be for that subject.
    ///
    /// - Throws: `Rejection` as `subject(reissuing:)`, and with `.malformedReport` where no token may be for that subject.
    public func user(reissuing user: JSONValue) throws(Rejection) -> Subject {
        let subject = try subject(reissuing: user)
        if let refusal = identifiers.refusal(of: subject) {
            throw Rejection(.malformedReport, "\"reissue\": \(refusal)")
        }
        return subject
    }
}

extension Adapter {
    /// Returns the refusal of a token where `vouched` lacks a member that the vendor's tokens need; nil where nothing is
    /// missing. The user of an event that vouches for nobody is nil.
    public func refusalOfMissingMembers(in vouched: VouchedUser?) -> Rejection? {
        (vouched?.missing ?? requiredVouched).first.map(Rejection.missingVouched)
    }
}

extension Reading {
    /// Returns the reason that the user it calls for a token of may have none by `rule`; nil where there is none.
    fileprivate func refusal(by rule: IdentifierRule) -> String? {
        guard case .failure(let failure) = self, let subject = failure.subject else { return nil }
        if case .notForUs = failure.remedy { return nil }
        return rule.refusal(of: subject)
    }
}
