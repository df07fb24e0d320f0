/// The span and the trace to which something belongs, as W3C Trace Context writes them.
public struct TraceContext: Sendable, Hashable {
    /// The trace: 16 bytes, the higher eight first. One of the two is not zero.
    private let trace: TraceNumber
    /// The span. Not zero.
    private let span: UInt64
    public let isSampled: Bool
    /// `tracestate`, handed on as it came; empty for none.
    public let state: String

    private struct TraceNumber: Hashable {
        let high: UInt64
        let low: UInt64
    }
}

extension TraceContext {
    // MARK: New ones

    /// Returns the first span of a new trace, which is sampled.
    public static func root(using random: inout some RandomNumberGenerator) -> TraceContext {
        let trace = TraceNumber(high: .random(in: 0 ... .max, using: &random), low: fresh(&random))
        return TraceContext(trace: trace, span: fresh(&random), isSampled: true, state: "")
    }

    public func child(using random: inout some RandomNumberGenerator) -> TraceContext {
        TraceContext(trace: trace, span: Self.fresh(&random), isSampled: isSampled, state: state)
    }

    private static func fresh(_ random: inout some RandomNumberGenerator) -> UInt64 {
        .random(in: 1 ... .max, using: &random)
    }

    // MARK: Text

    /// The trace's id: 32 hexadecimal digits.
    public var traceID: String { Self.hex(trace.high) + Self.hex(trace.low) }
    /// The span's id: 16 hexadecimal digits.
    public var spanID: String { Self.hex(span) }
    /// The value of `traceparent` (W3C Trace Context, section 3.2).
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    /// The context in the two headers; nil where `traceparent` is invalid, and is to be treated as if it were missing.
    /// An unknown version is read as far as the first version goes (section 3.2.4).
    public init?(traceparent text: String, tracestate state: String? = nil) {
        guard text.utf8.count <= 512 else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count >= 4, let version = Self.number(parts[0], digits: 2), version < 0xFF,
            version > 0 || parts.count == 4, parts[1].count == 32,
            let high = Self.number(parts[1].prefix(16), digits: 16),
            let low = Self.number(parts[1].dropFirst(16), digits: 16), high != 0 || low != 0,
            let span = Self.number(parts[2], digits: 16), span != 0, let flags = Self.number(parts[3], digits: 2)
        else { return nil }
        // More than 512 characters need not be handed on (section 3.3.1.5).
        let kept = state.flatMap { $0.utf8.count <= 512 ? $0 : nil } ?? ""
        self.init(trace: TraceNumber(high: high, low: low), span: span, isSampled: flags & 1 == 1, state: kept)
    }

    /// Returns the number that `text` writes in `digits` lowercase hexadecimal digits, as the recommendation has them;
    /// nil for any other text.
    private static func number(_ text: Substring.UTF8View, digits: Int) -> UInt64? {
        guard text.count == digits else { return nil }
        var number: UInt64 = 0
        for digit in text {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
