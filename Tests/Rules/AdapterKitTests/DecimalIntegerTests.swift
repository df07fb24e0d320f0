import AdapterKit
import Testing

/// Integers of reports as Gson and Dart write them.
@Suite struct DecimalIntegerTests {
    private static let integers: [(String, Int64)] = [
        ("0.0", 0), ("-0.0", 0), ("0e5", 0), ("0.000e-7", 0), ("0e999999999999999999999", 0), ("22.0", 22),
        ("22.00000", 22), ("-22.0", -22), ("2.2e1", 22), ("2.2E1", 22), ("2.2e+1", 22), ("220e-1", 22),
        ("2200.0e-2", 22), ("1.5e3", 1500), ("100.0", 100), ("40101.0", 40_101), ("1e2", 100),
        ("1700000000000.0", 1_700_000_000_000), ("1.7E12", 1_700_000_000_000),
        ("9007199254740993.0", 9_007_199_254_740_993), ("9223372036854775807.0", .max),
        ("-9223372036854775808.0", .min),
        ("22.\(String(repeating: "0", count: 400))", 22), ("9.223372036854775807e18", .max),
    ]

    private static let others = [
        "22.5", "22.05", "0.5", "-0.5", "2.25e1", "1e-1", "22e-1", "1e19", "1e999", "1e99999999999999999999", "-1e400",
        "9223372036854775808.0", "-9223372036854775809.0", "99999999999999999999.0", "22.00000000000000000000001",
        "0.\(String(repeating: "0", count: 400))1",
    ]

    @Test(arguments: integers) func `a decimal without a fraction is an integer`(_ text: String, _ value: Int64) throws
    {
        #expect(try Report(#"{"a":\#(text)}"#).field("a") == .integer(value))
        #expect(try Report(#"{"a":"\#(text)"}"#).field("a").integerValue == value)
    }

    @Test(arguments: others) func `a decimal with a fraction, or too large, is no integer`(_ text: String) throws {
        #expect(try Report(#"{"a":\#(text)}"#).field("a") == .other)
        #expect(try Report(#"{"a":"\#(text)"}"#).field("a").integerValue == nil)
    }

    @Test(arguments: [
        "", ".", "e", "-", "22.", ".5", "22.e1", "22e", "22e+", "2_2.0", " 22.0", "22.0 ", "22,0", "٢٢.0",
    ])
    func `a string that is no number is no integer`(_ text: String) throws {
        #expect(try Report(#"{"a":"\#(text)"}"#).field("a").integerValue == nil)
    }

    @Test func `a number as a user is refused however it is written`() throws {
        for text in ["22", "22.0"] {
            let user = try ReportedUser(Report(#"{"a":\#(text)}"#).field("a"), name: "a")
            guard case .unusable(let rejection) = user else {
                Issue.record("\(text) is a user")
                return
            }
            #expect(rejection.code == .malformedReport)
        }
    }
}
