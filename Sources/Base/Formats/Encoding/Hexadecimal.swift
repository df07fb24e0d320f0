/// Numbers in hexadecimal digits.
enum Hexadecimal {
    /// Returns the sixteen lowercase digits of `value`, in two halves, each with its first digit in the lowest byte.
    static func digits(of value: UInt64) -> (UInt64, UInt64) {
        (digits(of: UInt32(truncatingIfNeeded: value >> 32)), digits(of: UInt32(truncatingIfNeeded: value)))
    }

    /// Returns all eight digits at once: a table would be read, and its bounds checked, for each digit.
    private static func digits(of value: UInt32) -> UInt64 {
        // Every byte in sixteen bits of its own, then each half of a byte in eight.
        var spread = UInt64(value.byteSwapped)
        spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF
        spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
        let halves = spread >> 4 & 0x000F_000F_000F_000F | (spread & 0x000F_000F_000F_000F) << 8
        // What is 10 or more carries into the upper half when 6 is added to it.
        let isLetter = (halves &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        let fromColonToA = UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
        return halves &+ 0x3030_3030_3030_3030 &+ isLetter &* fromColonToA
    }
}
