import AdapterKit
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

@testable import DeclaredAdapters

/// The file that a new vendor's author fills in.
@Suite struct FileSkeletonTests {
    private static let algorithms: [Algorithm] = [.hs256, .hs512, .es256, .rs256, .ps256, .eddsa]

    private func skeleton(_ algorithm: Algorithm = .hs256) throws -> FileSkeleton {
        try #require(try FileSkeleton(name: "our-vendor", algorithm: algorithm))
    }

    @Test(arguments: algorithms)
    func `the skeleton has no error, and one warning at each value to fill in`(_ algorithm: Algorithm) throws {
        let text = try skeleton(algorithm).text
        let (vendor, found) = DeclaredVendor.load(text, file: "our-vendor.yaml")
        #expect(vendor?.description.name == "our-vendor")
        #expect(vendor?.description.token.signing == .fixed(algorithm))
        #expect(found.count == text.components(separatedBy: "\"FILL IN: ").count - 1)
        #expect(found.count > 8)
        #expect(found.allSatisfy { $0.severity == .warning && $0.message.hasPrefix("FILL IN: ") && $0.place.line > 1 })
        #expect(Set(found.map(\.place)).count == found.count)
    }

    @Test func `the skeleton's tests fail for the values to fill in alone`() throws {
        let vendor = try Places.vendor(skeleton().text, file: "our-vendor.yaml")
        let failures = FileTestRun(vendor, file: "our-vendor.yaml").failures()
        #expect(failures.count == 1, "\(failures)")
        #expect(failures.first?.message.contains("values to fill in") == true)
        #expect(failures.first?.place.line == vendor.unfilled.first?.line)
    }

    @Test(arguments: algorithms, [false, true])
    func `the tests pass once every value is filled in, also with the keys that are comments`(
        _ algorithm: Algorithm, _ withExamples: Bool
    ) throws {
        let text = try skeleton(algorithm).text(withExamples: withExamples).replacing("FILL IN: ", with: "")
        let vendor = try Places.vendor(text, file: "our-vendor.yaml")
        let outcome = FileTestRun(vendor, file: "our-vendor.yaml").outcome()
        #expect(outcome.failures.map(\.description) == [])
        #expect(outcome.warnings.isEmpty, "\(outcome.warnings)")
        #expect(vendor.unfilled.isEmpty)
        #expect(vendor.description.vouched.isEmpty != withExamples)
    }

    @Test(arguments: algorithms) func `only a key pair has a kid and a key of its own`(_ algorithm: Algorithm) throws {
        let skeleton = try skeleton(algorithm)
        let isPair = algorithm.keyType != .secret
        #expect((skeleton.pem != nil) == isPair)
        #expect(skeleton.text.contains("kid: \"{{key_id}}\"") == isPair)
        #expect(skeleton.text.contains("\n      -----BEGIN PRIVATE KEY-----\n") == isPair)
        #expect(skeleton.text.contains("\n  made_by: ours\n") == isPair)
        #expect(skeleton.text.contains("\n  encoding: ") != isPair)
        // The key is another one each time.
        let other = try self.skeleton(algorithm)
        #expect((skeleton.text == other.text) != isPair)
    }

    @Test func `the skeleton lists the words of every list, each with its meaning`() throws {
        let text = try skeleton().text
        func words<Words: RawRepresentable<String>>(_ cases: [Words]) -> [String] { cases.map(\.rawValue) }
        let tables: [(words: [String], table: [String])] = [
            (words(Evidence.allCases), FileWords.evidence.map { $0.name }),
            (words(SecretEncoding.allCases), FileWords.encodings.map { $0.name }),
            (words(CodeType.allCases), FileWords.codeTypes.map { $0.name }),
            (words(ReportTime.Unit.allCases), FileWords.units.map { $0.name }),
            (words(StrangerSign.allCases), FileWords.strangerSigns.map { $0.name }),
            (words(TextForm.allCases), FileWords.forms.map { $0.name }),
            (words(VerdictRules.Check.allCases), FileWords.checks.map { $0.check.rawValue }),
            (FileKeys.Remedy.allWords, ["mint", "mint_once", "not_fixable", "not_for_us"]),
        ]
        for (words, table) in tables { #expect(words == table) }
        var listed: [String] = []
        for (_, table) in tables { listed += table.filter { !$0.hasPrefix("not_") } }
        listed += FileWords.remedies.map { $0.name }
        listed += FileWords.types.map { $0.name }
        listed += FileWords.makers.map { $0.name }
        listed += FileWords.olderTokens.map { $0.name }
        for word in listed { #expect(text.contains("#   \(word): "), "\(word)") }
    }

    @Test func `the skeleton has a verdict on every corruption of its token`() throws {
        for algorithm in [Algorithm.hs256, .es256] {
            let text = try skeleton(algorithm).text.replacing("    \"*\": 401 Unauthorized\n", with: "")
                .replacing("FILL IN: ", with: "")
            let failures = FileTestRun(try Places.vendor(text), file: "our-vendor.yaml").failures()
            #expect(failures.map(\.description) == [])
        }
    }

    @Test(arguments: ["", "-a", "Our", "a b", "../a", "a.yaml", "ä", String(repeating: "a", count: 41)])
    func `a name that no vendor can have makes no skeleton`(_ name: String) throws {
        #expect(try FileSkeleton(name: name) == nil)
    }
}
