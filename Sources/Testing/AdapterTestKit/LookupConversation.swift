import AdapterKit

/// A conversation between an adapter and its own stub of the vendor. Each must answer the other's messages, and no
/// answer may serve for another user.
struct LookupConversation {
    private let adapter: any StubbedAdapter
    private let terms: LookupTerms
    private let users: [Subject]
    private let key: SigningKey
    private let start: UnixTime

    /// A conversation about `users`; nil where there is no stub.
    ///
    /// - Throws: the error of a key that cannot be made.
    init?(_ adapter: any Adapter, users: [Subject], at start: UnixTime) throws {
        guard let adapter = adapter as? any StubbedAdapter, let terms = adapter.lookupTerms, let user = users.first,
            adapter.stub(StubSetting(authorization: nil)) != nil
        else { return nil }
        self.adapter = adapter
        self.terms = terms
        self.users = users
        self.start = start
        let keyID = adapter.recipe(for: user).needsKeyID ? "key-A" : nil
        key = try SampleKeys.key(adapter.algorithm, keyID: keyID)
    }

    /// Returns every broken promise, a line each.
    ///
    /// - Throws: the error of a token that cannot be made.
    func violations() throws -> [String] {
        try existing() + missing() + refused() + answersOfOthers() + Array(Set(damaged())).sorted()
    }

    // MARK: Conversations

    private struct Turn {
        let response: LookupResponse
        let subjects: [Subject]
    }

    /// Returns the stub's responses to the requests about `subjects`. The requests are so far apart that they meet no
    /// limit.
    private func turns(
        _ subjects: [Subject], _ mode: LookupMode = .verify, gone: [String] = [], unknown: [String] = [],
        credential: String? = nil
    ) throws -> [Turn] {
        let accepted = terms.authorization == .mintedToken ? nil : Self.authorization(terms, token: "")
        let setting = StubSetting(
            authorization: accepted, keys: [key.verificationKey], gone: Set(gone), unknown: Set(unknown))
        guard var stub = adapter.stub(setting), case .requests(let requests) = adapter.lookup(for: subjects, mode: mode)
        else { return [] }
        let pause = Int64(terms.rates.map(\.seconds).max() ?? 1)
        return try requests.enumerated().map { place, request in
            let time = start.advanced(bySeconds: Int64(place) * pause)
            let asked = subjects[request.subjects]
            let token = try asked.first.map { try self.token(for: $0, at: time) } ?? ""
            let answer = stub.answer(
                StubRequest(
                    method: request.method.rawValue, target: request.path,
                    headers: [
                        ("Authorization", credential ?? Self.authorization(terms, token: token)),
                        ("Content-Type", "application/json"),
                    ], body: request.body ?? []), at: time)
            return Turn(response: LookupResponse(status: answer.status, body: answer.body), subjects: Array(asked))
        }
    }

    private static func authorization(_ terms: LookupTerms, token: String) -> String {
        switch terms.authorization {
        case .key(let scheme): "\(scheme) an-api-key"
        case .basic: "Basic dXNlcjpwYXNzd29yZA=="
        case .mintedToken: "Bearer \(token)"
        }
    }

    private func token(for subject: Subject, at time: UnixTime) throws -> String {
        guard terms.authorization == .mintedToken else { return "" }
        let recipe = adapter.recipe(for: subject)
        let token = try TokenMaker(recipe: recipe, key: key).token(for: subject, from: time.seconds)
        return String(decoding: token, as: UTF8.self)
    }

    private func verdicts(_ turns: [Turn]) -> [LookupVerdict] {
        turns.flatMap { adapter.verdicts(from: $0.response, for: $0.subjects) }
    }

    // MARK: The promises

    private func existing() throws -> [String] {
        try [LookupMode.verify, .enrich].flatMap { mode in
            let found = verdicts(try turns(users, mode))
            return found.count == users.count && found.allSatisfy(\.confirms)
                ? [] : ["lookup(mode: .\(mode)): the stub's answer does not confirm every user"]
        }
    }

    /// Checks a user that the vendor does not have, beside one that it has.
    private func missing() throws -> [String] {
        guard let user = users.first else { return [] }
        let pair = [user, user.appending("-2")]
        let found = [
            verdicts(try turns(pair, gone: user.ids)), verdicts(try turns(pair, unknown: user.ids)),
        ]
        return found.allSatisfy { $0.count == 2 && ($0[0] == .gone || $0[0] == .unknown) && $0[1].confirms }
            ? [] : ["a user that the stub does not have is neither gone nor unknown, or is not the only one"]
    }

    private func refused() throws -> [String] {
        let found = verdicts(try turns(users, credential: "Bearer of.nobody.s"))
        let areRefused = found.allSatisfy { verdict in
            if case .unanswered(let failure) = verdict { failure.kind == .misconfigured } else { false }
        }
        return areRefused ? [] : ["a request with other credentials is not refused as misconfigured"]
    }

    /// Checks a good answer with a status that decides nothing, and a good answer about another user.
    private func answersOfOthers() throws -> [String] {
        var violations: Set<String> = []
        for turn in try turns(users) {
            for status in LookupPromises.mutedStatuses {
                let response = LookupResponse(status: status, body: turn.response.body)
                if !adapter.verdicts(from: response, for: turn.subjects).allSatisfy(\.isUnanswered) {
                    violations.insert("verdicts: a status \(status) with a good body is taken for an answer")
                }
            }
        }
        guard let user = users.first else { return violations.sorted() }
        // Two spellings of one letter, a longer id, and another case are other users.
        for (asked, answered) in [("é", "e\u{301}"), ("", "x"), ("x", "X"), ("x", "")] {
            guard let turn = try turns([user.appending(answered)]).first else { continue }
            if adapter.verdicts(from: turn.response, for: [user.appending(asked)]).contains(where: \.confirms) {
                violations.insert("verdicts: an answer about another user confirms one")
            }
        }
        return violations.sorted()
    }

    /// Checks answers damaged on the way. A user that the adapter then confirms must still be in the answer.
    private func damaged() throws -> [String] {
        try turns(users, .enrich).prefix(3).flatMap { turn in
            HostileBodies.damaging(turn.response.body, 300, seed: 0xDA3A6E).flatMap { body -> [String] in
                let response = LookupResponse(status: turn.response.status, body: body)
                let (verdicts, violations) = LookupPromises.check(adapter, response, about: turn.subjects)
                let held = (try? JSONDocument(parsing: body)).map { Self.texts(in: $0.root) } ?? []
                let invented = zip(turn.subjects, verdicts).contains { subject, verdict in
                    verdict.confirms && !subject.ids.contains { held.contains(Array($0.utf8)) }
                }
                return violations + (invented ? ["verdicts: a user is confirmed who is not in the answer"] : [])
            }
        }
    }

    private static func texts(in value: JSONValue) -> Set<[UInt8]> {
        if let text = value.string { return [Array(text.utf8)] }
        return (value.elements + value.members.map(\.value)).reduce(into: []) { $0.formUnion(texts(in: $1)) }
    }
}
