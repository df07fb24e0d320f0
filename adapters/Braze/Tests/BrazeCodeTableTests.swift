import AdapterKit
import AdapterTestSupport
import BrazeAdapter
import Testing

@testable import AdapterTestKit

/// The table of Braze's codes, and the suite's check of such a table.
@Suite struct BrazeCodeTableTests {
    @Test(arguments: [10, 20, 21, 22, 23, 24, 25, 26, 27, 28])
    func `the table has each number beside the name that a reading gives it`(_ code: Int) throws {
        let adapter = try makeAdapter(BrazeAdapter.self, "{}")
        guard case .failure(let failure) = try adapter.reading(of: #"{"code":\#(code),"userId":"u"}"#) else {
            Issue.record("it was rejected")
            return
        }
        let rows = BrazeAdapter.codes.filter { $0.matches == "`\(code)`" }
        #expect(!rows.isEmpty && rows.allSatisfy { $0.reason == failure.reason })
        #expect(rows.first?.remedy == failure.remedy)
        #expect(rows.contains { $0.condition.hasPrefix("Optional mode") } == (failure.remedy == .mintOnce))
    }

    @Test func `a row states code, number, remedy, evidence, condition and reason`() {
        let row = VendorCode(
            "DECODING_ERROR", matches: VendorCode.matches("20", "x"), when: "the active version", evidence: .key,
            remedy: .notFixable("upload it"))
        #expect(row.row == "| `DECODING_ERROR` | `20`, `x` | not_fixable | key | the active version: upload it |")
        let plain = VendorCode("EXPIRED", matches: "every report", evidence: .expired, remedy: .mint)
        #expect(plain.row == "| `EXPIRED` | every report | mint | expired |  |")
    }

    // MARK: The suite's check

    private static let failure = AuthenticationFailure(
        subject: Subject(user: "u"), reason: "A", evidence: .key, remedy: .mintOnce,
        signerRemedies: SignerRemedies(active: .notFixable("no"), older: .mintOnce))

    private func row(
        _ reason: String, _ condition: String = "", _ remedy: Remedy = .mintOnce, _ evidence: Evidence = .key
    ) -> VendorCode {
        VendorCode(reason, matches: "`1`", when: condition, evidence: evidence, remedy: remedy)
    }

    private func violations(_ codes: [VendorCode]) -> [String] {
        CodePromises(codes).violations([
            ("a", .failure(Self.failure)), ("b", .rejected(.namesTwoUsers)),
            (
                "c",
                .failure(
                    AuthenticationFailure(
                        subject: nil, reason: "N", evidence: .none, remedy: .notForUs("anonymous user")))
            ),
        ])
    }

    @Test func `a table with a row for each response keeps its promise, and so does an empty one`() {
        #expect(violations([row("A", "x"), row("A", "y", .notFixable("no")), row("N")]) == [])
        #expect(violations([]) == [])
    }

    @Test func `a table that lacks a response, a condition or a report is found`() {
        #expect(violations([row("A")]) == ["a: codes has no row for A with the remedy not_fixable"])
        #expect(
            violations([row("A", "x", .mintOnce, .none), row("A", "y", .notFixable("no"))]).first
                == "a: codes has no row for A with the remedy mint_once")
        for condition in ["", "x"] {
            #expect(
                violations([row("A", "x"), row("A", condition, .notFixable("no"))])
                    == ["codes has several rows for A, and a condition is missing or repeated"])
        }
        #expect(
            violations([row("A", "x"), row("A", "y", .notFixable("no")), row("B")])
                == ["codes has B, which no recorded report has"])
    }
}
