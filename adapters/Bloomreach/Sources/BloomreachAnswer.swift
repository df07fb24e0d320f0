import AdapterKit

/// Bloomreach's answer to a request for a customer's ids.
///
/// Failures come in several shapes, which are all read: `error` as a string, `errors` as a list, as an object of lists by
/// place (`_global`) or as one of `code` and `description`, for the whole answer or in a result (the tests of
/// exponea-python-sdk). A confirmation has one shape.
struct BloomreachAnswer {
    private let status: Int
    private let isEmpty: Bool
    private let root: JSONValue?

    init(_ response: LookupResponse) {
        status = response.status
        isEmpty = response.body.isEmpty
        root = (try? JSONDocument(parsing: response.body).root).flatMap { $0.isObject ? $0 : nil }
    }

    /// Returns the verdict on the customer with these ids, which were asked for in this order.
    func verdict(on ids: [Subject.Identifier]) -> LookupVerdict {
        guard !ids.isEmpty else {
            return .unanswered(LookupFailure(.misconfigured, "a subject without customer ids cannot be asked about"))
        }
        let errors = BloomreachErrors(root)
        if errors.sayUnknown || (status == 404 && isNotFound(errors)) { return .unknown }
        guard (200...299).contains(status) else { return .unanswered(failure(errors)) }
        guard let root, root["success"]?.bool == true, let results = root["results"], results.isArray,
            results.elements.count == ids.count
        else { return .unanswered(failure(errors)) }
        for (id, result) in zip(ids, results.elements) {
            if let failure = doubt(about: id, result) { return .unanswered(failure) }
        }
        return .exists(Enrichment())
    }

    /// Whether a 404 is Bloomreach's own and about the customer. A gateway's page proves nothing about anybody.
    private func isNotFound(_ errors: BloomreachErrors) -> Bool {
        isEmpty || (root?["success"]?.bool == false && !errors.sayRefused)
    }

    private func failure(_ errors: BloomreachErrors) -> LookupFailure {
        if (200...299).contains(status), errors.sayRefused { return Self.refused }
        if status == 404 {
            return LookupFailure(
                .misconfigured, "status 404 without a word of the customer; check endpoint and lookup_project")
        }
        return LookupFailure(status: status)
    }

    // MARK: One result

    /// Returns the reason that `result` does not confirm `id`; nil where it does.
    private func doubt(about id: Subject.Identifier, _ result: JSONValue) -> LookupFailure? {
        guard result.isObject, let success = result["success"]?.bool else { return LookupFailure(status: status) }
        guard success else {
            return BloomreachErrors(result).sayRefused
                ? Self.refused : LookupFailure(.unreadable, "a result failed for a reason that is not documented")
        }
        guard let value = result["value"] else { return LookupFailure(status: status) }
        return Self.holds(value, id.value)
            ? nil : LookupFailure(.mismatched, "the answer's customer does not have every id that was asked for")
    }

    /// A hard id is a string. An id of which a customer may have several (a soft one) comes as a list.
    private static func holds(_ value: JSONValue, _ id: String) -> Bool {
        if let text = value.string { return text.hasSameBytes(as: id) }
        return value.elements.contains { $0.string?.hasSameBytes(as: id) == true }
    }

    private static let refused = LookupFailure(
        .misconfigured, "the API key may not read the customer's ids, or is not this project's")
}

/// The error texts of an answer or of one of its results, wherever they stand.
struct BloomreachErrors {
    private let texts: [String]

    /// The errors in `object`, and in its `results`.
    init(_ object: JSONValue?) {
        guard let object else {
            texts = []
            return
        }
        let places = [object] + (object["results"]?.elements ?? [])
        texts = places.flatMap { place in
            [place["error"], place["errors"]].flatMap { $0.map(Self.texts) ?? [] }
        }
    }

    /// Whether one of them reports that there is no such customer.
    var sayUnknown: Bool { texts.contains { $0 == "customer does not exist" || $0 == "customer does not exist." } }

    /// Whether one of them reports that the key lacks a right, or is none.
    var sayRefused: Bool {
        texts.contains { text in
            ["no permission", "not authorized", "access key", "project"].contains { has(text, $0) }
        }
    }

    private func has(_ text: String, _ words: String) -> Bool { text.utf8.firstRange(of: words.utf8) != nil }

    /// Every string in `value`, however deep; the parser limits how deep that is.
    private static func texts(in value: JSONValue) -> [String] {
        if let text = value.string { return [text.lowercased()] }
        return value.elements.flatMap(texts) + value.members.flatMap { texts(in: $0.value) }
    }
}
