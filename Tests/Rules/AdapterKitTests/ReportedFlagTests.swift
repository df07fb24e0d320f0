import AdapterKit
import Testing

@Suite struct ReportedFlagTests {
    @Test(
        arguments: [
            ("true", true), ("false", false), ("1", true), ("0", false), ("2", nil), ("-1", nil), ("1.5", nil),
            ("null", nil),
            (#""true""#, nil), (#""1""#, nil), ("[]", nil), ("{}", nil),
        ] as [(String, Bool?)])
    func `a flag is a boolean, or the number that a boxed boolean became`(_ json: String, _ flag: Bool?) throws {
        #expect(try JSONDocument(parsing: Array(json.utf8)).root.flag == flag)
    }
}
