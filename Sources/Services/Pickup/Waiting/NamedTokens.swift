/// The tokens that a report names, each by a hash of its signature's end. A call that waits keeps them in place of the
/// report, which may be a thousand times as long. A value.
struct NamedTokens: Sendable, Equatable {
    /// The number of a signature's last bytes that are compared.
    static let tail = 24
    /// The most tokens of a report that are known: an SDK names one.
    private static let most = 64

    private let ends: [Int]

    /// The tokens in compact form that `report`, an SDK's own text, names.
    init(in report: [UInt8]) {
        var ends: [Int] = []
        var start = report.startIndex
        for index in 0...report.count where index == report.count || !Self.isBase64URL(report[index]) {
            // A signature follows a dot.
            if index - start >= Self.tail, start > 0, report[start - 1] == UInt8(ascii: "."), ends.count < Self.most {
                ends.append(Self.hash(report[(index - Self.tail)..<index]))
            }
            start = index + 1
        }
        self.ends = ends
    }

    /// Returns whether `token` is one of them.
    func contain(_ token: HeldToken) -> Bool {
        token.text.count >= Self.tail && ends.contains(Self.hash(token.text.suffix(Self.tail)))
    }

    /// Returns a hash that nobody outside the process can foresee.
    private static func hash(_ bytes: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
