import AdapterKit
import BloomreachAdapter
import BrazeAdapter
import Operations
import Pipeline
import Testing
import WorkerTestSupport

/// Users out of files as people have them.
@Suite struct UserRowsTests {
    /// A file's contents, and the fields of its rows or the error in them.
    private static let texts: [(String, [[String]])] = [
        ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
        ("a,b\r\n1,2", [["a", "b"], ["1", "2"]]),
        ("\u{FEFF}a\n1\n", [["a"], ["1"]]),
        ("a\n\n\n1\n", [["a"], ["1"]]),
        ("\"a,b\",\"c\"\"d\"\n", [["a,b", "c\"d"]]),
        ("\"a\nb\",c\nd,e\n", [["a\nb", "c"], ["d", "e"]]),
        ("\"a\r\nb\"\r\nc\r\n", [["a\r\nb"], ["c"]]),
        (",\n,,\n", [["", ""], ["", "", ""]]),
        ("\"\"\n", [[""]]),
        ("a\rb\r", [["a"], ["b"]]),
        ("a\"b\nc\n", [["! a quote stands inside a field that is not quoted"], ["c"]]),
        ("\"a\"b,c\nd\n", [["! text follows a closing quote"], ["d"]]),
        ("\"a", [["! a quote is opened and not closed"]]),
        ("", []),
    ]

    @Test(arguments: texts) func `CSV is read as RFC 4180 has it`(_ text: String, _ expected: [[String]]) {
        func rows(pieces: Int) -> [[String]] {
            var reader = CSVReader()
            let bytes = Array(text.utf8)
            var rows: [CSVReader.Row] = []
            for start in stride(from: 0, to: bytes.count, by: pieces) {
                rows += reader.take(bytes[start..<min(bytes.count, start + pieces)])
            }
            rows += reader.finish()
            return rows.map { row in
                row.problem.map { ["! \($0)"] } ?? row.fields.map { String(decoding: $0, as: UTF8.self) }
            }
        }
        // However it comes in, byte by byte or at once.
        for pieces in [1, 2, 3, 1000] { #expect(rows(pieces: pieces) == expected, "in pieces of \(pieces)") }
    }

    @Test func `rows know the line they begin on`() {
        var reader = CSVReader()
        let rows = reader.take("a\n\n\"b\nc\"\nd\r\ne\r\n".utf8) + reader.finish()
        #expect(rows.map(\.line) == [1, 3, 5, 6])
    }

    @Test func `a row without end is cut off and the next one read`() {
        var reader = CSVReader()
        let long = String(repeating: "x", count: CSVReader.limit + 10)
        let rows = reader.take("\(long)\nb\n".utf8)
        #expect(rows.map { $0.problem != nil } == [true, false])
        #expect(rows.last?.fields == [Array("b".utf8)])
    }

    @Test func `the user is the named column`() throws {
        var rows = CSVUserRows(columns: ["id"], areNamed: false)
        let users = try rows.take("name, id \nAnn,u1\nBen\nCem,\n".utf8) + rows.finish()
        #expect(users.map(\.line) == [2, 3, 4])
        #expect(users.map(\.text) == ["\"u1\"", "! the row has 1 fields, the header 2", "! the user is empty"])
    }

    @Test func `several columns are ids by name`() throws {
        var rows = CSVUserRows(columns: ["registered", "phone"], areNamed: true)
        let users = try rows.take("registered,phone\na@x,1\n,2\n,\n".utf8) + rows.finish()
        #expect(
            users.map(\.text) == [#"{"registered":"a@x","phone":"1"}"#, #"{"phone":"2"}"#, "! the user is empty"])
    }

    @Test(arguments: [
        ("a,b\n", "there is no column \"id\"; the header has: a, b. Name the user's with --user-column"),
        ("id,id\n", "the header has the column \"id\" twice"),
        ("", "the input is empty; its first row names the columns"),
    ]) func `a header without the column is refused`(_ text: String, _ message: String) {
        let refusal = #expect(throws: CSVUserRows.BadHeader.self) {
            var rows = CSVUserRows(columns: ["id"], areNamed: false)
            _ = try rows.take(text.utf8)
            _ = try rows.finish()
        }
        #expect(refusal?.description == message)
    }

    @Test func `JSON lines are strings, objects of ids, or objects with the user`() {
        var rows = JSONLinesUserRows(column: "user")
        let text =
            "\u{FEFF}\"u1\"\r\n{\"user\":\"u2\",\"x\":1}\n\n{\"registered\":\"r\"}\n{\"user\":7}\nnot json\n\"\"\n[1]"
        let users = rows.take(text.utf8) + rows.finish()
        #expect(users.map(\.line) == [1, 2, 4, 5, 6, 7, 8])
        #expect(
            users.map(\.text) == [
                "\"u1\"", "\"u2\"", #"{"registered":"r"}"#,
                "! the line is neither a user's id as a string nor an object of ids", "! the line is not JSON",
                "! the user is empty", "! the line is neither a user's id as a string nor an object of ids",
            ])
    }

