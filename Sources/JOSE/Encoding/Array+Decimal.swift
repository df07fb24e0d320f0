extension [UInt8] {
    /// Appends `value` in decimal digits.
    public mutating func appendDecimal(_ value: Int64) {
        var rest = value.magnitude
        // 19 digits and a sign hold every 64-bit number.
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = digits.count
            repeat {
                start -= 1
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                unsafe digits[start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
                rest = quotient
            } while rest > 0
            if value < 0 {
                start -= 1
                unsafe digits[start] = UInt8(ascii: "-")
            }
            unsafe append(contentsOf: digits[start...])
        }
    }
}
