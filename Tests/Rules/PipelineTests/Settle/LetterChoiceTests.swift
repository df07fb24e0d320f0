import AdapterKit
import Testing

@testable import Pipeline

/// Tests of the filters by a letter's place, its origin and its time.
@Suite struct LetterChoiceTests {
    private static func entry(failedAt: String = "2026-11-21T10:00:00Z") -> DeadLetterEntry {
        let headers = [
            (HopHeaders.code, "unknown_app"), (HopHeaders.stage, "admit"), (HopHeaders.topic, "shop.reports"),
            (HopHeaders.partition, "2"), (HopHeaders.offset, "30"), (HopHeaders.failedAt, failedAt),
        ]
        let record = InputRecord(
            origin: RecordPosition(topic: "remint.dead-letters", partition: 1, offset: 7), timestamp: nil, key: nil,
            value: [], headers: headers.map { RecordHeader($0, $1) }, lane: .retries)
        return DeadLetterEntry(record, decoder: EventDecoder(maximumBytes: 1 << 20), at: now)
    }

    private static let now = UnixTime(seconds: 1_800_000_000)

    private static func matches(_ change: (inout DeadLetterFilter) -> Void) -> Bool {
        var filter = DeadLetterFilter()
        change(&filter)
        return filter.matches(entry(), at: now)
    }

    @Test func `a filter selects a letter by its place`() throws {
        #expect(Self.matches { $0.place = LetterPlace("1/7") })
        #expect(!Self.matches { $0.place = LetterPlace("0/7") } && !Self.matches { $0.place = LetterPlace("1/8") })
        for text in ["", "1", "1/", "/7", "-1/7", "1/-7", "1/7/2", "a/b", "1/9223372036854775807"] {
            #expect(LetterPlace(text) == nil, "\(text)")
        }
    }

    @Test func `a filter selects letters by topic, partition and offset of their origin`() {
        for text in ["shop.reports", "shop.reports/2", "shop.reports/2/30"] {
            #expect(Self.matches { $0.origin = OriginChoice(text) }, "\(text)")
        }
        for text in ["shop", "shop.reports/3", "shop.reports/2/31"] {
            #expect(!Self.matches { $0.origin = OriginChoice(text) }, "\(text)")
        }
        for text in ["", "/2", "t/x", "t/2/x", "t/2/3/4", "t/-1"] { #expect(OriginChoice(text) == nil, "\(text)") }
    }

    @Test func `a filter selects letters from a time on, and before another`() {
        let ten = UnixTime(seconds: 1_795_255_200), later = UnixTime(seconds: 1_795_255_201)
        #expect(Self.entry().failedAt == ten)
        #expect(Self.matches { $0.since = ten } && Self.matches { $0.until = later })
        #expect(!Self.matches { $0.since = later } && !Self.matches { $0.until = ten })
    }

    @Test func `each filter has a progress of its own`() {
        var texts: Set<String> = []
        for change: (inout DeadLetterFilter) -> Void in [
            { _ in }, { $0.place = LetterPlace("1/7") }, { $0.origin = OriginChoice("t/1/7") },
            { $0.since = Self.now }, { $0.until = Self.now },
        ] {
            var filter = DeadLetterFilter()
            change(&filter)
            texts.insert(filter.description)
        }
        #expect(texts.count == 5)
    }
}
