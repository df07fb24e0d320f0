package import AdapterKit

/// Ids of an attacker who wants another user's token, or one for every user.
///
/// Each id goes through a report, a vouched user and a re-issue. The result is a refusal, or a token that contains
/// exactly that id in the vendor's place and is the same as a harmless user's everywhere else.
package struct HostileIdentifiers: Sendable {
    private let adapter: any Adapter
    private let now: UnixTime
    /// The recorded reports that name the sample.
    private let reports: [[UInt8]]
    /// A user the adapter takes from a batch job or a report.
    private let sample: Subject
    /// The members that the edge vouches for in every token.
    private let grants: Enrichment

    /// The ids.
    package static let all: [String] =
        [
            "*", "#", "+", "", " ", "   ", "exp", "iat", "sub", "aud", "user", "grants", ".", "..", "../x", "%2F",
            "%2e%2e", "a/b",
            "/", "//evil.example/x", "https://api.knock.app/v1/users/x", "a?b=c", "a#b", "a&b", "a=b", "a,b", "a:b",
            "a;b", "a@b",
            "\u{0}", "a\u{0}b", "a\nb", "a\r\nX: y", "a\tb", "\u{7F}", "a\u{85}b", "a\u{9F}", "\u{202E}nimda",
            "\u{200B}",
            "\u{FEFF}u", "\u{2028}", "é", "e\u{301}", "🦊", "👩‍👩‍👧‍👦", "{{user}}", "{{settings.key}}", "${user}", "%s", "\"",
            "\\",
            "\\u0000", "\",\"exp\":9999999999,\"x\":\"", "'", "null", "undefined", "NULL", "NaN", "Infinity", "true",
            "0", "-1", "1e3",
            "007", "[]", "{}", "[\"a\"]", "<script>", "' OR 1=1 --", "$(id)", "a.b.c",
        ] + [String(repeating: "x", count: 100_000), String(repeating: "🦊", count: 1025)]

    /// An id that no vendor refuses and that needs no encoding anywhere.
    private static let harmless = "u-7f3a9c"

    /// A suite for `adapter`, whose tokens contain `grants`; nil where no user is known that it mints for.
    package init?(
        _ adapter: any Adapter, reports: [[UInt8]], users: [Subject], at now: UnixTime,
        grants: Enrichment = Enrichment()
    ) {
        self.grants = grants
        guard let sample = users.first else { return nil }
        self.adapter = adapter
        self.reports = reports.filter { bytes in
            guard let root = try? JSONDocument(parsing: bytes).root,
                case .failure(let failure) = adapter.reading(of: Report(root, observedAt: now))
            else { return false }
            return failure.remedy.mints && failure.subject?.withoutChallenge == sample.withoutChallenge
        }
        self.sample = sample
        self.now = now
    }

    /// Returns every broken promise, a line each.
    ///
    /// - Throws: the error that keeps the suite from running: a key that cannot be made, a harmless user without a
    ///   token.
    package func violations() throws -> [String] {
        let recipe = adapter.recipe(for: sample)
        let maker = TokenMaker(
            recipe: recipe, key: try SampleKeys.key(recipe.algorithm, keyID: recipe.needsKeyID ? "key-A" : nil),
            grants: grants)
        let plain = try token(maker, subject(Self.harmless))
        var violations: [String] = []
        for id in Self.all {
            let wanted = subject(id)
            for (way, outcome) in outcomes(of: id) {
                switch outcome {
                case .refused: continue
                case .named(let subject):
                    guard subject == wanted else {
                        violations.append("\(way): the id \(Self.shown(id)) became another one")
                        continue
                    }
                    // A refusal is right here too: the name of another claim, for instance.
                    guard let token = try? token(maker, subject) else { continue }
                    violations += differences(of: token, from: plain, id).map {
                        "\(way), the id \(Self.shown(id)): \($0)"
                    }
                }
            }
        }
        return violations
    }

    // MARK: Three ways to name a user

    private enum Outcome {
        case refused
        case named(Subject)
    }

    private func outcomes(of id: String) -> [(way: String, outcome: Outcome)] {
        var outcomes: [(String, Outcome)] = []
        for report in reports {
            guard let reported = Self.replacingUser(of: report, sample, with: id) else { continue }
            outcomes.append(("report", outcome(adapter.reading(of: Report(reported, observedAt: now)))))
        }
        let members = parse(user(id, named: "user"))
        do throws(Rejection) {
            let vouched = try adapter.user(vouchedBy: members)
            outcomes.append(("vouched", .named(Subject(copying: vouched.subject, challenge: sample.challenge))))
        } catch { outcomes.append(("vouched", .refused)) }
        if sample.challenge == nil {
            outcomes.append(("reissue", outcome(Reissue.read(members, for: adapter))))
        }
        return outcomes
    }

    private func outcome(_ reading: Reading) -> Outcome {
        guard case .failure(let failure) = reading, failure.remedy.mints, let subject = failure.subject else {
            return .refused
        }
        // Reports hold challenges of their own.
        return .named(Subject(copying: subject, challenge: sample.challenge))
    }

    private func subject(_ id: String) -> Subject {
        switch sample.identity {
        case .user: Subject(user: id, challenge: sample.challenge)
        case .identifiers(let identifiers):
            Subject(identifiers: identifiers.map { Subject.Identifier(name: $0.name, value: id) })
        }
    }

    /// Returns `{"user":…}`, or `{"ids":{…}}` with the id under each name.
    private func user(_ id: String, named name: String) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        switch sample.identity {
        case .user: json.member(name, id)
        case .identifiers(let identifiers):
            json.name("ids")
            json.beginObject()
            for identifier in identifiers { json.member(identifier.name, id) }
            json.endObject()
        }
        json.endObject()
        return json.bytes
    }

    private func parse(_ bytes: [UInt8]) -> JSONValue {
        do { return try JSONDocument(parsing: bytes).root } catch {
            // Reached only where this suite writes JSON that is none, which no caller can make it do and no test could go on from.
            preconditionFailure("written by this suite: \(error)")
        }
    }

    /// Returns `report` with the sample's ids replaced by `id`; nil where it names the sample nowhere.
    private static func replacingUser(of report: [UInt8], _ sample: Subject, with id: String) -> JSONValue? {
        guard let root = try? JSONDocument(parsing: report).root else { return nil }
        let ids: Set<[UInt8]> =
            switch sample.identity {
            case .user(let user): [Array(user.utf8)]
            case .identifiers(let identifiers): Set(identifiers.map { Array($0.value.utf8) })
            }
        var count = 0
        var json = JSONWriter()
        func copy(_ value: JSONValue) {
            if value.isObject {
                json.beginObject()
                for member in value.members {
                    json.name(member.name)
                    copy(member.value)
                }
                json.endObject()
            } else if value.isArray {
                json.beginArray()
                for element in value.elements { copy(element) }
                json.endArray()
            } else if let text = value.string, ids.contains(Array(text.utf8)) {
                count += 1
                json.string(id)
            } else {
                json.raw(value.json)
            }
        }
        copy(root)
        return count == 0 ? nil : try? JSONDocument(parsing: json.bytes).root
    }

    // MARK: Tokens

    private func token(_ maker: TokenMaker, _ subject: Subject) throws -> [UInt8] {
        var random = SplitMix64(seed: 7)
        let life = Validity(from: now.seconds, to: now.seconds + maker.recipe.lifetime.standard)
        return try maker.token(for: subject, valid: life, random: &random)
    }

    /// Returns the differences between `token` and `plain`, a harmless user's token, besides `id` in that user's place.
    private func differences(of token: [UInt8], from plain: [UInt8], _ id: String) -> [String] {
        let found = TokenInspection(token), expected = TokenInspection(plain)
        guard found.partCount == 3, let header = found.header, let claims = found.claims,
            let plainHeader = expected.header, let plainClaims = expected.claims
        else { return ["the token has no header or no claims that can be read"] }
        var differences: [String] = []
        if header.json != plainHeader.json { differences.append("the header is another") }
        differences += Self.compare(claims, with: plainClaims, id, at: "claims")
        if adapter.tokensNameUser, adapter.subject(named: claims) != subject(id) {
            differences.append("the claims name another subject")
        }
        return differences
    }

    private static func compare(
        _ found: JSONValue, with expected: JSONValue, _ id: String, at place: String
    ) -> [String] {
        if expected.isObject {
            let left = found.members, right = expected.members
            guard found.isObject, left.count == right.count else { return ["\(place) has other members"] }
            return zip(left, right).flatMap { left, right in
                isSame(left.name, as: right.name, id)
                    ? compare(left.value, with: right.value, id, at: "\(place).\(right.name)")
                    : ["\(place) has another member in place of \(right.name)"]
            }
        }
        if expected.isArray {
            let left = found.elements, right = expected.elements
            guard found.isArray, left.count == right.count else { return ["\(place) has other elements"] }
            return zip(left, right).flatMap { compare($0, with: $1, id, at: place) }
        }
        guard let text = expected.string else { return found.json == expected.json ? [] : ["\(place) is another"] }
        guard let actual = found.string else { return ["\(place) is no text"] }
        // JSON within a string is compared as JSON.
        if text.contains(harmless), text.first == "{" || text.first == "[", let inside = Report.parse(text) {
            guard let found = Report.parse(actual) else { return ["the JSON in \(place) cannot be read"] }
            return compare(found, with: inside, id, at: place)
        }
        return isSame(actual, as: text, id) ? [] : ["\(place) is another text"]
    }

    /// Returns whether `text` is `expected` with `id` in place of the harmless id: as it is, or percent-encoded behind
    /// two slashes.
    private static func isSame(_ text: String, as expected: String, _ id: String) -> Bool {
        let parts = expected.split(separator: harmless, omittingEmptySubsequences: false)
        guard parts.count > 1 else { return text.hasSameBytes(as: expected) }
        let written = parts[0].contains("//") ? PercentEncoding.encoded(id) : id
        return text.hasSameBytes(as: parts.joined(separator: written))
    }

    /// Returns the id for people: short, and without characters that a terminal would act on.
    private static func shown(_ id: String) -> String {
        "\"" + id.unicodeScalars.prefix(24).map { $0.escaped(asASCII: true) }.joined() + "\""
    }
}

extension Subject {
    /// `subject` with `challenge`, where it has a single id.
    fileprivate init(copying subject: Subject, challenge: String?) {
        self = subject.user.map { Subject(user: $0, challenge: challenge) } ?? subject
    }
}
