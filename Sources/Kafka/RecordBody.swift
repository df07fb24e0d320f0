/// A record's key, value and headers in one stretch of bytes: millions of them come and go, and each piece of memory costs.
///
/// First the key, then the headers, then the value. A header is the length of its name and that of its value, four bytes each
/// with the lowest first and -1 for a null value, then the name and the value. Who has such a stretch already hands it on as
/// it is, in either direction.
public struct RecordBody: Sendable {
    /// All of it.
    public let bytes: [UInt8]
    /// How many of `bytes` are the key; -1 where there is none.
    public let keyLength: Int32
    /// How many of `bytes` are headers.
    public let headersLength: Int32
    /// Whether the rest is a value; else there is none, which for a producer is a tombstone.
    public let hasValue: Bool

    /// A body that was put together elsewhere. Lengths that reach too far end where what they lie in does.
    public init(bytes: [UInt8], keyLength: Int32, headersLength: Int32, hasValue: Bool) {
        self.bytes = bytes
        self.keyLength = keyLength
        self.headersLength = headersLength
        self.hasValue = hasValue
    }

    /// A body of these parts.
    public init(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader]) {
        var bytes = key ?? []
        let keyLength = bytes.count
        for header in headers {
            Self.append(Int32(clamping: header.name.utf8.count), to: &bytes)
            Self.append(header.value.map { Int32(clamping: $0.count) } ?? -1, to: &bytes)
            bytes += header.name.utf8
            bytes += header.value ?? []
        }
        let headersLength = bytes.count - keyLength
        bytes += value ?? []
        self.init(
            bytes: bytes, keyLength: key == nil ? -1 : Int32(clamping: keyLength),
            headersLength: Int32(clamping: headersLength), hasValue: value != nil)
    }

    /// Appends the four bytes of `length`.
    static func append(_ length: Int32, to bytes: inout [UInt8]) {
        unsafe withUnsafeBytes(of: length.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    // MARK: Parts

    /// The key; nil for none.
    public var key: [UInt8]? { keyPart.map { Array(bytes[$0]) } }

    /// The value; nil for none.
    public var value: [UInt8]? { valuePart.map { Array(bytes[$0]) } }

    /// The headers, each a copy.
    public var headers: [RecordHeader] {
        var headers: [RecordHeader] = []
        forEachHeader { name, value in
            headers.append(RecordHeader(String(decoding: bytes[name], as: UTF8.self), value.map { Array(bytes[$0]) }))
        }
        return headers
    }

    // MARK: Places

    /// How many bytes a header takes besides its name and its value: the lengths of both.
    static let lengthBytes = 8

    /// Where in `bytes` the key stands.
    var keyPart: Range<Int>? { keyLength < 0 ? nil : 0..<headersPart.lowerBound }

    /// Where in `bytes` the headers stand.
    private var headersPart: Range<Int> {
        let start = min(bytes.count, Int(max(0, keyLength)))
        return start..<min(bytes.count, start + Int(max(0, headersLength)))
    }

    /// Where in `bytes` the value stands.
    var valuePart: Range<Int>? { hasValue ? headersPart.upperBound..<bytes.count : nil }

    /// Calls `body` with the places in `bytes` of each header's name and value.
    func forEachHeader(_ body: (_ name: Range<Int>, _ value: Range<Int>?) -> Void) {
        let part = headersPart
        var start = part.lowerBound
        while part.upperBound - start >= Self.lengthBytes {
            let (nameLength, valueLength) = (length(at: start), length(at: start + 4))
            let nameStart = start + Self.lengthBytes
            let nameEnd = min(part.upperBound, nameStart + max(0, nameLength))
            let valueEnd = min(part.upperBound, nameEnd + max(0, valueLength))
            body(nameStart..<nameEnd, valueLength < 0 ? nil : nameEnd..<valueEnd)
            start = valueEnd
        }
    }

    private func length(at place: Int) -> Int {
        let low = UInt32(bytes[place]) | UInt32(bytes[place + 1]) << 8
        let high = UInt32(bytes[place + 2]) | UInt32(bytes[place + 3]) << 8
        return Int(Int32(truncatingIfNeeded: low | high << 16))
    }
}
