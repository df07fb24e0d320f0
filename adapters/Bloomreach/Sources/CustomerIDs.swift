import AdapterKit

/// The ids a token may name, out of those a report holds.
struct CustomerIDs {
    /// The customer, or nil where no id is left: an anonymous one.
    let subject: Subject?

    /// Keeps the ids that are there, are not soft and are allowed.
    init(_ object: JSONValue, allowing allowed: [String]?) throws(Rejection) {
        var identifiers: [Subject.Identifier] = []
        for (name, value) in object.members where name != BloomreachReport.softID && !value.isNull {
            if let allowed, !allowed.contains(name) { continue }
            guard let id = value.string else {
                throw Rejection(.malformedReport, "a customer id is not a string")
            }
            if !id.isEmpty { identifiers.append(.init(name: name, value: id)) }
        }
        subject = identifiers.isEmpty ? nil : Subject(identifiers: identifiers)
    }
}

extension CustomerIDs {
    /// The customer whom `reported` names, where it names nobody but the one who is vouched for.
    ///
    /// Each id that the report names must be vouched for, value for value; where it names none, or none that is a text, the
    /// vouched ids are the customer's.
    ///
    /// - Throws: `Rejection` with `.identityMismatch`.
    static func subject(
        _ reported: JSONValue?, vouchedFor: VouchedUser, allowing allowed: [String]?
    ) throws(Rejection) -> Subject {
        guard case .identifiers(let vouched) = vouchedFor.subject.identity else { throw .identityMismatch }
        var agreed: [Subject.Identifier] = []
        for (name, value) in reported?.members ?? [] {
            guard let id = value.string, !id.isEmpty else { continue }
            if let known = vouched.first(where: { $0.name.hasSameBytes(as: name) }) {
                guard known.value.hasSameBytes(as: id) else { throw .identityMismatch }
                agreed.append(known)
            } else if isNamed(name, allowed) {
                throw .identityMismatch
            }
        }
        return agreed.isEmpty ? vouchedFor.subject : Subject(identifiers: agreed)
    }

    /// Whether a token may name an id of this name.
    private static func isNamed(_ name: String, _ allowed: [String]?) -> Bool {
        allowed?.contains { $0.hasSameBytes(as: name) } ?? (name != BloomreachReport.softID)
    }
}
