import Testing
import WorkerConfiguration

@Suite("Durations and lifetimes")
struct DurationTests {
    static let right: [(text: String, duration: Duration)] = [
        ("1ms", .milliseconds(1)), ("20ms", .milliseconds(20)), ("10s", .seconds(10)), ("1m", .seconds(60)),
        ("12h", .seconds(43_200)), ("30d", .seconds(2_592_000)), ("007s", .seconds(7)),
        ("365000d", .seconds(31_536_000_000)),
    ]

    @Test(arguments: right) func `a duration is parsed`(_ text: String, _ duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(arguments: [
        "", "s", "10", "10 s", " 10s", "10s ", "10S", "10sec", "1.5h", "-1s", "+1s", "0s", "0ms", "1h30m", "ms1", "١s",
        "１s",
        "99999999999999999999s", "9223372036854775807d", "365001d", "1s\n", "1\u{301}s", "1e3s", "0x10s", "1w", "1y",
    ])
    func `a string that is no duration is refused`(_ text: String) { #expect(DurationText.parse(text) == nil) }

    @Test(arguments: [
        (60, "1m"), (3600, "1h"), (86_400, "1d"), (43_200, "12h"), (90, "90s"), (5400, "90m"), (2_592_000, "30d"),
        (1, "1s"),
    ])
    func `whole seconds are written as they would be configured`(_ seconds: Int64, _ text: String) {
        #expect(DurationText.format(seconds: seconds) == text)
        #expect(DurationText.parse(text) == .seconds(seconds))
    }

    static let lifetimes: [Mistake] = [
        Mistake("a list", SampleText.with("    lifetime: [1h]\n"), says: "10:15 apps.ios.lifetime must be a string"),
        Mistake(
            "more than the vendor's", SampleText.with("    lifetime: 31d\n"),
            says: "10:15 apps.ios.lifetime must be from 1m to 30d, as tokens of Braze live"),
        Mistake(
            "a second more than the vendor's", SampleText.with("    lifetime: 2592001s\n"),
            says: "10:15 apps.ios.lifetime must be from 1m to 30d, as tokens of Braze live"),
        Mistake(
            "no whole second", SampleText.with("    lifetime: 61500ms\n"),
            says: "10:15 apps.ios.lifetime must be from 1m to 30d, as tokens of Braze live"),
        Mistake(
            "another vendor's bounds",
            SampleText.replacing(
                "adapter: braze", "adapter: dotdigital\n    lifetime: 13h\n    settings: { issuer: a, audience: b }"),
            says: "9:15 apps.ios.lifetime must be from 1m to 12h, as tokens of Dotdigital live"),
    ]

    @Test(arguments: lifetimes) func `an unusable lifetime is refused`(_ mistake: Mistake) { mistake.check() }

    @Test(arguments: [("60s", 60), ("1m", 60), ("60000ms", 60), ("30d", 2_592_000), ("'90s'", 90)])
    func `a lifetime within the vendor's bounds is accepted`(_ text: String, _ seconds: Int64) throws {
        #expect(try SampleText.with("    lifetime: \(text)\n").configuration().apps.first?.lifetime == seconds)
    }
}
