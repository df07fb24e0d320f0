/// A JWK Set as it came.
public struct KeySetDocument: Sendable, Hashable {
    /// The document.
    public let bytes: [UInt8]
    /// The time for which the document declares itself fresh; nil where it declares none.
    public let maxAge: Duration?

    /// A document that is fresh for `maxAge`.
    public init(bytes: [UInt8], maxAge: Duration? = nil) {
        self.bytes = bytes
        self.maxAge = maxAge
    }

    /// A document that came with this `Cache-Control` (RFC 9111, section 5.2.2).
    public init(bytes: [UInt8], cacheControl: String?) {
        self.init(bytes: bytes, maxAge: cacheControl.flatMap(Self.maxAge))
    }

    private static func maxAge(_ cacheControl: String) -> Duration? {
        var found: Duration?
        for directive in cacheControl.lowercased().split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
            if directive == "no-store" || directive == "no-cache" { return .zero }
            let parts = directive.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == "max-age" else { continue }
            // What does not fit is a very long time (section 1.2.2).
            let digits = parts[1].filter { $0 != "\"" }
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { continue }
            found = .seconds(min(Int64(digits) ?? .max, 1 << 31))
        }
        return found
    }
}
