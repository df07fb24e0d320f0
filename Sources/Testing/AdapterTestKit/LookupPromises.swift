import AdapterKit

/// The promises of an adapter's look-up, checked: its requests, and its verdicts on answers that nobody should send.
/// `LookupConversation` checks its talk with the vendor's stub.
struct LookupPromises {
    private let adapter: any LookupAdapter
    /// The users of the fixtures, and as many others as fill three requests, some of them with ids that are hard to write.
    private let crowd: [Subject]

    init(_ adapter: any LookupAdapter, users: [Subject]) {
        self.adapter = adapter
        guard let user = users.first else {
            crowd = []
            return
        }
        let others = Self.hardIDs + (0..<(2 * (adapter.lookupTerms?.batch ?? 1) + 1)).map { "-\($0)" }
        crowd = users + others.map(user.appending)
    }

    /// Returns every broken promise, a line each.
    func violations() -> [String] {
        guard let terms = adapter.lookupTerms else { return withoutTerms() }
        return check(terms) + LookupMode.allCases.flatMap { requests($0, terms) } + hostileAnswers(terms)
    }

    /// Parts of ids that must be escaped, encoded or kept as they are.
    static let hardIDs = [
        "\"", "\\", "'", "\n", "\r\n", "\t", "\u{0}", "\u{1F}", "\u{7F}", "\u{85}", "\u{2028}", "é", "e\u{301}",
        "\u{1F511}", " ", "/", "//", "/../", "?", "#", "%", "%2F", "%zz", "&x=1", "+", "=", ";", "{id}",
        String(repeating: "x", count: 300),
    ]

    // MARK: Terms

    private func withoutTerms() -> [String] {
        var violations: [String] = []
        if LookupMode.allCases.contains(where: { adapter.lookup(for: crowd, mode: $0) != .none }) {
            violations.append("lookup asks although there are no lookupTerms")
        }
        if (adapter as? any StubbedAdapter)?.stub(StubSetting(authorization: nil)) != nil {
            violations.append("there is a stub although there are no lookupTerms")
        }
        return violations
    }

    private func check(_ terms: LookupTerms) -> [String] {
        var violations: [String] = []
        if let endpoint = terms.endpoint {
            let host = endpoint.dropFirst("https://".count)
            if !endpoint.hasPrefix("https://") || host.isEmpty || host.contains(where: { "/?#@".contains($0) }) {
                violations.append("lookupTerms: the endpoint is not https:// and a host alone")
            }
        }
        if terms.rates.isEmpty { violations.append("lookupTerms: no rate, so nothing keeps the vendor's limit") }
        if terms.timeout < 1 { violations.append("lookupTerms: a time limit of \(terms.timeout) s") }
        if terms.authorization == .mintedToken, terms.batch > 1 {
            violations.append("lookupTerms: a minted token is one user's, so a request cannot be about several")
        }
        return violations
    }

    // MARK: Requests

    private func requests(_ mode: LookupMode, _ terms: LookupTerms) -> [String] {
        let lookup = adapter.lookup(for: crowd, mode: mode)
        guard lookup == adapter.lookup(for: crowd, mode: mode) else {
            return ["lookup(mode: .\(mode)) differs the second time"]
        }
        if case .requests(let requests) = adapter.lookup(for: [], mode: mode), !requests.isEmpty {
            return ["lookup(mode: .\(mode)) asks about nobody"]
        }
        guard case .requests(let requests) = lookup else {
            return mode == .off || crowd.isEmpty ? [] : ["lookup(mode: .\(mode)) asks nothing"]
        }
        if mode == .off { return ["lookup(mode: .off) asks"] }
        var violations: [String] = []
        if requests.flatMap(\.subjects) != Array(crowd.indices) {
            violations.append(
                "lookup(mode: .\(mode)) does not ask about each user in exactly one request, in their order")
        }
        if requests.contains(where: { $0.subjects.isEmpty || $0.subjects.count > terms.batch }) {
            violations.append("lookup(mode: .\(mode)) asks about no user or more than \(terms.batch) in a request")
        }
        return violations + Set(requests.flatMap(form)).sorted().map { "lookup(mode: .\(mode)): \($0)" }
    }

