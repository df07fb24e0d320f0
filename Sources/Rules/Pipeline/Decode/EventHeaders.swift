import AdapterKit
import Records

/// The headers with facts about an event, collected in one pass over all headers of its record.
///
/// The decoder asks for a dozen headers, and most records have few of them. Each look-up on its own would scan all
/// headers.
struct EventHeaders {
    /// A header with a fact about an event, ordered by length, so that few are compared.
    enum Name: Int, CaseIterable {
        case cloudID, cloudApp, cloudTime, cloudType, id, cloudUnseen, app, traceState, cloudSubject, cloudVouched
        case traceParent, contentType, device, specVersion, vouched, cloudTraceParent, observedAt

        var text: StaticString {
            switch self {
            case .cloudID: "ce_id"
            case .cloudApp: "ce_app"
            case .cloudTime: "ce_time"
            case .cloudType: "ce_type"
            case .id: "remint-id"
            case .cloudUnseen: "ce_unseen"
            case .app: "remint-app"
            case .traceState: "tracestate"
            case .cloudSubject: "ce_subject"
            case .cloudVouched: "ce_vouched"
            case .traceParent: "traceparent"
            case .contentType: "content-type"
            case .device: "remint-device"
            case .specVersion: "ce_specversion"
            case .vouched: "remint-vouched"
            case .cloudTraceParent: "ce_traceparent"
            case .observedAt: "remint-observed-at"
            }
        }

        /// Returns the first and the last header whose name has `length` bytes.
        fileprivate static func ofLength(_ length: Int) -> (first: Name, last: Name)? {
            switch length {
            case 5: (.cloudID, .cloudID)
            case 6: (.cloudApp, .cloudApp)
            case 7: (.cloudTime, .cloudType)
            case 9: (.id, .cloudUnseen)
            case 10: (.app, .cloudVouched)
            case 11: (.traceParent, .traceParent)
            case 12: (.contentType, .contentType)
            case 13: (.device, .device)
            case 14: (.specVersion, .cloudTraceParent)
            case 18: (.observedAt, .observedAt)
            default: nil
            }
        }
    }

    /// The place of a header's last value. The last value counts, as in Kafka.
    private struct Place {
        var start: Int32 = 0
        /// The end of the value; -1 for a null one.
        var end: Int32 = -1
        var count: Int32 = 0
    }

    private let bytes: [UInt8]
    private let places: [17 of Place]

    /// Collects the headers of `body`.
    init(_ body: RecordBody) {
        bytes = body.bytes
        var places: [17 of Place] = .init(repeating: Place())
        body.forEachHeader { part, value in
            guard let name = Self.name(part, body.bytes)?.rawValue else { return }
            places[name].count += 1
            places[name].start = Int32(clamping: value?.lowerBound ?? 0)
            places[name].end = Int32(clamping: value?.upperBound ?? -1)
        }
        self.places = places
    }

    /// Returns the place of `name`, without a copy of all places.
    private func place(_ name: Name) -> Place { places.span[name.rawValue] }

    /// Returns whether the header `name` exists.
    func has(_ name: Name) -> Bool { place(name).count > 0 }

    /// Returns the number of headers called `name`.
    func count(of name: Name) -> Int { Int(place(name).count) }

    /// Returns the last value of the header `name`; nil if it is missing, null or not UTF-8.
    func text(_ name: Name) -> String? {
        let place = place(name)
        guard place.end >= place.start else { return nil }
        let value = Int(place.start)..<Int(place.end)
        do { return String(copying: try UTF8Span(validating: bytes.span.extracting(value))) } catch { return nil }
    }

    /// Returns whether the last value of the header `name` is `text`, byte for byte.
    func says(_ name: Name, _ text: String) -> Bool {
        let place = place(name)
        guard place.end >= place.start else { return false }
        return bytes.span.extracting(Int(place.start)..<Int(place.end)).hasSameBytes(as: text.utf8.span)
    }

    private static func name(_ part: Range<Int>, _ bytes: [UInt8]) -> Name? {
        guard let (first, last) = Name.ofLength(part.count) else { return nil }
        for number in first.rawValue...last.rawValue {
            if let name = Name(rawValue: number), isEqual(part, bytes, name.text) { return name }
        }
        return nil
    }

    private static func isEqual(_ part: Range<Int>, _ bytes: [UInt8], _ text: StaticString) -> Bool {
        text.withUTF8Buffer { wanted in bytes.span.extracting(part).hasSameBytes(as: wanted.span) }
    }
}
