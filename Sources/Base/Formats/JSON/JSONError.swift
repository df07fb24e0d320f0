/// The reason that bytes are no JSON text that may be used here.
public enum JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The text has no value.
    case empty
    /// The text has more bytes than the limit.
    case tooLarge(limit: Int)
    /// The text has more nested containers than the limit.
    case tooDeep(limit: Int)
    /// The text is not JSON (RFC 8259), at this byte.
    case syntax(at: Int)
    /// A string that is not UTF-8, at this byte.
    case invalidUTF8(at: Int)
    /// An object that names one member twice, its second mention at this byte.
    case duplicateMember(at: Int)

    /// The error in words.
    public var description: String {
        switch self {
        case .empty: "the JSON text is empty"
        case .tooLarge(let limit): "the JSON text is longer than \(limit) bytes"
        case .tooDeep(let limit): "the JSON text nests deeper than \(limit) levels"
        case .syntax(let offset): "not JSON at byte \(offset)"
        case .invalidUTF8(let offset): "not UTF-8 at byte \(offset)"
        case .duplicateMember(let offset): "an object names the same member twice at byte \(offset)"
        }
    }
}
