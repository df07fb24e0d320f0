import AdapterKit

/// The requests to Infobip's People API, and the meaning of its answers ("Get a single person", "Match persons").
struct InfobipLookup {
    /// The largest number of identities in a match. The API's own bound is not documented.
    static let batch = 50

    /// One person by a GET, several by a match.
    ///
    /// An empty identifier would list everyone, so no request names a user without an id: such a user counts to the
    /// users around it, and without any there is nothing to ask.
    func requests(for subjects: [Subject], mode: LookupMode) -> Lookup {
        let ranges = mode == .off ? [] : ranges(of: subjects)
        guard !ranges.isEmpty else { return .none }
        return .requests(
            ranges.map { range in
                let ids = subjects[range].compactMap(Self.identifier)
                guard let id = ids.first, range.count == 1 else {
                    return LookupRequest(
                        method: .post, path: "/people/2/persons/match", body: matchBody(ids), subjects: range)
                }
                return LookupRequest(
                    method: .get,
                    path: "/people/2/persons?identifier=\(PercentEncoding.encoded(id))&type=\(Self.identifierType)",
                    subjects: range)
            })
    }

    /// Returns the verdicts of `response` on a request's `subjects`. Their number shows whether the request was a GET
    /// or a match.
    func verdicts(on response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict] {
        guard let subject = subjects.first, subjects.count == 1 else {
            return matchVerdicts(on: response, for: subjects)
        }
        return [personVerdict(on: response, for: subject)]
    }

    // MARK: The questions

    /// The places of `subjects`, cut so that each part has somebody to ask for and at most as many as a match may hold.
    private func ranges(of subjects: [Subject]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start = 0
        var count = 0
        for (index, subject) in subjects.enumerated() where Self.identifier(subject) != nil {
            if count == Self.batch {
                ranges.append(start..<index)
                (start, count) = (index, 0)
            }
            count += 1
        }
        if count > 0 { ranges.append(start..<subjects.count) }
        return ranges
    }

    /// The user's id where it can be asked for. White space alone counts as empty: a server may trim it.
    private static func identifier(_ subject: Subject) -> String? {
        guard let user = subject.user, !user.unicodeScalars.allSatisfy(\.properties.isWhitespace) else { return nil }
        return user
    }

    private func matchBody(_ ids: [String]) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("identities")
        json.beginArray()
        for id in ids {
            json.beginObject()
            json.member("type", Self.identifierType)
            json.member("identifier", id)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    // MARK: The answers

    /// Returns the verdict on one person. The API's answer for a missing person is not documented: a 404 and somebody
    /// else's person both count as missing. Somebody else is never taken for the user.
    private func personVerdict(on response: LookupResponse, for subject: Subject) -> LookupVerdict {
        switch response.status {
        case 200:
            guard let root = try? JSONDocument(parsing: response.body).root, let named = root["externalId"]?.string
            else {
                return .unanswered(LookupFailure(status: 200))
            }
            return named.hasSameBytes(as: Self.identifier(subject)) ? .exists(Enrichment()) : .unknown
        case 404: return .unknown
        case let status: return .unanswered(LookupFailure(status: status))
        }
    }

    /// A match leaves out the users that it does not find (the specification), so a 404 cannot be about a person. That
    /// it means a wrong endpoint is our reading: the documentation names no such answer. An identity nobody asked for
    /// makes a match's silence worth nothing.
    private func matchVerdicts(on response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict] {
        guard response.status == 200, let matches = matches(in: response.body) else {
            return subjects.map { _ in .unanswered(LookupFailure(status: response.status)) }
        }
        let ids = subjects.map { Self.identifier($0).map { Array($0.utf8) } }
        let asked = Set(ids.compactMap(\.self))
        let answersOthers = matches.contains { $0.type != Self.identifierType || !asked.contains($0.id) }
        let found = Set(matches.filter { $0.type == Self.identifierType }.map(\.id))
        let mismatch = LookupFailure(.mismatched, "the answer names an identity that was not asked for")
        return ids.map { id in
            guard let id else { return .unknown }
            guard !found.contains(id) else { return .exists(Enrichment()) }
            return answersOthers ? .unanswered(mismatch) : .unknown
        }
    }

    /// The identities an answer names; nil where it is not as documented.
    private func matches(in body: [UInt8]) -> [(type: String, id: [UInt8])]? {
        guard let list = (try? JSONDocument(parsing: body).root)?["matches"], list.isArray else { return nil }
        let matches = list.elements.compactMap { match -> (type: String, id: [UInt8])? in
            guard let type = match["type"]?.string, let id = match["identifier"]?.string,
                let person = match["personId"], !person.isNull
            else { return nil }
            return (type, Array(id.utf8))
        }
        return matches.count == list.elements.count ? matches : nil
    }

    private static let identifierType = "EXTERNAL_ID"
}
