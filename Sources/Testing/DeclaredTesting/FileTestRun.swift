package import AdapterKit
import AdapterTestKit
package import DeclaredAdapters
import Foundation
package import YAMLReading

/// Runs the tests of a vendor's file, and the suite that compiled adapters pass.
package struct FileTestRun {
    private let vendor: DeclaredVendor
    private let file: String

    /// A run of `vendor`'s tests; diagnostics call its file `file`.
    package init(_ vendor: DeclaredVendor, file: String) {
        self.vendor = vendor
        self.file = file
    }

    /// The result of a run.
    package struct Outcome: Sendable {
        /// The differences from the tests, each with its place.
        package let failures: [Diagnostic]
        /// The tests that the file lacks, as warnings.
        package let warnings: [Diagnostic]
        /// The number of tests: reports, tokens, refused settings, and the corruptions that tokens were tried with.
        package let count: Int
    }

    /// Returns the differences from the tests, each with its place.
    package func failures() -> [Diagnostic] { outcome().failures }

    /// Runs the tests.
    package func outcome() -> Outcome {
        guard let tests = vendor.tests else {
            let missing = failure(at: nil, "the file has no tests; write them under tests:")
            return Outcome(failures: [missing], warnings: [], count: 0)
        }
        var failures: [Diagnostic] = []
        if tests.tokens.isEmpty { failures.append(failure(at: tests.place, "no token is tested: tests.tokens")) }
        failures += tests.reports.flatMap { report($0, tests) }
        failures += tests.tokens.flatMap { token($0, tests) }
        failures += tests.refusals.flatMap(refusal)
        let promises = conformance(tests)
        failures += promises.failures
        if let first = vendor.unfilled.first {
            failures.append(
                failure(
                    at: first, "\(vendor.unfilled.count.of("value")) to fill in; each has a warning, beginning here"))
        }
        return Outcome(
            failures: failures, warnings: untestedCodes(tests),
            count: tests.reports.count + tests.tokens.count + tests.refusals.count + promises.corruptions.count)
    }

    private func failure(at place: FileLocation?, _ text: String) -> Diagnostic {
        Diagnostic(.error, at: place ?? FileLocation(file: file, line: 1, column: 1), text)
    }

    // MARK: Parts

    private func report(_ report: FileTests.Report, _ tests: FileTests) -> [Diagnostic] {
        do {
            let fixture = try ReportFixture(name: report.name, parsing: report.json)
            guard let app = tests.apps.first(where: { $0.name == fixture.app }) else {
                return [failure(at: report.place, "tests.apps has no app called \(fixture.app)")]
            }
            let adapter = try vendor.adapter(settings: app.settings)
            guard let root = try? JSONDocument(parsing: fixture.report(at: tests.now)).root else {
                return fixture.expectation == .rejected(.malformedEvent)
                    ? [] : [failure(at: report.place, "the report is not JSON; expect { rejected: malformed_event }")]
            }
            let found = ReportFixture.Expectation(adapter.reading(of: Report(root, observedAt: tests.now)))
            guard found != fixture.expectation else { return [] }
            let (expected, read) = (text(fixture.expectation, of: fixture.app), text(found, of: fixture.app))
            return [failure(at: report.place, "expected \(expected), read as \(read)")]
        } catch { return [failure(at: report.place, "\(error)")] }
    }

    private func text(_ expectation: ReportFixture.Expectation, of app: String) -> String {
        switch expectation {
        case .rejected(let code): return "rejected: \(code.rawValue)"
        case .failure(let remedy, let reason, let subject, let hasFailedToken):
            // A fixture's subject is that of an app called "app".
            let user = subject.map { key in "subject \(app)\(key.drop { $0 != "/" })" } ?? "nobody"
            return "\(remedy), reason \(reason), \(user)\(hasFailedToken ? ", with its token" : "")"
        }
    }

    /// Returns a warning if no report of the tests has some of the file's codes.
    private func untestedCodes(_ tests: FileTests) -> [Diagnostic] {
        let tested = tests.reports.compactMap { report -> String? in
            guard let fixture = try? ReportFixture(name: report.name, parsing: report.json),
                case .failure(_, let reason, _, _) = fixture.expectation
            else { return nil }
            return reason
        }
        let untested = vendor.description.codes.codes.map(\.name).filter { !tested.contains($0) }
        guard !untested.isEmpty else { return [] }
        let text =
            untested.count == 1
            ? "the code \(untested[0]); add one" : "the codes \(untested.joined(separator: ", ")); add a report of each"
        return [Diagnostic(.warning, at: tests.reportsPlace, "no report of tests.reports has \(text)")]
    }

    private func token(_ test: FileTests.Token, _ tests: FileTests) -> [Diagnostic] {
        do {
            let made = try MadeToken(test, tests, vendor)
            if let rejection = test.rejection {
                return [failure(at: test.place, "expected no token because of \(rejection.rawValue), and one is made")]
            }
            var failures: [Diagnostic] = []
            if let expected = test.header, !made.header.isSame(as: expected) {
                failures.append(failure(at: test.place, "the header is \(text(made.header)), not \(text(expected))"))
            }
            if let expected = test.payload, !made.payload.isSame(as: expected) {
                failures.append(failure(at: test.place, "the payload is \(text(made.payload)), not \(text(expected))"))
            }
            if let expected = test.token, expected != text(made.token) {
                failures.append(
                    failure(
                        at: test.place,
                        "the token is \(text(made.token)) (of \(text(made.header)) and \(text(made.payload)))"))
            }
            if made.life > 0 {
                let verdict = made.adapter.verify(
                    made.token, against: [made.key], expecting: made.subject, at: test.issuedAt)
                if verdict != .accepted {
                    failures.append(failure(at: test.place, "vendor_says refuses the token: \(verdict)"))
                }
            }
            return failures
        } catch let rejection as Rejection {
            return rejection.code == test.rejection
                ? [] : [failure(at: test.place, "no token: \(rejection.code.rawValue): \(rejection.detail)")]
        } catch { return [failure(at: test.place, "no token: \(error)")] }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private func refusal(_ test: FileTests.Refusal) -> [Diagnostic] {
        do {
            _ = try vendor.adapter(settings: test.settings)
            return [failure(at: test.place, "these settings are taken")]
        } catch let error as SettingsError {
            let text = "\(error.key) \(error.message)"
            return test.because.isEmpty || text.contains(test.because)
                ? [] : [failure(at: test.place, "refused because \(text)")]
        } catch {
            return test.because.isEmpty ? [] : [failure(at: test.place, "refused as of the wrong type")]
        }
    }

    /// Checks the promises of every adapter. Failures of the file's own reports are not repeated.
    private func conformance(_ tests: FileTests) -> (failures: [Diagnostic], corruptions: Set<String>) {
        do {
            let suite = AdapterConformance(
                vendor.registration, fixtures: try tests.fixtures(), readme: DocsPage(vendor.description).text)
            let outcome = try suite.outcome()
            let failures = outcome.findings.filter { finding in
                // The tests of reports compare every reading already.
                if case .report = finding.part { !finding.text.contains(": expected ") } else { true }
            }.map { finding in
                failure(
                    at: place(of: finding, tests),
                    finding.part == .verdicts ? "tests.verdicts \(finding.text)" : finding.text)
            }
            return (failures + unknownVerdicts(tests, outcome.corruptions), outcome.corruptions)
        } catch { return ([failure(at: tests.place, "the adapter cannot be tried: \(error)")], []) }
    }

    /// Returns a failure for each verdict on a corruption that the suite does not make.
    private func unknownVerdicts(_ tests: FileTests, _ corruptions: Set<String>) -> [Diagnostic] {
        // Without a token there is no corruption, which has a failure of its own.
        guard !corruptions.isEmpty else { return [] }
        let claims = DocsPage(vendor.description).claims
        let known = corruptions.union(["*"]).union(
            claims.flatMap { [CorruptionKind.noClaim.name(claim: $0), CorruptionKind.wrongClaim.name(claim: $0)] })
        return tests.verdicts.compactMap { entry in
            let app = tests.apps.first { entry.name.hasPrefix("\($0.name)/") }
            let name = app.map { String(entry.name.dropFirst($0.name.count + 1)) } ?? entry.name
            guard !known.contains(name) else { return nil }
            let meant = Spelling.nearest(to: name, among: known.sorted()).map { "; did you mean \($0)?" }
            return failure(
                at: entry.place,
                "tests.verdicts.\(entry.name) names no corruption of these tokens\(meant ?? "; remove it")")
        }
    }

    private func place(of finding: ConformanceFinding, _ tests: FileTests) -> FileLocation {
        switch finding.part {
        case .adapter: tests.place
        case .app(let name): tests.apps.first { $0.name == name }?.place ?? tests.place
        case .report(let name): tests.reports.first { $0.name == name }?.place ?? tests.place
        case .verdicts: tests.verdicts.first { $0.name == finding.entry }?.place ?? tests.verdictsPlace
        }
    }
}

/// A token as a test wants it.
package struct MadeToken {
    package let adapter: any Adapter
    package let subject: Subject
    package let token: [UInt8]
    package let header: [UInt8]
    package let payload: [UInt8]
    /// The token's lifetime, in seconds.
    package let life: Int64
    package let key: VerificationKey

    /// - Throws: the error that keeps the token from being made.
    package init(_ test: FileTests.Token, _ tests: FileTests, _ vendor: DeclaredVendor) throws {
        let settings = tests.apps.first { $0.name == test.app }?.settings ?? Array("{}".utf8)
        adapter = try vendor.adapter(settings: settings)
        subject = Subject(user: test.user, challenge: test.challenge)
        let keyID = test.keyID ?? tests.keyID ?? "test-key"
        let key =
            try (test.key ?? tests.key)?.signingKey(adapter.algorithm, id: keyID)
            ?? SampleKeys.key(adapter.algorithm, keyID: keyID)
        self.key = key.verificationKey
        life = test.life < 0 ? adapter.lifetime.standard : test.life
        let start = test.issuedAt.seconds
        let maker = TokenMaker(recipe: adapter.recipe(for: subject), key: key)
        let validity = Validity(from: start, to: start + life)
        let grants = try Self.grants(test, adapter)
        if let uuid = test.uuid, var ids = FixedIDs(uuid) {
            token = try maker.token(for: subject, valid: validity, adding: grants, random: &ids)
        } else {
            var random = SystemRandomNumberGenerator()
            token = try maker.token(for: subject, valid: validity, adding: grants, random: &random)
        }
        let parts = token.split(separator: UInt8(ascii: "."))
        header = parts.isEmpty ? [] : try Base64.url.decode(parts[0])
        payload = parts.count < 2 ? [] : try Base64.url.decode(parts[1])
    }

    private static func grants(_ test: FileTests.Token, _ adapter: any Adapter) throws -> Enrichment {
        guard let vouched = test.vouched else { return Enrichment() }
        var json = JSONWriter()
        json.beginObject()
        json.member("user", test.user)
        for (name, value) in try JSONDocument(parsing: vouched).root.members {
            json.name(name)
            json.raw(value.json)
        }
        json.endObject()
        return try adapter.user(vouchedBy: JSONDocument(parsing: json.bytes).root).grants
    }
}

extension [UInt8] {
    /// Returns whether both are the same JSON, whatever the members' order.
    fileprivate func isSame(as other: [UInt8]) -> Bool {
        guard let left = try? JSONDocument(parsing: self).root, let right = try? JSONDocument(parsing: other).root
        else {
            return false
        }
        return left.differences(from: right, .exact).isEmpty
    }
}
