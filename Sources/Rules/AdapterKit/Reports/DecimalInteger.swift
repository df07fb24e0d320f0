/// Reads integers that are written as decimals, such as `22.0` and `2.2e1`. Gson and Dart write an integer of an untyped map
/// like this, so a bridge passes on `22.0` for the code 22.
enum DecimalInteger {
    private static let zero = UInt8(ascii: "0")
    private static let nine = UInt8(ascii: "9")

    /// Returns the integer that `text` is, a number as JSON writes it; nil for a fraction, for an integer of more than 64
    /// bits, and for any other text.
    static func value(of text: some Sequence<UInt8>) -> Int64? {
        var bytes = Bytes(text)
        let isNegative = bytes.skip("-")
        // Zeros are pending until another digit follows them, so `significant` ends in a digit that is not zero.
        var significant: UInt64 = 0
        var zeros = 0, decimals = 0
        guard let whole = bytes.digits({ read($0, &significant, &zeros) }), whole > 0 else { return nil }
        if bytes.skip(".") {
            guard let count = bytes.digits({ read($0, &significant, &zeros) }), count > 0 else { return nil }
            decimals = count
        }
        var exponent = 0
        if bytes.skip("e") || bytes.skip("E") {
            let isSmall = bytes.skip("-")
            if !isSmall { _ = bytes.skip("+") }
            let digits = bytes.digits {
                // Beyond this, no exponent makes an integer of a number that fits into a report.
                exponent = min(exponent * 10 + Int($0), 1_000_000)
                return true
            }
            guard let digits, digits > 0 else { return nil }
            if isSmall { exponent = -exponent }
        }
        guard bytes.isAtEnd else { return nil }
        guard significant > 0 else { return 0 }
        let shift = zeros - decimals + exponent
        // The last significant digit would be behind the point.
        guard shift >= 0, grow(&significant, by: shift) else { return nil }
        if isNegative, significant == Int64.min.magnitude { return .min }
        return Int64(exactly: significant).map { isNegative ? -$0 : $0 }
    }

    /// Adds `digit`; returns false where the number no longer fits.
    private static func read(_ digit: UInt8, _ significant: inout UInt64, _ zeros: inout Int) -> Bool {
        guard digit > 0 else {
            if significant > 0 { zeros += 1 }
            return true
        }
        guard grow(&significant, by: zeros + 1) else { return false }
        zeros = 0
        let (sum, overflow) = significant.addingReportingOverflow(UInt64(digit))
        significant = sum
        return !overflow
    }

    /// Multiplies `number` by ten `times` times; returns false where the number no longer fits.
    private static func grow(_ number: inout UInt64, by times: Int) -> Bool {
        guard number > 0 else { return true }
        for _ in 0..<times {
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            guard !overflow else { return false }
            number = product
        }
        return true
    }

    /// The text, read from left to right.
    private struct Bytes<Text: Sequence<UInt8>> {
        private var rest: Text.Iterator
        private var next: UInt8?

        init(_ text: Text) {
            rest = text.makeIterator()
            next = rest.next()
        }

        var isAtEnd: Bool { next == nil }

        /// Skips `character` where it is next; returns whether it was.
        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard next == UInt8(ascii: character) else { return false }
            next = rest.next()
            return true
        }

        /// Passes each digit to `body` and returns their number; nil where `body` returned false.
        mutating func digits(_ body: (UInt8) -> Bool) -> Int? {
            var count = 0
            while let byte = next, zero <= byte, byte <= nine {
                guard body(byte - zero) else { return nil }
                count += 1
                next = rest.next()
            }
            return count
        }
    }
}

extension JSONValue {
    /// The integer that a report's number is, however it is written: `22`, `22.0` or `2.2e1`; nil for any other value.
    package var reportedInteger: Int64? {
        guard isNumber else { return nil }
        return integer ?? DecimalInteger.value(of: rawBytes)
    }
}
