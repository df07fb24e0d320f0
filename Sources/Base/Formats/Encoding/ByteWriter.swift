/// Bytes under construction in a place that was lent: on the stack as a rule, on the heap where that is too small.
///
/// An array would be checked for its owner and its size with every piece; a token is put together from a dozen of them.
@safe
public struct ByteWriter: ~Copyable {
    private var buffer: UnsafeMutableBufferPointer<UInt8>
    private var isOwned = false
    /// The number of bytes that were written.
    public private(set) var count = 0

    /// Writes to `buffer`, which must outlive the writer.
    private init(lent buffer: UnsafeMutableBufferPointer<UInt8>) { unsafe self.buffer = unsafe buffer }

    deinit {
        if isOwned { unsafe buffer.deallocate() }
    }

    /// Calls `write`, then `read` with the written bytes.
    ///
    /// Not generic, so that no other module pays for looking its types up.
    package static func with(_ write: (inout ByteWriter) -> Void, _ read: (UnsafeBufferPointer<UInt8>) -> Void) {
        // More than a kilobyte would be taken from the heap.
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { lent in
            var writer = unsafe ByteWriter(lent: lent)
            write(&writer)
            unsafe read(UnsafeBufferPointer(rebasing: writer.buffer[..<writer.count]))
        }
    }

    /// Returns the bytes that `write` writes.
    public static func bytes(_ write: (inout ByteWriter) -> Void) -> [UInt8] {
        var bytes: [UInt8] = []
        unsafe with(write) { bytes = unsafe Array($0) }
        return bytes
    }

    /// Returns the bytes that `write` writes. Up to `estimate` bytes are written in their place; more of them are copied once.
    public static func bytes(estimate: Int, _ write: (inout ByteWriter) -> Void) -> [UInt8] {
        var larger: [UInt8] = []
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(1, estimate)) { buffer, count in
            var writer = unsafe ByteWriter(lent: buffer)
            write(&writer)
            if writer.isOwned {
                larger = unsafe Array(UnsafeBufferPointer(rebasing: writer.buffer[..<writer.count]))
            } else {
                count = writer.count
            }
        }
        return larger.isEmpty ? bytes : larger
    }

    /// Appends `bytes` from one place up to another.
    public mutating func append(_ bytes: [UInt8], from start: Int, to end: Int) {
        guard start >= 0, start < end, end <= bytes.count else { return }
        unsafe bytes.withUnsafeBufferPointer { unsafe append(UnsafeBufferPointer(rebasing: $0[start..<end])) }
    }

    /// Appends `bytes`.
    public mutating func append(_ bytes: [UInt8]) { append(bytes, from: 0, to: bytes.count) }

    /// Appends the literal `text`.
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
        guard let base = unsafe buffer.baseAddress else { return }
        count += unsafe Decimal.write(value, to: base + count)
    }

    /// Appends the four bytes of `value`, the lowest first.
    public mutating func append(littleEndian value: Int32) {
        makeRoom(for: 4)
        store(value)
    }

    /// Writes the four bytes of `value`, the lowest first, over those that were written from `place` on.
    public mutating func overwrite(_ place: Int, littleEndian value: Int32) {
        guard place >= 0, place <= count - 4 else { return }
        unsafe UnsafeMutableRawPointer(buffer.baseAddress)?.storeBytes(
            of: value.littleEndian, toByteOffset: place, as: Int32.self)
    }

    /// Appends `bytes` in base64url.
    public mutating func append(base64URL bytes: [UInt8]) {
        let length = Base64.url.encodedCount(of: bytes.count)
        makeRoom(for: length)
        unsafe bytes.withUnsafeBufferPointer {
            unsafe Base64.url.write($0, to: UnsafeMutableBufferPointer(rebasing: buffer[count..<count + length]))
        }
        count += length
    }

    /// Appends `text` as a JSON string.
    public mutating func append(quoting text: String) {
        append(UInt8(ascii: "\""))
        append(escaping: text)
        append(UInt8(ascii: "\""))
    }

    /// Appends `text`, escaped for the inside of a JSON string.
    public mutating func append(escaping text: String) {
        var text = text
        text.withUTF8 { utf8 in
            if unsafe JSONText.isPlain(utf8) { unsafe append(utf8) } else { append(unsafe JSONText.escaped(utf8)) }
        }
    }

    /// Appends a version 4 UUID made of these random bits (RFC 9562, section 5.4), lowercase.
    public mutating func append(uuid high: UInt64, _ low: UInt64) {
        makeRoom(for: 36)
        // The version stands in the seventh byte, the variant in the ninth.
        let first = Hexadecimal.digits(of: high & ~0xF000 | 0x4000)
        let second = Hexadecimal.digits(of: low & ~(3 << 62) | 2 << 62)
        store(first.0)
        store(UInt8(ascii: "-"))
        store(UInt32(truncatingIfNeeded: first.1))
        store(UInt8(ascii: "-"))
        store(UInt32(truncatingIfNeeded: first.1 >> 32))
        store(UInt8(ascii: "-"))
        store(UInt32(truncatingIfNeeded: second.0))
        store(UInt8(ascii: "-"))
        store(UInt32(truncatingIfNeeded: second.0 >> 32))
        store(second.1)
    }

    /// Writes the bytes of `characters`, the lowest first, where there is room for them.
    private mutating func store<Characters: FixedWidthInteger>(_ characters: Characters) {
        unsafe UnsafeMutableRawPointer(buffer.baseAddress)?.storeBytes(
            of: characters.littleEndian, toByteOffset: count, as: Characters.self)
        count += MemoryLayout<Characters>.size
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        makeRoom(for: bytes.count)
        guard let source = bytes.baseAddress, let target = unsafe buffer.baseAddress else { return }
        unsafe (target + count).update(from: source, count: bytes.count)
        count += bytes.count
    }

    @inline(__always)
    private mutating func makeRoom(for more: Int) {
        if unsafe buffer.count - count < more { grow(for: more) }
    }

    private mutating func grow(for more: Int) {
        let larger = unsafe UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(buffer.count * 2, count + more))
        _ = unsafe larger.update(fromContentsOf: buffer[..<count])
        if isOwned { unsafe buffer.deallocate() }
        unsafe buffer = unsafe larger
        isOwned = true
    }
}
