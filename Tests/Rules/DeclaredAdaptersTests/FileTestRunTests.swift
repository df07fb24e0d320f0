import DeclaredAdapters
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

/// The results that the tests of a vendor's file print.
@Suite struct FileTestRunTests {
    /// The rules of rooms with a second app, and two users' tokens in the first one.
    private func text(_ changes: [(passage: String, replacement: String)] = []) throws -> String {
        let apps: (passage: String, replacement: String) = (
            "    shop: { reissue: u1 }\n", "    shop: { reissue: u9 }\n    web: { reissue: u2 }\n"
        )
        let tokens: (passage: String, replacement: String) = (
            "  tokens:\n",
            """
              tokens:
                - app: web
                  user: u2
                  vouched: { room: { name: r2 }, roles: [host] }
                  header: { alg: HS256 }

            """
        )
        var text = try Places.text(ofRules: "rooms")
        for (passage, replacement) in [apps, tokens] + changes {
            try #require(text.contains(passage), "\(passage)")
            text = text.replacing(passage, with: replacement, maxReplacements: 1)
        }
        return text
    }

    private func outcome(of text: String) throws -> FileTestRun.Outcome {
        FileTestRun(try Places.vendor(text, file: "v.yaml"), file: "v.yaml").outcome()
    }

    private func line(of passage: String, in text: String) throws -> Int {
        text[..<(try #require(text.range(of: passage)).lowerBound)].filter { $0 == "\n" }.count + 1
    }

    @Test func `a file with two apps passes its tests`() throws {
        let outcome = try outcome(of: text())
        #expect(outcome.failures.map(\.description) == [])
        #expect(outcome.warnings.isEmpty)
    }

    @Test func `a wrong verdict is one failure at its own entry, with the apps that it concerns`() throws {
        let text = try text([("no_type: accepted", "no_type: 402 Other")])
        let failures = try outcome(of: text).failures
        #expect(
            failures.map(\.message) == [
                "tests.verdicts no_type: expected 402 Other, the verdict is accepted (shop, web)"
            ])
        #expect(failures.first?.place.line == (try line(of: "no_type: 402", in: text)))
    }

    @Test func `a wrong verdict without an entry of its own is at the verdicts`() throws {
        let text = try text([("\"*\": 401 Unauthorized", "\"*\": 403 Forbidden")])
        let failures = try outcome(of: text).failures
        let line = try line(of: "  verdicts:\n", in: text)
        #expect(failures.count > 10)
        #expect(failures.allSatisfy { $0.place.line == line }, "\(failures)")
        #expect(Set(failures.map(\.message)).count == failures.count)
        #expect(
            failures.contains {
                $0.message
                    == "tests.verdicts empty: expected 403 Forbidden, the verdict is 401 Unauthorized (shop, web)"
            }, "\(failures)")
    }

    @Test func `a verdict of one app concerns no other app`() throws {
        let text = try text([("no_type: accepted", "no_type: accepted\n    web/no_type: 402 Other")])
        let failures = try outcome(of: text).failures
        #expect(
            failures.map(\.message) == ["tests.verdicts no_type: expected 402 Other, the verdict is accepted (web)"])
        #expect(failures.first?.place.line == (try line(of: "web/no_type", in: text)))
    }

    @Test func `the number of tests does not depend on the number of verdicts`() throws {
        let good = try outcome(of: text())
        let bad = try outcome(of: text([("\"*\": 401 Unauthorized", "\"*\": 403 Forbidden\n    empty: 403 Forbidden")]))
        #expect(good.count > 25)
        #expect(bad.count == good.count)
        #expect(bad.failures.count < bad.count)
    }

    @Test func `a verdict on a corruption that the suite does not make fails with the name that was meant`() throws {
        let text = try text([("no_type: accepted", "no_type: accepted\n    no_typ: accepted")])
        let failures = try outcome(of: text).failures
        #expect(
            failures.map(\.message) == [
                "tests.verdicts.no_typ names no corruption of these tokens; did you mean no_type?"
            ])
        #expect(failures.first?.place.line == (try line(of: "no_typ: accepted", in: text)))
    }

    @Test func `a verdict on a claim that these tokens omit is no mistake`() throws {
        let text = try text([("no_type: accepted", "no_type: accepted\n    no_nick: accepted")])
        #expect(try outcome(of: text).failures.isEmpty)
    }

    @Test func `a wrong reading names the test's app`() throws {
        let text = try text([("reason: EXPIRED, user: u1", "reason: EXPIRED, user: ada")])
        #expect(
            try outcome(of: text).failures.map(\.message) == [
                "expected mint, reason EXPIRED, subject shop/ada, read as mint, reason EXPIRED, subject shop/u1"
            ])
    }

    @Test func `codes that no report has are one warning at the reports`() throws {
        let codes = "codes:\n  - { name: LIMIT, match: [429], evidence: none, remedy: mint_once }\n"
        let one = try text([("codes:\n", codes)])
        let outcome = try outcome(of: one)
        let line = try line(of: "  reports:\n", in: one)
        #expect(outcome.failures.isEmpty)
        #expect(
            outcome.warnings.map(\.description) == [
                "v.yaml:\(line):3: warning: no report of tests.reports has the code LIMIT; add one"
            ])
        let two = try text([
            ("codes:\n", codes),
            ("codes:\n", "codes:\n  - { name: BUSY, match: [503], evidence: none, remedy: mint }\n"),
        ])
        #expect(
            try self.outcome(of: two).warnings.map(\.message) == [
                "no report of tests.reports has the codes BUSY, LIMIT; add a report of each"
            ])
    }
}
