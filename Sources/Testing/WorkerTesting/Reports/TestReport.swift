import AdapterKit
import Formats
import YAMLReading

/// The results of tests, for people and for machines. The report holds no token, key or secret.
package struct TestReport: Sendable {
    private let results: [CaseResult]

    package init(_ results: [CaseResult]) { self.results = results }

    package var isOK: Bool { results.allSatisfy(\.isOK) }

    // MARK: For people

    /// A line for each test, with its differences behind it, and a last line for all tests.
    package var text: String {
        let failed = results.count { !$0.isOK }
        let sum =
            "\(results.count.of("test")), \(failed == 0 ? "all" : "\(results.count - failed)") ok"
        return (results.flatMap(Self.lines) + [failed == 0 ? sum : "\(sum), \(failed) failed"]).joined(separator: "\n")
    }

    package static func lines(_ result: CaseResult) -> [String] {
        ["\(result.isOK ? "ok    " : "FAILED") \(result.test.name): \(result.outcome)"]
            + result.failures.map(\.description)
    }

    // MARK: For machines

    package var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.name("ok")
        json.bool(isOK)
        json.name("tests")
        json.beginArray()
        for result in results { Self.write(result, to: &json) }
        json.endArray()
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func write(_ result: CaseResult, to json: inout JSONWriter) {
        json.beginObject()
        json.member("name", result.test.name)
        json.member("file", result.test.place.file)
        json.member("line", Int64(result.test.place.line))
        json.name("ok")
        json.bool(result.isOK)
        json.member("outcome", result.outcome)
        json.name("failures")
        json.beginArray()
        for failure in result.failures {
            json.beginObject()
            json.member("file", failure.place.file)
            json.member("line", Int64(failure.place.line))
            json.member("column", Int64(failure.place.column))
            json.member("message", failure.message)
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }

    /// All in the form that JUnit's readers take: a suite for each file.
    package var junit: String {
        var lines = [#"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites>"]
        let files = results.map(\.test.place.file).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        for file in files {
            let own = results.filter { $0.test.place.file == file }
            let failed = own.count { !$0.isOK }
            lines.append(#"  <testsuite name="\#(Self.xml(file))" tests="\#(own.count)" failures="\#(failed)">"#)
            for result in own {
                let name = #"name="\#(Self.xml(result.test.name))" classname="\#(Self.xml(file))""#
                guard let first = result.failures.first else {
                    lines.append("    <testcase \(name)/>")
                    continue
                }
                let all = result.failures.map(\.description).joined(separator: "\n")
                lines.append("    <testcase \(name)>")
                lines.append(#"      <failure message="\#(Self.xml(first.message))">\#(Self.xml(all))</failure>"#)
                lines.append("    </testcase>")
            }
            lines.append("  </testsuite>")
        }
        return (lines + ["</testsuites>"]).joined(separator: "\n")
    }

    /// Returns `text` as XML 1.0 may contain it, in an attribute too (sections 2.2 and 2.4).
    private static func xml(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { output, scalar in
            switch scalar {
            case "&": output += "&amp;"
            case "<": output += "&lt;"
            case ">": output += "&gt;"
            case "\"": output += "&quot;"
            case _
            where scalar.value < 0x20 && scalar != "\n" && scalar != "\t" || [0xFFFE, 0xFFFF].contains(scalar.value):
                output += "\u{FFFD}"
            default: output.unicodeScalars.append(scalar)
            }
        }
    }
}
