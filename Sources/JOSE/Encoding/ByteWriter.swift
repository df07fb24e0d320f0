/// Bytes under construction in a place that was lent: on the stack as a rule, on the heap where that is too small.
///
/// An array would be checked for its owner and its size with every piece; a token is put together from a dozen of them.
@safe
public struct ByteWriter: ~Copyable {
    private var buffer: UnsafeMutableBufferPointer<UInt8>
    private var isOwned = false
    /// How many bytes were written.
    public private(set) var count = 0

    /// Writes to `buffer`, which must outlive the writer.
    private init(lent buffer: UnsafeMutableBufferPointer<UInt8>) { unsafe self.buffer = unsafe buffer }

    deinit {
        if isOwned { unsafe buffer.deallocate() }
    }

    /// Calls `write`, then `read` with what was written.
    ///
    /// Not generic, so that no other module pays for looking its types up.
    static func with(_ write: (inout ByteWriter) -> Void, _ read: (UnsafeBufferPointer<UInt8>) -> Void) {
        // More than a kilobyte would be taken from the heap.
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { lent in
            var writer = unsafe ByteWriter(lent: lent)
            write(&writer)
            unsafe read(UnsafeBufferPointer(rebasing: writer.buffer[..<writer.count]))
        }
    }

    /// What `write` writes.
    public static func bytes(_ write: (inout ByteWriter) -> Void) -> [UInt8] {
        var bytes: [UInt8] = []
        unsafe with(write) { bytes = unsafe Array($0) }
        return bytes
    }

    /// Appends `bytes` from one place up to another.
    public mutating func append(_ bytes: [UInt8], from start: Int, to end: Int) {
        guard start >= 0, start < end, end <= bytes.count else { return }
        unsafe bytes.withUnsafeBufferPointer { unsafe append(UnsafeBufferPointer(rebasing: $0[start..<end])) }
    }

    /// Appends `bytes`.
    public mutating func append(_ bytes: [UInt8]) { append(bytes, from: 0, to: bytes.count) }

    /// Appends `text` as it stands in the program.
    public mutating func append(_ text: StaticString) {
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends the bytes of `span`.
    public mutating func append(_ span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { unsafe append($0) }
    }

    /// Appends one byte.
    public mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        unsafe buffer[count] = byte
        count += 1
    }

    /// The last byte.
    public var last: UInt8? { count > 0 ? unsafe buffer[count - 1] : nil }

    /// Appends `value` in decimal digits.
    public mutating func append(decimal value: Int64) {
        makeRoom(for: 20)
        count += unsafe Decimal.write(value, to: UnsafeMutableBufferPointer(rebasing: buffer[count...]))
    }

    /// Appends `text` as a JSON string.
    public mutating func append(quoting text: String) {
        var text = text
        append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            if unsafe JSONText.isPlain(utf8) { unsafe append(utf8) } else { append(unsafe JSONText.escaped(utf8)) }
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends a version 4 UUID made of these random bits (RFC 9562, section 5.4), lowercase.
    public mutating func append(uuid high: UInt64, _ low: UInt64) {
        makeRoom(for: 36)
        // The version stands in the seventh byte, the variant in the ninth.
        let words = (high & ~0xF000 | 0x4000, low & ~(3 << 62) | 2 << 62)
        for byte in 0..<16 {
            if byte == 4 || byte == 6 || byte == 8 || byte == 10 {
                unsafe buffer[count] = UInt8(ascii: "-")
                count += 1
            }
            let word = byte < 8 ? words.0 : words.1
            let value = Int(truncatingIfNeeded: word >> UInt64(56 - 8 * (byte & 7)) & 0xFF)
            unsafe buffer[count] = Self.hexadecimal[value >> 4]
            unsafe buffer[count + 1] = Self.hexadecimal[value & 15]
            count += 2
        }
    }

    /// A static string's bytes are there for good, and without a lock.
    private static var hexadecimal: UnsafePointer<UInt8> {
        let digits: StaticString = "0123456789abcdef"
        return unsafe digits.utf8Start
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        makeRoom(for: bytes.count)
        guard let source = bytes.baseAddress, let target = unsafe buffer.baseAddress else { return }
        unsafe (target + count).update(from: source, count: bytes.count)
        count += bytes.count
    }

    private mutating func makeRoom(for more: Int) {
        guard unsafe buffer.count - count < more else { return }
        let larger = unsafe UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(buffer.count * 2, count + more))
        _ = unsafe larger.update(fromContentsOf: buffer[..<count])
        if isOwned { unsafe buffer.deallocate() }
        unsafe buffer = unsafe larger
        isOwned = true
    }
}

/// Numbers in decimal digits.
enum Decimal {
    /// Writes `value` to `target`, which has room for 20 bytes.
    ///
    /// - Returns: how many bytes it takes.
    static func write(_ value: Int64, to target: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let pairs: StaticString = """
            0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
            5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
            """
        let digits = unsafe pairs.utf8Start
        var magnitude = value.magnitude
        let count = places(of: magnitude) + (value < 0 ? 1 : 0)
        var place = count
        while magnitude >= 10 {
            let pair = Int(truncatingIfNeeded: magnitude % 100) * 2
            magnitude /= 100
            place -= 2
            unsafe target[place] = digits[pair]
            unsafe target[place + 1] = digits[pair + 1]
        }
        // What is left is one digit, or none: a pair may have begun with a zero that is none of the number's.
        if place > (value < 0 ? 1 : 0) {
            unsafe target[place - 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude)
        }
        if value < 0 { unsafe target[0] = UInt8(ascii: "-") }
        return count
    }

    /// How many digits `magnitude` has.
    private static func places(of magnitude: UInt64) -> Int {
        var (places, rest) = (1, magnitude)
        while rest >= 10_000 {
            places += 4
            rest /= 10_000
        }
        return places + (rest >= 10 ? 1 : 0) + (rest >= 100 ? 1 : 0) + (rest >= 1000 ? 1 : 0)
    }
}
