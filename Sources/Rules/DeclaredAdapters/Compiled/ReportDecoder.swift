import AdapterKit

/// Reads reports of one app by a file's rules.
struct ReportDecoder: Sendable {
    private let vendor: String
    private let rules: ReportRules
    private let codes: CodeTable
    private let unknown: DeclaredCode?
    private let missing: DeclaredCode?
    private let userPlace: ClaimPlace?
    /// The members that must be the app's own, with the reason for the refusal of another value.
    private let belongings: [(paths: [ReportPath], value: String, otherwise: String)]

    init(_ description: VendorDescription, _ settings: [String: SettingValue], userPlace: ClaimPlace?) {
        vendor = description.vendor
        rules = description.report
        codes = CodeTable(description.codes)
        unknown = description.codes.unknown
        missing = description.codes.missing ?? description.codes.unknown
        self.userPlace = userPlace
        belongings = description.report.belongings.compactMap { belonging in
            settings[belonging.setting].map { (belonging.paths, $0.text, belonging.otherwise) }
        }
    }

    func reading(of report: Report) -> Reading {
        guard let wrapping = rules.wrapping else { return reading(of: report, alsoIn: []) }
        var levels = wrapping.levels(of: report)
        let read = levels.count > 1 ? levels.remove(at: 1) : levels.removeFirst()
        return reading(of: read, alsoIn: levels)
    }

    private func reading(of report: Report, alsoIn levels: [Report]) -> Reading {
        guard report.root.isObject else { return malformed("the report is not a JSON object") }
        let shape = shape(of: report)
        let finding = codes.finding(in: report, shape)
        if isStranger(report, levels, shape, finding) {
            return malformed("the report has no code of \(vendor)'s SDKs; is it another vendor's?")
        }
        let code: DeclaredCode
        switch finding {
        case .code(let known): code = known
        case .notACode: return malformed("the code is no \(shape.codeType.rawValue)")
        case .unknown:
            guard let unknown else { return malformed("a code that \(vendor) has not documented") }
            code = unknown
        case .missing:
            guard let missing else { return malformed("the report has no code of \(vendor)'s SDKs") }
            code = missing
        }
        for belonging in belongings {
            if let reported = belonging.paths.field(in: report).text, !reported.hasSameBytes(as: belonging.value) {
                return malformed(belonging.otherwise)
            }
        }
        switch user(in: report, levels, shape) {
        case .unusable(let rejection): return .rejected(rejection)
        case .anonymous:
            return .failure(
                AuthenticationFailure(
                    subject: nil, reason: code.name, evidence: code.evidence,
                    remedy: .notForUs(rules.anonymous), failedToken: hash(in: report, shape)))
        case .identified(let id): return failure(of: id, code, report, shape)
        }
    }

    private func shape(of report: Report) -> ReportShape {
        // The last one has no conditions.
        for shape in rules.shapes.dropLast() where shape.conditions.allSatisfy({ $0.holds(in: report) }) {
            return shape
        }
        return rules.shapes[rules.shapes.count - 1]
    }

    private func malformed(_ detail: String) -> Reading { .rejected(Rejection(.malformedReport, detail)) }

    // MARK: Whose it is

    private func isStranger(
        _ report: Report, _ levels: [Report], _ shape: ReportShape, _ finding: CodeTable.Finding
    ) -> Bool {
        let isKnown = if case .code = finding { true } else { false }
        let isMissing = if case .missing = finding { true } else { false }
        return rules.strangers.contains { signs in
            signs.allSatisfy { sign in
                switch sign {
                case .noCode: isMissing
                case .noKnownCode: !isKnown
                case .noUser: namesNobody(report, levels, shape)
                case .otherMembers: report.hasMembers(besides: rules.members)
                }
            }
        }
    }

    private func namesNobody(_ report: Report, _ levels: [Report], _ shape: ReportShape) -> Bool {
        ([report] + levels).allSatisfy { level in shape.user.allSatisfy { $0.value(in: level) == nil } }
    }

    /// Returns the user under all spellings and on every level, which must agree.
    private func user(in report: Report, _ levels: [Report], _ shape: ReportShape) -> ReportedUser {
        guard var agreed = agreed(in: report, shape) else { return .namesTwo }
        for level in levels {
            guard let there = self.agreed(in: level, shape), let both = agreed.agreeing(with: there) else {
                return .namesTwo
            }
            agreed = both
        }
        let name = shape.user[0].names[shape.user[0].names.count - 1]
        return ReportedUser(agreed, name: name, vouched: report.vouched)
    }

