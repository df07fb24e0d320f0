import AdapterKit

/// The place in a record for the user that the edge has authenticated.
///
/// Each form has one place for it. A record with the user in any other place, or with a duplicate, is refused: its
/// writer meant it to count, and to ignore it would answer for another user.
enum VouchedMember {
    private static let limits = JSONDocument.Limits(bytes: 16 << 10, depth: 8)

    /// Checks that no header names the user except the header `allowed`.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`.
    private static func checkHeaders(_ headers: EventHeaders, allowed: EventHeaders.Name?) throws(Rejection) {
        // The header of a raw report, and the extension attribute in CloudEvents' binary mode.
        try check(.vouched, in: headers, allowed: allowed)
        try check(.cloudVouched, in: headers, allowed: allowed)
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

    /// Returns the value of the header `header`, where the record with `headers` has the user; nil without the header.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`.
    static func value(of header: EventHeaders.Name, in headers: EventHeaders) throws(Rejection) -> JSONValue? {
        try checkHeaders(headers, allowed: header)
        guard headers.has(header) else { return nil }
        guard let text = headers.text(header) else { throw unreadable }
        return try parse(text)
    }

    /// Returns the value of `member`, where the record has the user: an object, or its JSON as a string, because
    /// CloudEvents' attributes are strings; nil if it is missing or null.
    ///
    /// - Throws: `Rejection` with `.malformedEvent`.
    static func value(_ member: JSONValue?, besides headers: EventHeaders) throws(Rejection) -> JSONValue? {
        try checkHeaders(headers, allowed: nil)
        guard let member, !member.isNull else { return nil }
        guard let text = member.string else { return member }
        return try parse(text)
    }

    private static func parse(_ text: String) throws(Rejection) -> JSONValue {
        do throws(JSONError) { return try JSONDocument(parsing: Array(text.utf8), limits: limits).root } catch {
            throw unreadable
        }
    }

    private static let unreadable = Rejection(.malformedEvent, "\"vouched\" is not the JSON of an object")
}
