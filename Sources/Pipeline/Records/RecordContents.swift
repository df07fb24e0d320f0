import AdapterKit

/// A record's key, value and headers, as few pieces of memory as can be: millions of them come and go.
///
/// Key and headers stand in one stretch of bytes: the key, then each header's name and value. The value has its own, for it
/// is what a JSON document is read from.
public struct RecordContents: Sendable {
    /// How many bytes of a header's name and of its value follow one another; -1 for a null value.
    public typealias HeaderLengths = (name: Int32, value: Int32)

    /// The value; nil for none.
    public let value: [UInt8]?
    /// The key, then each header's name and value.
    public let head: [UInt8]
    /// How many bytes of `head` are the key; -1 where there is none.
    public let keyLength: Int32
    /// The headers in their order.
    public let headerLengths: [HeaderLengths]

    /// Contents that were put together elsewhere. Lengths that reach beyond `head` end there.
    public init(value: [UInt8]?, head: [UInt8], keyLength: Int32, headerLengths: [HeaderLengths]) {
        self.value = value
        self.head = head
        self.keyLength = keyLength
        self.headerLengths = headerLengths
    }

    /// Contents with these parts.
    public init(key: [UInt8]?, value: [UInt8]?, headers: [Header]) {
        var lengths: [HeaderLengths] = []
        lengths.reserveCapacity(headers.count)
        let head = ByteWriter.bytes { head in
            if let key { head.append(key) }
            for header in headers {
                let name = header.name.utf8
                head.append(name.span)
                if let value = header.value { head.append(value) }
                lengths.append((Int32(clamping: name.count), header.value.map { Int32(clamping: $0.count) } ?? -1))
            }
        }
        self.init(
            value: value, head: head, keyLength: key.map { Int32(clamping: $0.count) } ?? -1, headerLengths: lengths)
    }

    /// The key; nil for none.
    public var key: [UInt8]? { keyLength < 0 ? nil : Array(head[part(0, keyLength)]) }

    /// The headers, each a copy.
    public var headers: [Header] {
        var start = min(head.count, Int(max(0, keyLength)))
        return headerLengths.map { lengths in
            let name = part(start, lengths.name)
            let value = part(name.upperBound, lengths.value)
            start = value.upperBound
            return Header(String(decoding: head[name], as: UTF8.self), lengths.value < 0 ? nil : Array(head[value]))
        }
    }

    /// Whether there is a header `name`.
    func has(_ name: String) -> Bool { place(of: name) != nil }

    /// The last value of the header `name`, which is the one that counts in Kafka; nil where it is null or not UTF-8.
    public func text(_ name: String) -> String? {
        guard let value = place(of: name) ?? nil else { return nil }
        // Without the generic way through a collection, which takes ten times as long.
        do { return String(copying: try UTF8Span(validating: head.span.extracting(value))) } catch { return nil }
    }

    /// Where the last value of the header `name` stands, or that it is null; nil where there is no such header.
    private func place(of name: String) -> Range<Int>?? {
        let wanted = name.utf8.span
        var start = min(head.count, Int(max(0, keyLength)))
        var found: Range<Int>??
        for lengths in headerLengths {
            let name = part(start, lengths.name)
            let value = part(name.upperBound, lengths.value)
            if name.count == wanted.count, isEqual(wanted, name) {
                found = .some(lengths.value < 0 ? nil : value)
            }
            start = value.upperBound
        }
        return found
    }

    private func isEqual(_ wanted: Span<UInt8>, _ part: Range<Int>) -> Bool {
        for index in wanted.indices where head[part.lowerBound + index] != wanted[index] { return false }
        return true
    }

    private func part(_ start: Int, _ length: Int32) -> Range<Int> {
        start..<min(head.count, start + Int(max(0, length)))
    }
}

extension RecordContents: Equatable {
    public static func == (left: RecordContents, right: RecordContents) -> Bool {
        left.value == right.value && left.head == right.head && left.keyLength == right.keyLength
            && left.headerLengths.elementsEqual(right.headerLengths, by: ==)
    }
}