    /// Returns the faults of a request as HTTP.
    private func form(of request: LookupRequest) -> [String] {
        var violations: [String] = []
        if !request.path.hasPrefix("/") || request.path.hasPrefix("//") {
            violations.append("a path does not begin with one slash")
        }
        if !request.path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) {
            violations.append("a path is not percent-encoded")
        }
        switch request.method {
        case .get: if request.body != nil { violations.append("a GET has a body") }
        case .post:
            if (try? JSONDocument(parsing: request.body ?? [])) == nil {
                violations.append("a POST's body is not JSON")
            }
            if request.body?.contains(where: { $0 < 0x20 }) == true {
                violations.append("a body holds a control character")
            }
        }
        return violations
    }

    // MARK: Answers

    /// Statuses that prove nothing about a user, whatever the body.
    static let mutedStatuses = [302, 401, 429, 500, 503]

    private func hostileAnswers(_ terms: LookupTerms) -> [String] {
        let asked = Array(crowd.prefix(terms.batch))
        let statuses = [200, 201, 202, 204, 400, 403, 404, 408, 409, 0, -1, 99, 600, .max, .min] + Self.mutedStatuses
        let answers =
            statuses.flatMap { status in HostileBodies.all.map { LookupResponse(status: status, body: $0) } }
            + [200, 404].flatMap { status in
                HostileBodies.random(200, seed: 0xB0D1E5).map { LookupResponse(status: status, body: $0) }
            }
        return Set(answers.flatMap { hostile($0, about: asked) }).sorted()
    }

    /// Checks that an unreadable answer counts as none: it neither confirms nor denies a user.
    private func hostile(_ response: LookupResponse, about users: [Subject]) -> [String] {
        var (verdicts, violations) = Self.check(adapter, response, about: users)
        let status = response.status
        if status == 200 || Self.mutedStatuses.contains(status), !verdicts.allSatisfy(\.isUnanswered) {
            violations.append("verdicts: a status \(status) with a body of nobody's is taken for an answer")
        }
        if verdicts.contains(where: \.confirms) { violations.append("verdicts: a body of nobody's confirms a user") }
        return violations
    }

    /// Returns the verdicts, and the broken promises that hold for every answer. There is a verdict for each user, the
    /// second call returns the same, and no detail for a log names a user.
    static func check(_ adapter: any LookupAdapter, _ response: LookupResponse, about users: [Subject])
        -> (verdicts: [LookupVerdict], violations: [String])
    {
        let verdicts = adapter.verdicts(from: response, for: users)
        var violations: [String] = []
        if verdicts.count != users.count { violations.append("verdicts: not one for each user") }
        if verdicts != adapter.verdicts(from: response, for: users) {
            violations.append("verdicts: they differ the second time")
        }
        if !adapter.verdicts(from: response, for: []).isEmpty { violations.append("verdicts: one about nobody") }
        let details = verdicts.compactMap { verdict -> String? in
            if case .unanswered(let failure) = verdict { failure.detail } else { nil }
        }
        for detail in Set(details) {
            if detail.isEmpty { violations.append("verdicts: a failure without a detail") }
            if users.contains(where: { $0.ids.contains { $0.utf8.count > 3 && detail.contains($0) } }) {
                violations.append("verdicts: a failure's detail shows a user")
            }
        }
        return (verdicts, violations)
    }
}

extension LookupVerdict {
    var confirms: Bool {
        if case .exists = self { true } else { false }
    }

    var isUnanswered: Bool {
        if case .unanswered = self { true } else { false }
    }
}

extension Subject {
    /// The user's ids without their names.
    var ids: [String] {
        switch identity {
        case .user(let user): [user]
        case .identifiers(let ids): ids.map(\.value)
        }
    }

    /// Returns another subject: every id ends with `suffix`.
    func appending(_ suffix: String) -> Subject {
        switch identity {
        case .user(let user): Subject(user: user + suffix, challenge: challenge)
        case .identifiers(let ids): Subject(identifiers: ids.map { .init(name: $0.name, value: $0.value + suffix) })
        }
    }
}
