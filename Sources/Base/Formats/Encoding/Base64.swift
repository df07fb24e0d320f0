/// The two base64 alphabets of RFC 4648, decoded strictly.
///
/// A decoder that forgives padding, white space or stray trailing bits gives one token many spellings, which is how
/// a revocation list or a duplicate check is walked past. Nothing is forgiven here.
public enum Base64: Sendable {
    /// RFC 4648 section 5, without padding: the alphabet of JOSE.
    case url
    /// RFC 4648 section 4, with padding.
    case standard

    /// Returns the number of characters that encode `count` bytes.
    public func encodedCount(of count: Int) -> Int {
        switch self {
        case .url: (count * 4 + 2) / 3
        case .standard: (count + 2) / 3 * 4
        }
    }

    /// Appends the encoding of `bytes` to `output`.
    public func encode(_ bytes: [UInt8], appendingTo output: inout [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe encode($0, appendingTo: &output) }
    }

    /// Appends the encoding of `bytes` to `output`.
    public func encode(_ bytes: ArraySlice<UInt8>, appendingTo output: inout [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe encode($0, appendingTo: &output) }
    }

    /// Appends the encoding of `bytes` to `output`, a separator first where there is one.
    @unsafe
    package func encode(
        _ bytes: UnsafeBufferPointer<UInt8>, after separator: UInt8? = nil, appendingTo output: inout [UInt8]
    ) {
        let start = separator == nil ? 0 : 1
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: start + encodedCount(of: bytes.count)) { text in
            if let separator { unsafe text[0] = separator }
            unsafe write(bytes, to: UnsafeMutableBufferPointer(rebasing: text[start...]))
            unsafe output.append(contentsOf: UnsafeBufferPointer(text))
        }
    }

    /// Writes the encoding of `bytes` to the beginning of `output`, which must have room for it.
    @unsafe
    package func write(_ bytes: UnsafeBufferPointer<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>) {
        precondition(output.count >= encodedCount(of: bytes.count), "the buffer is too small for the encoding")
        guard let source = bytes.baseAddress, let target = output.baseAddress, bytes.count > 0 else { return }
        let pairs = unsafe self == .url ? Self.urlPairs : Self.standardPairs
        let words = UnsafeMutableRawPointer(target)
        var (index, place) = (0, 0)
        // Eight characters for six bytes, which are read together with the two that follow. Neither place can overflow: both
        // stay within their buffers.
        while index &+ 8 <= bytes.count {
            let eight = unsafe UnsafeRawPointer(source + index).loadUnaligned(as: UInt64.self)
            let word = UInt64(bigEndian: eight)
            let first = unsafe UInt64(pairs[Int(word >> 52)]) | UInt64(pairs[Int(word >> 40 & 0xFFF)]) << 16
            let second =
                unsafe UInt64(pairs[Int(word >> 28 & 0xFFF)]) | UInt64(pairs[Int(word >> 16 & 0xFFF)]) << 16
            unsafe words.storeBytes(
                of: (first | second << 32).littleEndian, toByteOffset: place, as: UInt64.self)
            index &+= 6
            place &+= 8
        }
        while index + 3 <= bytes.count {
            let word = unsafe Int(source[index]) << 16 | Int(source[index + 1]) << 8 | Int(source[index + 2])
            unsafe words.storeBytes(of: pairs[word >> 12].littleEndian, toByteOffset: place, as: UInt16.self)
            unsafe words.storeBytes(
                of: pairs[word & 0xFFF].littleEndian, toByteOffset: place + 2, as: UInt16.self)
            index += 3
            place += 4
        }
        let rest = bytes.count - index
        guard rest > 0 else { return }
        let word = unsafe Int(source[index]) << 16 | (rest == 2 ? Int(source[index + 1]) << 8 : 0)
        let (first, second) = unsafe (pairs[word >> 12], pairs[word & 0xFFF])
        unsafe target[place] = UInt8(truncatingIfNeeded: first)
        unsafe target[place + 1] = UInt8(truncatingIfNeeded: first >> 8)
        if rest == 2 { unsafe target[place + 2] = UInt8(truncatingIfNeeded: second) }
        guard self == .standard else { return }
        for padding in (place + 1 + rest)..<(place + 4) { unsafe target[padding] = UInt8(ascii: "=") }
    }

    /// Returns the encoding of `bytes` as text.
    public func encode(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        encode(bytes, appendingTo: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the bytes that `text` encodes.
    ///
    /// - Throws: `InvalidEncoding` for a character outside the alphabet, an impossible length,
    ///   padding that should not be there (or is missing) and trailing bits that are not zero.
    public func decode(_ text: ArraySlice<UInt8>) throws(InvalidEncoding) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(text.count * 3 / 4)
        try decode(text) { output.append($0) }
        return output
    }

    /// Decodes `text` as `decode(_:)` does, and passes on byte by byte, so that a secret never passes through an
    /// ordinary array.
    package func decode<Text: BidirectionalCollection<UInt8>>(_ text: Text, each: (UInt8) -> Void)
        throws(InvalidEncoding)
    {
        let digits = try unpadded(text)
        let table = self == .url ? Self.urlValues : Self.standardValues
        var pending: UInt32 = 0
        var bits = 0
        for character in digits {
            let value = table[Int(character)]
            guard value < 64 else {
                throw InvalidEncoding("a character is outside the \(name) alphabet")
            }
            pending = pending << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                each(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
                pending &= (1 << UInt32(bits)) - 1
            }
        }
        guard bits < 6, pending == 0 else {
            throw InvalidEncoding("the \(name) text is cut short or not in its canonical form")
        }
    }

    private var name: String { self == .url ? "base64url" : "base64" }

    private func unpadded<Text: BidirectionalCollection<UInt8>>(_ text: Text) throws(InvalidEncoding)
        -> Text.SubSequence
    {
        guard self == .standard else { return text[...] }
        guard text.count % 4 == 0 else {
            throw InvalidEncoding("the base64 text is not a multiple of 4 characters; is its padding missing?")
        }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return text.dropLast(padding)
    }

    private static let shared = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let urlAlphabet = shared + Array("-_".utf8)
    private static let standardAlphabet = shared + Array("+/".utf8)
    private static let urlValues = values(of: urlAlphabet)
    private static let standardValues = values(of: standardAlphabet)
    /// Both characters of 12 bits, the first in the lower half. An array's owners are counted, and all threads would
    /// count with the same number for every token.
    ///
    /// `nonisolated(unsafe)`: the table is filled before the name is given to it, once, and only read afterwards; it is never
    /// freed.
    private nonisolated(unsafe) static let urlPairs = unsafe pairs(of: urlAlphabet)
    /// The pairs of the standard alphabet.
    ///
    /// `nonisolated(unsafe)`: as `urlPairs`, filled once, then only read, never freed.
    private nonisolated(unsafe) static let standardPairs = unsafe pairs(of: standardAlphabet)

    private static func pairs(of alphabet: [UInt8]) -> UnsafePointer<UInt16> {
        let pairs = UnsafeMutablePointer<UInt16>.allocate(capacity: 4096)
        for bits in 0..<4096 {
            unsafe pairs[bits] = UInt16(alphabet[bits >> 6]) | UInt16(alphabet[bits & 63]) << 8
        }
        return unsafe UnsafePointer(pairs)
    }

    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        var table = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }
}
