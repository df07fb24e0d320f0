/// The longest id of a user, name of an id or nonce.
///
/// Ids are opaque, but not endless: an id is repeated in a token, a subject key, a look-up and a memory of subjects, so
/// one that no vendor takes is refused where it is read.
public enum IdentifierLimit: Sendable, Equatable {
    /// A number of bytes of UTF-8.
    case bytes(Int)
    /// A number of Unicode scalars, where a vendor counts characters.
    case characters(Int)

    /// The limit where a vendor states none: 1,024 bytes, Remint's own bound.
    public static let standard = IdentifierLimit.bytes(1024)

    /// Returns whether `identifier` is within the limit. The answer costs no more for a very long one.
    package func admits(_ identifier: String) -> Bool {
        switch self {
        case .bytes(let limit): identifier.utf8.count <= limit
        // A scalar takes one byte at least and four at most, so only what may or may not fit is counted.
        case .characters(let limit):
            identifier.utf8.count <= limit
                || identifier.utf8.count <= 4 * limit && identifier.unicodeScalars.count <= limit
        }
    }

    /// The limit in words, such as `1024 bytes`.
    package var text: String {
        switch self {
        case .bytes(let limit): limit.of("byte")
        case .characters(let limit): limit.of("character")
        }
    }
}
