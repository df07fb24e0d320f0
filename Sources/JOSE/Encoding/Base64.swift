/// The two base64 alphabets of RFC 4648, decoded strictly.
///
/// A decoder that forgives padding, white space or stray trailing bits gives one token many spellings, which is how
/// a revocation list or a duplicate check is walked past. Nothing is forgiven here.
public enum Base64: Sendable {
    /// RFC 4648 section 5, without padding: the alphabet of JOSE.
    case url
    /// RFC 4648 section 4, with padding.
    case standard

    /// How many characters `count` bytes take.
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

    /// Appends the encoding of `bytes` to `output`.
    @unsafe
    public func encode(_ bytes: UnsafeBufferPointer<UInt8>, appendingTo output: inout [UInt8]) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        let start = output.count
        output.append(contentsOf: repeatElement(UInt8(ascii: "="), count: encodedCount(of: bytes.count)))
        let alphabet = self == .url ? Self.urlAlphabet : Self.standardAlphabet
        // Both buffers are as long as the loop below reads and writes: four characters for three bytes, and for what is
        // left of them one more than there are bytes.
        unsafe alphabet.withUnsafeBufferPointer { alphabet in
            unsafe output.withUnsafeMutableBufferPointer { output in
                guard let digits = alphabet.baseAddress, let base = output.baseAddress else { return }
                unsafe Self.encode(source, bytes.count, digits, base + start)
            }
        }
    }

    private static func encode(
        _ source: UnsafePointer<UInt8>, _ count: Int, _ digits: UnsafePointer<UInt8>,
        _ target: UnsafeMutablePointer<UInt8>
    ) {
        var source = unsafe source
        var target = unsafe target
        for _ in 0..<count / 3 {
            let word = unsafe UInt32(source[0]) << 16 | UInt32(source[1]) << 8 | UInt32(source[2])
            unsafe target[0] = digits[Int(word >> 18)]
            unsafe target[1] = digits[Int(word >> 12 & 63)]
            unsafe target[2] = digits[Int(word >> 6 & 63)]
            unsafe target[3] = digits[Int(word & 63)]
            unsafe source += 3
            unsafe target += 4
        }
        let rest = count % 3
        guard rest > 0 else { return }
        let word = unsafe UInt32(source[0]) << 16 | (rest == 2 ? UInt32(source[1]) << 8 : 0)
        unsafe target[0] = digits[Int(word >> 18)]
        unsafe target[1] = digits[Int(word >> 12 & 63)]
        if rest == 2 { unsafe target[2] = digits[Int(word >> 6 & 63)] }
    }

    /// The encoding of `bytes` as text.
    public func encode(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        encode(bytes, appendingTo: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// The bytes that `text` stands for.
    ///
    /// - Throws: `JOSEError` with `.invalidEncoding` for a character outside the alphabet, an impossible length,
    ///   padding that should not be there (or is missing) and trailing bits that are not zero.
    public func decode(_ text: ArraySlice<UInt8>) throws(JOSEError) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(text.count * 3 / 4)
        try decode(text) { output.append($0) }
        return output
    }

    /// As `decode(_:)`, handing out byte by byte, so that a secret never passes through an ordinary array.
    func decode(_ text: ArraySlice<UInt8>, each: (UInt8) -> Void) throws(JOSEError) {
        let digits = try unpadded(text)
        let table = self == .url ? Self.urlValues : Self.standardValues
        var pending: UInt32 = 0
        var bits = 0
        for character in digits {
            let value = table[Int(character)]
            guard value < 64 else {
                throw JOSEError(.invalidEncoding, "a character is outside the \(name) alphabet")
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
            throw JOSEError(.invalidEncoding, "the \(name) text is cut short or not in its canonical form")
        }
    }

    private var name: String { self == .url ? "base64url" : "base64" }

    private func unpadded(_ text: ArraySlice<UInt8>) throws(JOSEError) -> ArraySlice<UInt8> {
        guard self == .standard else { return text }
        guard text.count % 4 == 0 else {
            throw JOSEError(
                .invalidEncoding, "the base64 text is not a multiple of 4 characters; is its padding missing?")
        }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return text.dropLast(padding)
    }

    private static let shared = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let urlAlphabet = shared + Array("-_".utf8)
    private static let standardAlphabet = shared + Array("+/".utf8)
    private static let urlValues = values(of: urlAlphabet)
    private static let standardValues = values(of: standardAlphabet)

    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        var table = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }
}
