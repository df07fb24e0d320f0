import AdapterKit

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
        /// No code at all.
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

    /// Returns the code that `report` in `shape` holds.
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
