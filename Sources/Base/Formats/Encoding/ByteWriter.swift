/// Bytes under construction in a place that was lent: on the stack as a rule, on the heap where that is too small.
///
/// An array would be checked for its owner and its size with every piece; a token is put together from a dozen of them.
@safe
public struct ByteWriter: ~Copyable {
    /// The place of the first byte, which outlives the writer or is its own.
    @usableFromInline var base: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    @usableFromInline var written = 0
    private var isOwned = false

    /// The number of bytes that were written.
    @inlinable public var count: Int { written }

    /// Writes to `capacity` bytes from `base` on, which must outlive the writer.
    private init(lent base: UnsafeMutablePointer<UInt8>, capacity: Int) {
        unsafe self.base = unsafe base
        self.capacity = capacity
    }

    deinit {
        if isOwned { unsafe base.deallocate() }
    }

    /// The bytes that were written.
    private var bytes: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(start: base, count: written) }

    /// Calls `write`, then `read` with the written bytes.
    ///
    /// Not generic, so that no other module pays for looking its types up.
    package static func with(_ write: (inout ByteWriter) -> Void, _ read: (UnsafeBufferPointer<UInt8>) -> Void) {
        // More than a kilobyte would be taken from the heap.
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { lent in
            guard let base = lent.baseAddress else { return }
            var writer = unsafe ByteWriter(lent: base, capacity: lent.count)
            write(&writer)
            unsafe read(writer.bytes)
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
        var bytes: [UInt8] = []
        // `init(capacity:)` looks the array's type up each time.
        bytes.append(addingCapacity: max(1, estimate)) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                guard let base = buffer.baseAddress else { return }
                var writer = unsafe ByteWriter(lent: base, capacity: buffer.count)
                write(&writer)
                if writer.isOwned { larger = unsafe Array(writer.bytes) } else { count = writer.count }
            }
        }
        return larger.isEmpty ? bytes : larger
    }

    /// Appends `bytes` from one place up to another.
    @inlinable public mutating func append(_ bytes: [UInt8], from start: Int, to end: Int) {
        guard start >= 0, start < end, end <= bytes.count else { return }
        unsafe bytes.withUnsafeBufferPointer { unsafe append(UnsafeBufferPointer(rebasing: $0[start..<end])) }
    }

    /// Appends `bytes`.
    @inlinable public mutating func append(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }

    /// Appends the literal `text`.
    @inlinable public mutating func append(_ text: StaticString) {
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends the bytes of `span`.
    @inlinable public mutating func append(_ span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { unsafe append($0) }
    }

    /// Appends the bytes at `part`, which were written before, once more.
    public mutating func append(again part: Range<Int>) {
        guard part.lowerBound >= 0, part.upperBound <= written else { return }
        makeRoom(for: part.count)
        unsafe append(UnsafeBufferPointer(start: base + part.lowerBound, count: part.count))
    }

    /// Appends one byte.
    @inlinable public mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        unsafe base[written] = byte
        written &+= 1
    }

    /// The last byte.
    public var last: UInt8? { written > 0 ? unsafe base[written - 1] : nil }

    /// Appends `value` in decimal digits.
    public mutating func append(decimal value: Int64) {
        makeRoom(for: 20)
        written &+= unsafe Decimal.write(value, to: base + written)
    }

    /// Appends the four bytes of `value`, the lowest first.
    @inlinable public mutating func append(littleEndian value: Int32) {
        makeRoom(for: 4)
        store(value)
    }

    /// Writes the four bytes of `value`, the lowest first, over those that were written from `place` on.
    @inlinable public mutating func overwrite(_ place: Int, littleEndian value: Int32) {
        guard place >= 0, place <= written - 4 else { return }
        unsafe UnsafeMutableRawPointer(base).storeBytes(of: value.littleEndian, toByteOffset: place, as: Int32.self)
    }

    /// Appends `bytes` in base64url.
    public mutating func append(base64URL bytes: [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(base64URL: $0) }
    }

    /// Appends `bytes` in base64url.
    @unsafe package mutating func append(base64URL bytes: UnsafeBufferPointer<UInt8>) {
        let length = Base64.url.encodedCount(of: bytes.count)
        makeRoom(for: length)
        unsafe Base64.url.write(bytes, to: UnsafeMutableBufferPointer(start: base + written, count: length))
        written &+= length
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
        // The version is in the seventh byte, the variant in the ninth.
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
    @inlinable
    mutating func store<Characters: FixedWidthInteger>(_ characters: Characters) {
        unsafe UnsafeMutableRawPointer(base).storeBytes(
            of: characters.littleEndian, toByteOffset: written, as: Characters.self)
        written &+= MemoryLayout<Characters>.size
    }

    @inlinable
    @unsafe mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        makeRoom(for: bytes.count)
        unsafe UnsafeMutableRawPointer(base + written).copyMemory(from: source, byteCount: bytes.count)
        written &+= bytes.count
    }

    // No sum of lengths of bytes in memory overflows.
    @inlinable
    @inline(__always)
    mutating func makeRoom(for more: Int) {
        if capacity &- written < more { grow(for: more) }
    }

    @usableFromInline
    @inline(never)
    mutating func grow(for more: Int) {
        let size = max(capacity * 2, written + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
        unsafe larger.update(from: base, count: written)
        if isOwned { unsafe base.deallocate() }
        unsafe base = unsafe larger
        capacity = size
        isOwned = true
    }
}
