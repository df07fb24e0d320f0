/// Numbers in decimal digits.
enum Decimal {
    /// Writes `value` to `target`, which has room for 20 bytes.
    ///
    /// - Returns: the number of bytes that were written.
    @unsafe
    static func write(_ value: Int64, to target: UnsafeMutablePointer<UInt8>) -> Int {
        let pairs: StaticString = """
            0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
            5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
            """
        let digits = unsafe UnsafeRawPointer(pairs.utf8Start)
        var magnitude = value.magnitude
        let sign = value < 0 ? 1 : 0
        let count = places(of: magnitude) + sign
        var place = count
        // No place overflows: a number has 20 digits at most.
        while magnitude >= 10 {
            let rest = magnitude / 100
            let pair = magnitude &- rest &* 100
            magnitude = rest
            place &-= 2
            let both = unsafe digits.loadUnaligned(fromByteOffset: Int(truncatingIfNeeded: pair &* 2), as: UInt16.self)
            unsafe UnsafeMutableRawPointer(target + place).storeBytes(of: both, as: UInt16.self)
        }
        // What is left is one digit, or none: a pair may have begun with a zero that is none of the number's.
        if place > sign { unsafe target[place &- 1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: magnitude) }
        if value < 0 { unsafe target[0] = UInt8(ascii: "-") }
        return count
    }

    /// Returns the number of digits of `magnitude`.
    private static func places(of magnitude: UInt64) -> Int {
        var (places, rest) = (1, magnitude)
        while rest >= 10_000 {
            places &+= 4
            rest /= 10_000
        }
        return places &+ (rest >= 10 ? 1 : 0) &+ (rest >= 100 ? 1 : 0) &+ (rest >= 1000 ? 1 : 0)
    }
}
