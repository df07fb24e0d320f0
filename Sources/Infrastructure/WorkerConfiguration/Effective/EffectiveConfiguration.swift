/// The effective configuration: each key with its value and the value's source, in the order of the documentation. It
/// leaves out keys without a value or a default, and all secrets.
public struct EffectiveConfiguration: Sendable {
    /// The source of a value.
    public enum Origin: Sendable, Equatable, CustomStringConvertible {
        /// The file, at this place.
        case file(FileLocation)
        /// The environment, named at this place of the file.
        case environment(FileLocation)
        /// The key's default, because the file has no value.
        case standard
        /// The default of the vendor with this name, because the file has no value.
        case vendor(String)

        /// The source in words, with its place.
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

    /// Every effective section and key, each section before its content.
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
