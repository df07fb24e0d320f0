/// The DER of an ECDSA signature, built and taken apart without the code under test: SEQUENCE { r, s }.
enum DER {
    static func signature(fromRaw raw: [UInt8]) -> [UInt8] {
        let half = raw.count / 2
        let content = integer(raw[..<half]) + integer(raw[half...])
        return [0x30] + length(content.count) + content
    }

    static func raw(fromSignature der: [UInt8], width: Int) -> [UInt8]? {
        var rest = der[...]
        guard var content = take(0x30, from: &rest), rest.isEmpty, let r = take(0x02, from: &content),
            let s = take(0x02, from: &content), content.isEmpty
        else { return nil }
        let padded = [r, s].map { number -> [UInt8] in
            let digits = number.drop { $0 == 0 }
            return [UInt8](repeating: 0, count: max(width - digits.count, 0)) + digits
        }
        return padded.flatMap(\.self)
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02] + length(digits.count) + digits
    }

    private static func length(_ count: Int) -> [UInt8] { count < 0x80 ? [UInt8(count)] : [0x81, UInt8(count)] }

    private static func take(_ tag: UInt8, from bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard bytes.popFirst() == tag, var count = bytes.popFirst().map(Int.init) else { return nil }
        if count == 0x81 { count = bytes.popFirst().map(Int.init) ?? 0 }
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }
}
