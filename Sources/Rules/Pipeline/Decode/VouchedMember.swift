import AdapterKit

/// The place in a record for the user that the edge has authenticated.
///
/// Each form has one place for it. A record with the user in any other place, or with a duplicate, is refused: its
/// writer meant it to count, and to ignore it would answer for another user.
struct VouchedMember {
    private static let limits = JSONDocument.Limits(bytes: 16 << 10, depth: 8)

    private let headers: EventHeaders
    private let header: EventHeaders.Name?

    /// Reads the record with `headers`, which may have the user in the header `allowedHeader` only.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`.
    init(in headers: EventHeaders, allowedHeader header: EventHeaders.Name?) throws(Rejection) {
        self.headers = headers
        self.header = header
        // The header of a raw report, and the extension attribute in CloudEvents' binary mode.
        try Self.check(.vouched, in: headers, allowed: header)
        try Self.check(.cloudVouched, in: headers, allowed: header)
    }

    private static func check(
        _ name: EventHeaders.Name, in headers: EventHeaders, allowed: EventHeaders.Name?
    ) throws(Rejection) {
        let count = headers.count(of: name)
        guard count == 0 || count == 1 && name == allowed else {
            throw Rejection(
                .malformedEvent, "the header \(name.text) is not where this form of event has it, or is there twice")
        }
    }

    /// The header's value; nil without the header.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`.
    var value: JSONValue? {
        get throws(Rejection) {
            guard let header, headers.has(header) else { return nil }
            guard let text = headers.text(header) else { throw Self.unreadable }
            return try Self.parse(text)
        }
    }

    /// Returns the value of `member`: an object, or its JSON as a string, because CloudEvents' attributes are strings;
    /// nil if it is missing or null.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`.
    func value(_ member: JSONValue?) throws(Rejection) -> JSONValue? {
        guard let member, !member.isNull else { return nil }
        guard let text = member.string else { return member }
        return try Self.parse(text)
    }

    private static func parse(_ text: String) throws(Rejection) -> JSONValue {
        do throws(JSONError) { return try JSONDocument(parsing: Array(text.utf8), limits: limits).root } catch {
            throw unreadable
        }
    }

    private static let unreadable = Rejection(.malformedEvent, "\"vouched\" is not the JSON of an object")
}
