import AdapterKit
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

@testable import DeclaredAdapters

/// The page of the folder, `adapters/declared/README.md`, beside the words of the format.
@Suite struct PageTests {
    private func page() throws -> String {
        try String(contentsOf: Places.declared.appending(path: "README.md"), encoding: .utf8)
    }

    /// The tables of the page that are made of the format's own words.
    private static let tables = [
        ("types", FileWords.typeRows), ("made_by", FileWords.makerRows), ("older_tokens", FileWords.olderTokensRows),
        ("checks", FileWords.checkRows), ("corruptions", FileWords.corruptionRows),
    ]

    @Test(arguments: tables) func `a table of the page has every word, with its meaning`(
        _ name: String, _ rows: [String]
    ) throws {
        let table = rows.joined(separator: "\n")
        #expect(try page().contains("|\n\(table)\n\n"), "write this table of \(name) into the page:\n\(table)")
        #expect(rows.allSatisfy { $0.count <= 140 })
    }

    @Test func `the words with meanings are all words of the format`() {
        let types = Set(FileKeys.Setting.types).union(VouchedMember.Kind.allCases.map(\.rawValue))
        #expect(Set(FileWords.types.map { $0.name }) == types)
        #expect(FileWords.checks.map { $0.check } == VerdictRules.Check.allCases)
        #expect(FileWords.forms.map { $0.name } == TextForm.allCases.map(\.rawValue))
        #expect(Set(FileWords.codeTypes.map { $0.name }) == Set(CodeType.allCases.map(\.rawValue)))
        #expect(Set(FileWords.units.map { $0.name }) == Set(ReportTime.Unit.allCases.map(\.rawValue)))
        #expect(Set(FileWords.strangerSigns.map { $0.name }) == Set(StrangerSign.allCases.map(\.rawValue)))
        #expect(Set(FileWords.evidence.map { $0.name }) == Set(Evidence.allCases.map(\.rawValue)))
        #expect(Set(FileWords.encodings.map { $0.name }) == Set(SecretEncoding.allCases.map(\.rawValue)))
        #expect(
            Set(FileWords.remedies.map { String($0.name.trimmingPrefix("{ ").prefix { $0 != ":" }) })
                == Set(FileKeys.Remedy.allWords))
    }

    @Test func `the page has a row for each remedy and each evidence`() throws {
        let page = try page()
        for evidence in Evidence.allCases { #expect(page.contains("\n| `\(evidence.rawValue)` |"), "\(evidence)") }
        for remedy in FileKeys.Remedy.words { #expect(page.contains("\n| `\(remedy)` |"), "\(remedy)") }
    }

    @Test func `the page describes the keys of vouched members`() throws {
        let page = try page()
        let keys = ["type", "of", "form", "at_most", "required", "about"]
        #expect(Set(FileKeys.Vouched.all.map(\.name)) == Set(keys))
        #expect(page.contains("`vouched.NAME: { \(keys.joined(separator: ", ")) }`"))
    }

    // MARK: Corruptions that a check catches

    /// Returns the corruptions of a check, with those of the checks that it names.
    private func caught(by name: String) -> Set<String> {
        guard let check = FileWords.checks.first(where: { $0.check.rawValue == name }) else { return [name] }
        return check.catches.reduce(into: []) { names, other in
            if other == name { names.insert(name) } else { names.formUnion(caught(by: other)) }
        }
    }

    /// Returns the corruptions to which a vendor that lists `check` alone has the answer of this check.
    private func found(by check: VerdictRules.Check) throws -> Set<String> {
        let members = [VerdictRules.Check.headerLacks: ", members: [kid]", .claimsLack: ", members: [sub]"][check]
        let answer = "\(FileKeys.Verdicts.Rule.says.name): \"1 FOUND\""
        let rule = "{ if: \(check.rawValue)\(members ?? ""), \(answer) }"
        var text = try Places.text(ofRules: "checks")
            .replacing("vendor_says:\n", with: "vendor_says:\n  first: [\(rule)]\n")
        // No corruption has the expected answer, so each one is a failure with its verdict.
        text.replace("\"*\": 2 OTHER", with: "\"*\": 3 NEITHER")
        let failures = FileTestRun(try Places.vendor(text), file: "checks.yaml").failures().map(\.message)
        let names = failures.compactMap { failure in
            failure.firstMatch(of: /^tests\.verdicts (\S+): expected 3 NEITHER, the verdict is 1 FOUND/).map {
                String($0.1)
            }
        }
        return Set(names.map(generalized))
    }

    /// Returns the name of the page for a corruption of one claim.
    private func generalized(_ name: String) -> String {
        guard !CorruptionKind.allCases.map(\.rawValue).contains(name), name != "no_exp" else { return name }
        return name.hasPrefix("no_") ? CorruptionKind.noClaim.rawValue : CorruptionKind.wrongClaim.rawValue
    }

    @Test(arguments: VerdictRules.Check.allCases)
    func `a check of the page catches the corruptions of its row`(_ check: VerdictRules.Check) throws {
        #expect(try found(by: check) == caught(by: check.rawValue))
    }

    @Test func `the tests of the file for the checks pass`() throws {
        let outcome = FileTestRun(try Places.vendor(Places.text(ofRules: "checks")), file: "checks.yaml").outcome()
        #expect(outcome.failures.map(\.description) == [])
    }
}

/// The tables that the page has of the words.
extension FileWords {
    fileprivate static var typeRows: [String] {
        types.map { type in
            let isSetting = FileKeys.Setting.types.contains(type.name)
            let isVouched = VouchedMember.Kind(rawValue: type.name) != nil
            let keys = (isSetting ? ["`settings`"] : []) + (isVouched ? ["`vouched`"] : [])
            return "| `\(type.name)` | \(keys.joined(separator: ", ")) | \(type.meaning) |"
        }
    }

    /// The table of the words of `key.made_by`.
    fileprivate static var makerRows: [String] { makers.map { "| `\($0.name)` | \($0.meaning) |" } }

    fileprivate static var olderTokensRows: [String] { olderTokens.map { "| `\($0.name)` | \($0.meaning) |" } }

    /// The table of the checks of `vendor_says.first`.
    fileprivate static var checkRows: [String] {
        checks.map { check in
            let names = check.catches.map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(check.check.rawValue)` | \(check.fails) | \(names) |"
        }
    }

    /// The table of the corruptions of `tests.verdicts`.
    fileprivate static var corruptionRows: [String] {
        CorruptionKind.allCases.map { "| `\($0.rawValue)` | \($0.change) |" }
    }
}
