public import Formats

/// A record's key, value and headers in one stretch of bytes: millions of them come and go, and each piece of memory costs.
///
/// First the key, then the headers, then the value. A header is the length of its name and that of its value, four bytes each
/// with the lowest first and -1 for a null value, then the name and the value. The Kafka client copies a record into this form,
/// and the pipeline writes its records in it, so that nobody puts the parts together twice.
public struct RecordBody: Sendable, Equatable {
    /// The whole body.
    public let bytes: [UInt8]
    /// The number of `bytes` in the key; -1 where there is none.
    public let keyLength: Int32
    /// The number of `bytes` in the headers.
    public let headersLength: Int32
    /// Whether the rest is a value; else there is none, which for a producer is a tombstone.
    public let hasValue: Bool

    /// A body from bytes of another source. A length that reaches too far ends with the part that contains it.
    public init(bytes: [UInt8], keyLength: Int32, headersLength: Int32, hasValue: Bool) {
        self.bytes = bytes
        self.keyLength = keyLength
        self.headersLength = headersLength
        self.hasValue = hasValue
    }

    /// A body of these parts.
    public init(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader]) {
        let size = headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) {
            $0 + Self.lengthBytes + $1.name.utf8.count + ($1.value?.count ?? 0)
        }
        self.init(key: key, hasValue: value != nil, estimate: size) { bytes in
            for header in headers { bytes.append(header: header) }
        } value: { bytes in
            if let value { bytes.append(value) }
        }
    }

    /// A body whose headers and value are written straight to their place.
    ///
    /// - Parameter estimate: about how many bytes it has; one that has more is copied once.
    public init(
        key: [UInt8]?, hasValue: Bool, estimate: Int = 1024, headers: (inout ByteWriter) -> Void,
        value: (inout ByteWriter) -> Void
    ) {
        var headersLength = 0
        let keyLength = key?.count ?? 0
        let bytes = ByteWriter.bytes(estimate: estimate) { bytes in
            if let key { bytes.append(key) }
            headers(&bytes)
            headersLength = bytes.count - keyLength
            value(&bytes)
        }
        self.init(
            bytes: bytes, keyLength: key == nil ? -1 : Int32(clamping: keyLength),
            headersLength: Int32(clamping: headersLength), hasValue: hasValue)
    }

    // MARK: Parts

    /// The key; nil for none.
    public var key: [UInt8]? { keyLength < 0 ? nil : Array(bytes[..<keyEnd]) }

    /// The value, a copy; nil for none.
    public var value: [UInt8]? { valuePart.map { Array(bytes[$0]) } }

    /// The key's range in `bytes`; nil for none.
    public var keyPart: Range<Int>? { keyLength < 0 ? nil : 0..<keyEnd }

    /// The value's range in `bytes`; nil for none.
    public var valuePart: Range<Int>? { hasValue ? headersEnd..<bytes.count : nil }

    /// The headers, each a copy.
    public var headers: [RecordHeader] {
        var headers: [RecordHeader] = []
        var at = keyEnd
        while let header = header(at: at) {
            headers.append(
                RecordHeader(String(decoding: bytes[header.name], as: UTF8.self), header.value.map { Array(bytes[$0]) })
            )
            at = header.end
        }
        return headers
    }

    /// Calls `body` with the places in `bytes` of each header's name and value.
    @inlinable public func forEachHeader(_ body: (_ name: Range<Int>, _ value: Range<Int>?) -> Void) {
        var at = keyEnd
        while let header = header(at: at) {
            body(header.name, header.value)
            at = header.end
        }
    }

    /// Returns whether there is a header `name`.
    public func has(_ name: String) -> Bool { place(of: name) != nil }

    /// Returns the number of headers with the name `name`.
    public func count(of name: String) -> Int {
        let wanted = name.utf8.span
        var at = keyEnd
        var count = 0
        while let header = header(at: at) {
            if wanted.hasSameBytes(as: bytes.span.extracting(header.name)) { count += 1 }
            at = header.end
        }
        return count
    }

    /// Returns the last value of the header `name`, which is the one that counts in Kafka; nil where it is null or not
    /// UTF-8.
    public func text(_ name: String) -> String? {
        guard let value = place(of: name) ?? nil else { return nil }
        // Without the generic way through a collection, which takes ten times as long.
        do { return String(copying: try UTF8Span(validating: bytes.span.extracting(value))) } catch { return nil }
    }

    /// Returns whether the last value of the header `name` is `text`, byte for byte. Nothing is copied.
    public func says(_ name: String, _ text: String) -> Bool {
        guard let value = place(of: name) ?? nil else { return false }
        return text.utf8.span.hasSameBytes(as: bytes.span.extracting(value))
    }

    /// Returns the range of the last value of the header `name`, or an inner nil where that value is null; nil where
    /// there is no such header.
    private func place(of name: String) -> Range<Int>?? {
        let wanted = name.utf8.span
        var at = keyEnd
        var found: Range<Int>??
        while let header = header(at: at) {
            if wanted.hasSameBytes(as: bytes.span.extracting(header.name)) { found = .some(header.value) }
            at = header.end
        }
        return found
    }

    // MARK: Places

    /// Appends the four bytes of `length`, as they stand before a header's name and value.
    public static func append(_ length: Int32, to bytes: inout [UInt8]) {
        let length = UInt32(bitPattern: length)
        for shift in [0, 8, 16, 24] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
    }

    /// The number of bytes of a header besides its name and its value: the lengths of both.
    @usableFromInline static var lengthBytes: Int { 8 }

    @inlinable var keyEnd: Int { min(bytes.count, Int(max(0, keyLength))) }
    @inlinable var headersEnd: Int { min(bytes.count, keyEnd + Int(max(0, headersLength))) }

    /// Returns the ranges of the header's parts at `place`; nil where there are no more headers.
    @inlinable func header(at place: Int) -> (name: Range<Int>, value: Range<Int>?, end: Int)? {
        let end = headersEnd
        guard end - place >= Self.lengthBytes else { return nil }
        let nameStart = place + Self.lengthBytes
        let nameEnd = min(end, nameStart + max(0, number(at: place)))
        let length = number(at: place + 4)
        let valueEnd = min(end, nameEnd + max(0, length))
        return (nameStart..<nameEnd, length < 0 ? nil : nameEnd..<valueEnd, valueEnd)
    }

    @inlinable func number(at place: Int) -> Int {
        let low = UInt32(bytes[place]) | UInt32(bytes[place + 1]) << 8
        let high = UInt32(bytes[place + 2]) | UInt32(bytes[place + 3]) << 8
        return Int(Int32(truncatingIfNeeded: low | high << 16))
    }
}

extension ByteWriter {
    /// Appends a header in the form of a `RecordBody`, with the bytes that `value` writes.
    @inlinable public mutating func append(header name: StaticString, _ value: (inout ByteWriter) -> Void) {
        append(littleEndian: Int32(clamping: name.utf8CodeUnitCount))
        let length = count
        append(littleEndian: 0)
        append(name)
        let start = count
        value(&self)
        overwrite(length, littleEndian: Int32(clamping: count - start))
    }

    /// Appends a header in the form of a `RecordBody`, with the decimal digits of `number`.
    ///
    /// - Returns: the place of the digits.
    @discardableResult
    public mutating func append(header name: StaticString, decimal number: Int64) -> Range<Int> {
        var start = 0
        append(header: name) { value in
            start = value.count
            value.append(decimal: number)
        }
        return start..<count
    }

    /// Appends `header` in the form of a `RecordBody`.
    public mutating func append(header: RecordHeader) {
        append(littleEndian: Int32(clamping: header.name.utf8.count))
        append(littleEndian: header.value.map { Int32(clamping: $0.count) } ?? -1)
        append(header.name.utf8.span)
        if let value = header.value { append(value) }
    }
}