    private func agreed(in report: Report, _ shape: ReportShape) -> ReportField? {
        var agreed = ReportField.absent
        for path in shape.user {
            var field = path.field(in: report)
            if field == .absent { continue }
            if let text = field.text, shape.nobody.contains(text) { field = .null }
            guard let both = agreed.agreeing(with: field) else { return nil }
            agreed = both
        }
        return agreed
    }

    // MARK: What it calls for

    private func failure(of user: String, _ code: DeclaredCode, _ report: Report, _ shape: ReportShape) -> Reading {
        var challenge: String?
        if !shape.challenge.isEmpty {
            switch shape.challenge.field(in: report) {
            case .text(let nonce): challenge = nonce
            case .absent, .null:
                return .rejected(Rejection(.missingChallenge, "the report has no \"\(shape.challenge[0].text)\""))
            default: return malformed("\"\(shape.challenge[0].text)\" is no nonce")
            }
        }
        let token = shape.token.field(in: report).text.flatMap { shape.noToken.contains($0) ? nil : $0 }
        let isPassed = shape.passed.contains { $0.value(in: report)?.flag == true }
        var remedy = code.remedy
        if let own = code.ownTokenRemedy, let token,
            let named = userPlace?.text(in: TokenInspection(Array(token.utf8)).claims),
            user.hasSameBytes(as: named)
        {
            remedy = own
        }
        // A request that the vendor admitted is no sign of a loop.
        if isPassed, remedy == .mintOnce { remedy = .mint }
        var evidence = code.evidence
        if evidence == .key {
            for path in shape.message { evidence = evidence.given(text: path.field(in: report).text) }
        }
        return .failure(
            AuthenticationFailure(
                subject: Subject(user: user, challenge: challenge), reason: code.name, evidence: evidence,
                remedy: remedy, signerRemedies: code.signerRemedies,
                failedToken: token.map { FailedToken($0) } ?? hash(in: report, shape),
                hadNoToken: code.hadNoToken, isEnforced: !isPassed && !code.isAhead,
                deadline: deadline(in: report, shape)))
    }

    private func hash(in report: Report, _ shape: ReportShape) -> FailedToken? {
        guard !shape.tokenHash.isEmpty else { return nil }
        return shape.tokenHash.field(in: report).text.flatMap(TokenHash.init(text:)).map(FailedToken.hash)
    }

    /// Returns the earlier one of the report's own deadline and the end of a token's use.
    private func deadline(in report: Report, _ shape: ReportShape) -> UnixTime? {
        let said = shape.deadline?.time(in: report)
        guard let seconds = shape.usefulFor else { return said }
        // A clock that runs ahead must not stretch a deadline.
        let observed = shape.time?.time(in: report).map { min($0, report.observedAt) } ?? report.observedAt
        let end = observed.advanced(bySeconds: seconds)
        return said.map { min($0, end) } ?? end
    }
}

extension Wrapping {
    /// Returns the report and the objects wrapped in it, outermost first; the second one is the SDK's own.
    func levels(of report: Report) -> [Report] {
        var levels = [isText ? report.root.string.flatMap(Report.parse).map(report.with(root:)) ?? report : report]
        var level = levels[...]
        for _ in 0..<depth {
            let inside = level.flatMap { outer in
                names.compactMap { outer.root[$0].flatMap(object).map(outer.with(root:)) }
            }
            levels += inside
            level = inside[...]
        }
        return levels
    }

    /// Returns the object in `value`, also where `value` is its text; nil where there is none.
    private func object(_ value: JSONValue) -> JSONValue? {
        if value.isObject { return value }
        guard isText, let inside = value.string.flatMap(Report.parse), inside.isObject else { return nil }
        return inside
    }
}

/// A vendor's codes, so that a report is asked for the code it holds and not for each there is.
struct CodeTable: Sendable {
    /// A way to match, in the order of the file.
    private struct Candidate: Sendable {
        let order: Int
        let code: DeclaredCode
        let message: String
        let conditions: [ReportCondition]
    }

    /// The result of a search for a report's code.
    enum Finding {
        case code(DeclaredCode)
        /// A code that the file does not know.
        case unknown
        case missing
        /// Something that is no code.
        case notACode
    }

    private var numbers: [Int64: [Candidate]] = [:]
    private var ranges: [(range: ClosedRange<Int64>, candidate: Candidate)] = []
    private var texts: [String: [Candidate]] = [:]
    /// The candidates by their names in upper case; empty where case matters.
    private var foldedTexts: [String: [Candidate]] = [:]
    private var byMessage: [Candidate] = []
    private var always: DeclaredCode?

