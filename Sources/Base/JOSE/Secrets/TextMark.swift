/// The marks that editors put before text, and that are not part of it.
package enum TextMark {
    /// The byte order mark of UTF-8, which some editors write.
    package static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The refusal of UTF-16 text, as a sentence's end.
    package static let utf16 = "is UTF-16 text; save it as UTF-8"

    /// Returns whether text that begins with `bytes` is UTF-16, by its mark, in either byte order.
    package static func isUTF16(_ bytes: some Sequence<UInt8>) -> Bool {
        let mark = Array(bytes.prefix(2))
        return mark == [0xFF, 0xFE] || mark == [0xFE, 0xFF]
    }
}

extension SecretBytes {
    /// Whether the bytes are UTF-16: by the mark, or because every other byte is zero, as in ASCII without one.
    var isUTF16: Bool {
        unsafe withBytes { bytes in
            if unsafe TextMark.isUTF16(bytes) { return true }
            guard bytes.count >= 2, bytes.count % 2 == 0 else { return false }
            let zeros = [0, 1].map { first in
                stride(from: first, to: bytes.count, by: 2).count { unsafe bytes[$0] == 0 }
            }
            return zeros == [0, bytes.count / 2] || zeros == [bytes.count / 2, 0]
        }
    }

    /// Returns the same text without the byte order mark of UTF-8 at its beginning.
    func withoutByteOrderMark() -> SecretBytes {
        guard unsafe withBytes({ unsafe $0.starts(with: TextMark.utf8) }) else { return self }
        return unsafe withBytes { unsafe SecretBytes(copying: $0.dropFirst(TextMark.utf8.count)) }
    }
}
