/// A configuration as it holds: each key with its value and where that comes from, in the order of the documentation. What is not
/// set and has no default is not there, and no secret is.
public struct EffectiveConfiguration: Sendable {
    /// The source of a value.
    public enum Origin: Sendable, Equatable, CustomStringConvertible {
        /// From this place of the file.
        case file(FileLocation)
        /// From the environment, by way of this place of the file.
        case environment(FileLocation)
        /// The file says nothing: the key's default.
        case standard
        /// The file says nothing: what the vendor of this name has.
        case vendor(String)

        public var description: String {
            switch self {
            case .file(let place): "\(place.file):\(place.line)"
            case .environment(let place): "\(place.file):\(place.line), environment"
            case .standard: "default"
            case .vendor(let name): "default of \(name)"
            }
        }
    }

    /// A key, or the name of a section.
    public struct Entry: Sendable {
        /// The names from the top down to its own.
        public let path: [String]
        /// The value as the file would write it; nil for a section.
        public let value: String?
        /// The source of the value; nil for a section.
        public let origin: Origin?
    }

    /// The text that replaces a secret.
    public static let redacted = "(redacted)"

    /// Every section and key that holds, sections in front of what is in them.
    public let entries: [Entry]

    /// The configuration as YAML, where each value came from behind it.
    public var text: String {
        entries.map { entry in
            let space = String(repeating: "  ", count: max(entry.path.count - 1, 0))
            let name = "\(space)\(FlowText.scalar(entry.path.last ?? "")):"
            guard let value = entry.value, let origin = entry.origin else { return name }
            return "\(name) \(value)  # \(origin)"
        }.joined(separator: "\n") + "\n"
    }
}
