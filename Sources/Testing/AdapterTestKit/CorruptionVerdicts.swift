import AdapterKit

/// The verdicts on corrupted tokens, collected over all apps and users. A corruption with another verdict than the expected one
/// is one finding, whatever the number of its tokens.
struct CorruptionVerdicts {
    /// An entry of the fixtures, and the verdicts that differ from it.
    private struct Difference {
        let corruption: String
        /// The name of the entry; nil for the entry of all other corruptions.
        let entry: String?
        let expected: String
        /// The verdicts in the order of their discovery, each with the keys of its tokens' subjects by app.
        var verdicts: [(text: String, tokens: [(app: String, subjects: [String])])] = []
    }

    /// The names of the corruptions that tokens were tried with.
    private(set) var names: Set<String> = []

    private var differences: [Difference] = []
    /// The number of tokens by the app and the corruption.
    private var tried: [String: Int] = [:]
    private var missing = MissingVerdicts()

    /// Records the verdict `found` on a token for `subject`.
    ///
    /// - Parameter expected: the entry of the fixtures; nil where they have none.
    mutating func record(
        _ found: String, on corruption: String, of subject: Subject, app: String,
        expected: AdapterFixtures.Verdict?
    ) {
        names.insert(corruption)
        tried[Self.key(app, corruption), default: 0] += 1
        guard let expected else { return missing.add(corruption, answer: found) }
        guard found != expected.text else { return }
        let difference = index(of: corruption, expected)
        let verdicts = differences[difference].verdicts
        let verdict = verdicts.firstIndex { $0.text == found } ?? verdicts.count
        if verdict == verdicts.count { differences[difference].verdicts.append((found, [])) }
        let apps = differences[difference].verdicts[verdict].tokens
        let place = apps.firstIndex { $0.app == app } ?? apps.count
        if place == apps.count { differences[difference].verdicts[verdict].tokens.append((app, [])) }
        let key = String(decoding: subject.key(app: app), as: UTF8.self)
        differences[difference].verdicts[verdict].tokens[place].subjects.append(key)
    }

    /// A finding for each corruption with a wrong verdict, and one for all without an expected verdict.
    var findings: [ConformanceFinding] {
        let wrong: [ConformanceFinding] = differences.map { difference in
            let verdicts = difference.verdicts.map { verdict in
                let tokens = verdict.tokens.map { self.tokens($0.app, $0.subjects, difference.corruption) }
                return "\(verdict.text) (\(tokens.joined(separator: ", ")))"
            }
            return ConformanceFinding(
                .verdicts,
                "\(difference.corruption): expected \(difference.expected), the verdict is \(verdicts.joined(separator: ", "))",
                entry: difference.entry)
        }
        return wrong + missing.findings
    }

    /// Returns the app where all its tokens are meant, and the keys of their subjects otherwise.
    private func tokens(_ app: String, _ subjects: [String], _ corruption: String) -> String {
        subjects.count == tried[Self.key(app, corruption)] ? app : subjects.joined(separator: ", ")
    }

    private mutating func index(of corruption: String, _ expected: AdapterFixtures.Verdict) -> Int {
        if let known = differences.firstIndex(where: { $0.corruption == corruption && $0.entry == expected.entry }) {
            return known
        }
        differences.append(Difference(corruption: corruption, entry: expected.entry, expected: expected.text))
        return differences.count - 1
    }

    private static func key(_ app: String, _ corruption: String) -> String { "\(app)/\(corruption)" }
}

/// The corrupted tokens without a verdict. One entry for all others is missing, so one finding names them all.
struct MissingVerdicts {
    /// The number of corruptions that the finding lists by name.
    private static let most = 4

    private var names: [String] = []
    private var answer = ""

    mutating func add(_ corruption: String, answer: String) {
        guard !names.contains(corruption) else { return }
        names.append(corruption)
        self.answer = answer
    }

    var findings: [ConformanceFinding] {
        guard !names.isEmpty else { return [] }
        let more = names.count - Self.most
        let list = names.prefix(Self.most).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        return [
            ConformanceFinding(
                .verdicts, "lacks \"*\", the vendor's answer to every other corrupted token: \(list); here \(answer)")
        ]
    }
}
