import CommandKit
import JOSE
import Testing

@Suite struct PrintableJSONTests {
    @Test func `JSON that a command prints has no character on which a terminal acts, and the same value`() throws {
        let hostile = "a\u{9B}31m\u{202E}b\u{2066}\u{E0001}\u{7F}é\u{1F600}\""
        var json = JSONWriter()
        json.string(hostile)
        let text = json.printable
        #expect(
            !text.unicodeScalars.contains {
                [.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            })
        #expect(text.contains("é\u{1F600}"))
        #expect(try JSONDocument(parsing: Array(text.utf8)).root.string == hostile)
    }
}