    init(_ rules: CodeRules) {
        var order = 0
        for code in rules.codes {
            for match in code.matches {
                add(
                    Candidate(order: order, code: code, message: match.message, conditions: match.conditions),
                    for: match.value, ignoringCase: rules.ignoresCase)
                order += 1
            }
        }
        for number in numbers.keys {
            numbers[number]? += ranges.filter { $0.range.contains(number) }.map(\.candidate)
            numbers[number]?.sort { $0.order < $1.order }
        }
    }

    private mutating func add(_ candidate: Candidate, for value: CodeMatch.Value, ignoringCase: Bool) {
        switch value {
        case .numbers(let range) where range.count == 1: numbers[range.lowerBound, default: []].append(candidate)
        case .numbers(let range): ranges.append((range, candidate))
        case .text(let text):
            texts[text, default: []].append(candidate)
            if ignoringCase { foldedTexts[text.uppercased(), default: []].append(candidate) }
        case .any: byMessage.append(candidate)
        case .always: always = candidate.code
        }
    }

    func finding(in report: Report, _ shape: ReportShape) -> Finding {
        if shape.code.isEmpty, byMessage.isEmpty, let always { return .code(always) }
        let field = shape.code.field(in: report)
        if field.isNothing {
            return first(of: byMessage, in: report, shape).map { .code($0) } ?? always.map { .code($0) } ?? .missing
        }
        switch shape.codeType {
        case .number where field.integerValue == nil: return .notACode
        case .text where field.text == nil: return .notACode
        default: break
        }
        let code =
            first(of: candidates(for: field), in: report, shape) ?? first(of: byMessage, in: report, shape) ?? always
        return code.map { .code($0) } ?? .unknown
    }

    private func candidates(for field: ReportField) -> [Candidate] {
        if let number = field.integerValue {
            if let known = numbers[number] { return known }
            if !ranges.isEmpty {
                let found = ranges.filter { $0.range.contains(number) }.map(\.candidate)
                if !found.isEmpty { return found }
            }
        }
        guard let text = field.text else { return [] }
        if let known = texts[text] { return known }
        return foldedTexts.isEmpty ? [] : foldedTexts[text.uppercased()] ?? []
    }

    private func first(of candidates: [Candidate], in report: Report, _ shape: ReportShape) -> DeclaredCode? {
        for candidate in candidates {
            if candidate.conditions.isEmpty, candidate.message.isEmpty { return candidate.code }
            guard candidate.conditions.allSatisfy({ $0.holds(in: report) }) else { continue }
            if candidate.message.isEmpty { return candidate.code }
            if let text = shape.message.field(in: report).text, text.utf8.count <= 4096,
                text.lowercased().contains(candidate.message)
            {
                return candidate.code
            }
        }
        return nil
    }
}

extension ReportPath {
    /// Returns the value at the path's end; nil where there is none.
    func value(in report: Report) -> JSONValue? {
        guard names.count > 1 else { return report.root[names[0]] }
        var value = report.root
        for name in names {
            guard let inside = value[name] else { return nil }
            value = inside
        }
        return value
    }

    func field(in report: Report) -> ReportField {
        guard names.count > 1 else { return report.field(names[0]) }
        var outer = report.root
        for name in names.dropLast() {
            guard let inside = outer[name] else { return .absent }
            outer = inside
        }
        return report.with(root: outer).field(names[names.count - 1])
    }
}

extension [ReportPath] {
    /// Returns the first field that holds a value; else the first one that is present, as null; else absent.
    func field(in report: Report) -> ReportField {
        var found = ReportField.absent
        for path in self {
            let field = path.field(in: report)
            if !field.isNothing { return field }
            if found == .absent { found = field }
        }
        return found
    }
}

extension ReportCondition {
    /// Returns whether the condition is met in `report`. A value that is no text counts as absent, unless the condition
    /// names its digits or its word.
    func holds(in report: Report) -> Bool {
        let value = path.value(in: report)
        guard !values.isEmpty else { return value != nil }
        var word: String?
        if let text = value?.string, !text.isEmpty {
            word = text
        } else if let written = value?.reportedInteger.map({ String($0) }) ?? value?.bool.map({ String($0) }),
            values.contains(written)
        {
            word = written
        }
        return values.contains { wanted in
            if let wanted { word.map { wanted.hasSameBytes(as: $0) } ?? false } else { word == nil }
        }
    }
}

extension ReportTime {
    /// Returns the time in `report`; nil where there is none of that form.
    func time(in report: Report) -> UnixTime? {
        let field = paths.field(in: report)
        switch unit {
        case .seconds: return field.integerValue.map { UnixTime(seconds: $0) }
        case .milliseconds: return field.integerValue.map { UnixTime(milliseconds: $0) }
        case .rfc3339: return field.text.flatMap(RFC3339.parse)
        }
    }
}