    @Test func `an event asks for the user on the subject's key`() throws {
        let event = try ReissueEvent(
            user: Array("\"ann b\"".utf8), app: "shop", adapter: BrazeAdapter(settings: BrazeSettings()), id: "job-1",
            at: UnixTime(seconds: 0))
        #expect(String(decoding: event.key, as: UTF8.self) == "shop/ann%20b")
        #expect(
            String(decoding: event.value, as: UTF8.self)
                == #"{"app":"shop","reissue":{"user":"ann b"},"id":"job-1","observed_at":"1970-01-01T00:00:00Z"}"#
        )
    }
}

extension UserRow {
    fileprivate var text: String {
        switch user {
        case .success(let json): String(decoding: json, as: UTF8.self)
        case .failure(let row): "! \(row.reason)"
        }
    }
}

/// Tests of a job's pace and progress.
@Suite struct ReissuePaceTests {
    @Test func `a batch is a tenth of a second's worth and ends with the wave`() {
        #expect(ReissuePace(rate: 500).batch(sent: 0) == 50)
        #expect(ReissuePace(rate: 3).batch(sent: 0) == 1)
        #expect(ReissuePace(rate: nil).batch(sent: 0) == 2000)
        #expect(ReissuePace(rate: 500, wave: 120).batch(sent: 100) == 20)
        #expect(ReissuePace(rate: 500, wave: 120).batch(sent: 120) == 50)
    }

    @Test func `batches keep the rate on the average, and a wave is followed by its rest`() {
        var random = SeededGenerator(seed: 1)
        let pace = ReissuePace(rate: 500, jitter: 0.5, wave: 1000, rest: 60)
        let pauses = (0..<2000).map { _ in pace.pause(after: 50, sent: 50, random: &random) }
        #expect(pauses.allSatisfy { (0.05...0.15).contains($0) })
        #expect(abs(pauses.reduce(0, +) / 2000 - 0.1) < 0.01)
        #expect(pace.pause(after: 50, sent: 1000, random: &random) > 60)
    }

    @Test func `a checkpoint is read back as it was written`() {
        var progress = ReissueProgress(job: "j", input: "users.csv bytes=1")
        (progress.rows, progress.sent, progress.rejected, progress.rejectsLength) = (10, 8, 2, 99)
        #expect(ReissueProgress(progress.json) == progress)
        progress.isFinished = true
        #expect(ReissueProgress(progress.json) == progress)
        #expect(progress.eventID(row: 10) == "j-10")
        #expect(
            ReissueProgress(Array(#"{"job":"j","input":"i","rows":-1,"sent":0,"rejected":0,"rejects_length":0}"#.utf8))
                == nil)
        #expect(ReissueProgress(Array("{}".utf8)) == nil)
    }
}
