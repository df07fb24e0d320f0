import AdapterKit
import AsyncTestSupport
import Foundation
import Testing

/// A string and the moment it stands for, in microseconds; nil where it is not a date-time.
struct DateText: CustomTestStringConvertible {
    let text: String
    let microseconds: Int64?

    init(_ text: String, _ microseconds: Int64?) {
        self.text = text
        self.microseconds = microseconds
    }

    var testDescription: String { "\"\(text)\"" }
}

@Suite struct RFC3339Tests {
    /// Foundation counts the Julian calendar before 1582-10-15; RFC 3339 (section 1) counts the Gregorian one throughout.
    /// The latter repeats every 400 years, so early years are compared 1600 years later.
    @Test func `RFC 3339 writing and parsing agree with Foundation on moments from year 1 to 9999`() {
        var random = SeededGenerator(seed: 3339)
        let cycles: Int64 = 4 * 146_097 * 86_400
        for _ in 0..<Scale.rounds(10_000) {
            let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &random)
            let isEarly = seconds < -11_676_096_000  // 1600-01-01
            let moment = Date(timeIntervalSince1970: TimeInterval(isEarly ? seconds + cycles : seconds))
            var expected = moment.formatted(.iso8601)
            if isEarly, let year = Int(expected.prefix(4)) {
                let digits = String(year - 1600)
                expected = String(repeating: "0", count: 4 - digits.count) + digits + expected.dropFirst(4)
            }
            let time = UnixTime(seconds: seconds)
            guard time.description == expected, RFC3339.parse(expected) == time else {
                Issue.record("\(seconds): \(time), Foundation has \(expected)")
                return
            }
        }
    }

    @Test func `a written moment reads back to the microsecond`() {
        var random = SeededGenerator(seed: 6)
        for _ in 0..<Scale.rounds(10_000) {
            let time = UnixTime(
                microseconds: .random(in: -62_135_596_800_000_000...253_402_300_799_999_999, using: &random))
            guard RFC3339.parse(time.description) == time else {
                Issue.record("\(time.microseconds) is written as \(time)")
                return
            }
        }
    }

    private static let good: [DateText] = [
        .init("1970-01-01T00:00:00Z", 0),
        .init("1970-01-01t00:00:00z", 0),
        .init("1970-01-01 00:00:00Z", 0),
        .init("1969-12-31T23:59:59.5Z", -500_000),
        .init("2000-02-29T00:00:00Z", 951_782_400_000_000),
        .init("2024-02-29T23:59:59Z", 1_709_251_199_000_000),
        .init("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
        .init("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        .init("2026-11-20T12:00:00+02:00", 1_795_168_800_000_000),
        .init("2026-11-20T04:30:00-05:30", 1_795_168_800_000_000),
        .init("2026-11-20T10:00:00-00:00", 1_795_168_800_000_000),
        .init("2026-11-20T10:00:00.1Z", 1_795_168_800_100_000),
        .init("2026-11-20T10:00:00.123456Z", 1_795_168_800_123_456),
        .init("2026-11-20T10:00:00.1234569999999999999999999Z", 1_795_168_800_123_456),
        .init("2016-12-31T23:59:60Z", 1_483_228_800_000_000),
        .init("2016-12-31T23:59:60.5Z", 1_483_228_800_500_000),
        .init("2016-09-20T17:06:51.104Z", 1_474_391_211_104_000),
    ]

    @Test(arguments: good) func `a date-time is parsed to its microsecond`(_ date: DateText) {
        #expect(RFC3339.parse(date.text)?.microseconds == date.microseconds)
    }

    private static let bad: [DateText] = [
        "", " ", "Z", "now", "2026", "2026-11-20", "2026-11-20T10:00Z", "2026-11-20T10:00:00", "2026-11-20T10:00:00.Z",
        "2026-11-20T10:00:00,5Z", "2026-11-20T10:00:00+0200", "2026-11-20T10:00:00+02", "2026-11-20T10:00:00+24:00",
        "2026-11-20T10:00:00+02:60", "2026-11-20T24:00:00Z", "2026-11-20T10:60:00Z", "2026-11-20T10:00:61Z",
        "2026-00-10T10:00:00Z", "2026-13-10T10:00:00Z", "2026-01-00T10:00:00Z", "2026-01-32T10:00:00Z",
        "2026-04-31T10:00:00Z", "2026-02-29T10:00:00Z", "1900-02-29T10:00:00Z", "2100-02-29T10:00:00Z",
        "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "-2026-01-01T00:00:00Z", "2026-1-1T00:00:00Z",
        "20261120T100000Z", "2026-11-20T10:00:00Z ", " 2026-11-20T10:00:00Z", "2026-11-20T10:00:00ZZ",
        "2026-11-20X10:00:00Z", "２０２６-11-20T10:00:00Z", "2026-11-20T10:00:00\u{2212}02:00", "2026\u{0}11-20T10:00:00Z",
    ].map { DateText($0, nil) }

    @Test(arguments: bad) func `a string that is no date-time is refused`(_ date: DateText) {
        #expect(RFC3339.parse(date.text) == nil)
    }

    @Test func `an offset past the first or last moment stops there`() {
        #expect(RFC3339.parse("0001-01-01T00:00:00+23:59")?.description == "0001-01-01T00:00:00Z")
        #expect(RFC3339.parse("9999-12-31T23:59:59-23:59")?.description == "9999-12-31T23:59:59.999999Z")
    }

    @Test func `a cut or damaged date-time is refused, or reads back as it was parsed`() {
        var random = SeededGenerator(seed: 4)
        let whole = Array("2026-11-20T10:00:00.123456+02:00".utf8)
        for _ in 0..<Scale.rounds(20_000) {
            var bytes = Array(whole.prefix(Int.random(in: 0...whole.count, using: &random)))
            if !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let time = RFC3339.parse(String(decoding: bytes, as: UTF8.self)) else { continue }
            #expect(RFC3339.parse(time.description) == time)
        }
    }
}
