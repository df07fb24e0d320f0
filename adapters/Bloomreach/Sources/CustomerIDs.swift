import AdapterKit

/// The ids a token may name, out of those a report holds.
struct CustomerIDs {
    /// The id of an installation, not of a customer.
    static let softID = "cookie"
    /// More ids are nobody's customer. Remint's own bound; projects define a handful.
    private static let most = 32

    /// The customer, or nil where no id is left: an anonymous one.
    let subject: Subject?

    /// Keeps the ids that are there and that tokens may hold: those named in `allowed`, or all but the soft one where every id
    /// is asked for. Others are left out, as a device may know ids that the event stream must not see signed.
    ///
    /// - Parameter needsHardID: whether the soft id alone makes no customer.
    /// - Throws: `Rejection` with `.malformedReport` for an id that is no string, and more than 32 ids.
    init(_ object: JSONValue, allowing allowed: [String]?, needsHardID: Bool) throws(Rejection) {
        var identifiers: [Subject.Identifier] = []
        for (name, value) in object.members where !value.isNull {
            guard Self.mayName(name, allowed) else { continue }
            guard let id = value.string else { throw Self.malformed("a customer id is not a string") }
            if !id.isEmpty { identifiers.append(.init(name: name, value: id)) }
        }
        guard identifiers.count <= Self.most else {
            throw Self.malformed("there are more than \(Self.most) customer ids")
        }
        let names = identifiers.contains { $0.name != Self.softID || !needsHardID }
        subject = names ? Subject(identifiers: identifiers) : nil
    }

    /// Whether a token may name an id of this name.
    private static func mayName(_ name: String, _ allowed: [String]?) -> Bool {
        allowed?.contains { $0.hasSameBytes(as: name) } ?? (name != softID)
    }

    private static func malformed(_ detail: String) -> Rejection { Rejection(.malformedReport, detail) }
}

extension CustomerIDs {
    /// The vouched customer with all vouched ids, where `reported` names no other: each id that it names must be vouched
    /// for, value for value.
    ///
    /// - Throws: `Rejection` with `.identityMismatch`.
    static func subject(
        _ reported: JSONValue?, vouchedFor: VouchedUser, allowing allowed: [String]?
    ) throws(Rejection) -> Subject {
        guard case .identifiers(let vouched) = vouchedFor.subject.identity else { throw .identityMismatch }
        for (name, value) in reported?.members ?? [] {
            guard let id = value.string, !id.isEmpty else { continue }
            if let known = vouched.first(where: { $0.name.hasSameBytes(as: name) }) {
                guard known.value.hasSameBytes(as: id) else { throw .identityMismatch }
            } else if mayName(name, allowed) {
                throw .identityMismatch
            }
        }
        return vouchedFor.subject
    }
}
