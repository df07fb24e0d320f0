import AdapterKit
import Testing

@Suite struct UnixTimeTests {
    private static let first = "0001-01-01T00:00:00Z"
    private static let last = "9999-12-31T23:59:59.999999Z"

    @Test func `times beyond the first and the last moment stop there instead of trapping`() {
        for time in [
            UnixTime(microseconds: .min), UnixTime(seconds: .min), UnixTime(milliseconds: .min),
            UnixTime(seconds: 0).advanced(bySeconds: .min), UnixTime(seconds: .min).advanced(bySeconds: .min),
            UnixTime(seconds: .min).advanced(bySeconds: -1),
        ] { #expect(time.description == Self.first) }
        for time in [
            UnixTime(microseconds: .max), UnixTime(seconds: .max), UnixTime(milliseconds: .max),
            UnixTime(seconds: 0).advanced(bySeconds: .max), UnixTime(seconds: .max).advanced(bySeconds: .max),
            UnixTime(seconds: .max).advanced(bySeconds: 1),
        ] { #expect(time.description == Self.last) }
    }

    @Test func `a time at either end can be moved back`() {
        #expect(UnixTime(seconds: .max).advanced(bySeconds: .min).description == Self.first)
        #expect(UnixTime(seconds: .min).advanced(bySeconds: .max).description == Self.last)
        #expect(UnixTime(seconds: .max).advanced(bySeconds: -1).seconds == 253_402_300_798)
    }

    @Test func `times round towards the past, also before 1970`() {
        let time = UnixTime(microseconds: -1)
        #expect(time.seconds == -1)
        #expect(time.milliseconds == -1)
        #expect(UnixTime(microseconds: -1_000_000).seconds == -1)
        #expect(UnixTime(microseconds: -1_000_001).seconds == -2)
        #expect(UnixTime(microseconds: 1_999_999).seconds == 1)
        #expect(UnixTime(milliseconds: 1_800_000_000_123).microseconds == 1_800_000_000_123_000)
    }

    @Test func `a time is written with as many digits of a second as it has`() {
        #expect(UnixTime(microseconds: 0).description == "1970-01-01T00:00:00Z")
        #expect(UnixTime(microseconds: 1000).description == "1970-01-01T00:00:00.001Z")
        #expect(UnixTime(microseconds: 1).description == "1970-01-01T00:00:00.000001Z")
        #expect(UnixTime(microseconds: -1).description == "1969-12-31T23:59:59.999999Z")
        #expect(UnixTime(seconds: 1_800_000_000).description == "2027-01-15T08:00:00Z")
    }

    @Test func `moments sort in the order of time`() {
        let moments = [Int64.min, -62_135_596_799_999_999, -1, 0, 1, 253_402_300_799_999_998, .max].map(
            UnixTime.init(microseconds:))
        #expect(moments.sorted() == moments)
        #expect(Set(moments).count == moments.count)
        #expect(UnixTime(seconds: 1) == UnixTime(milliseconds: 1000))
    }
}
