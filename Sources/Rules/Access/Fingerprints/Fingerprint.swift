import JOSE

/// A short form of a name of any length, where many names are remembered: the first 128 bits of a SHA-256. Names that
/// an attacker chooses collide by chance alone.
struct Fingerprint: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    /// The fingerprint in hexadecimal digits, as a name.
    var text: String { String(high, radix: 16) + "-" + String(low, radix: 16) }

    /// The fingerprint of several texts, of which no other list has the same.
    init(_ parts: String...) {
        var bytes: [UInt8] = []
        for part in parts {
            let text = Array(part.utf8)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: text.count >> shift))
            }
            bytes += text
        }
        let digest = SHA256.hash(bytes)
        high = digest[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = digest[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
