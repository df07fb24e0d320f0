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
