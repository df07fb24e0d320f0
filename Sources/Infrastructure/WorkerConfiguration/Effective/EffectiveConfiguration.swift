import AdapterKit
import Yams

/// The effective configuration: each key with its value and the value's source, in the order of the documentation. It
/// leaves out keys without a value or a default, and all secrets.
public struct EffectiveConfiguration: Sendable {
    /// The source of a value.
    public enum Origin: Sendable, Equatable, CustomStringConvertible {
        case file(FileLocation)
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
        package let path: [String]
        /// The value as the file would write it; nil for a section.
        package let value: String?
        /// The source of the value; nil for a section.
        package let origin: Origin?
    }

    /// The text that replaces a secret.
    package static let redacted = "(redacted)"

    /// Every effective section and key, each section before its content.
    package let entries: [Entry]

    /// The configuration as YAML, where each value came from behind it.
    package var text: String {
        entries.map { entry in
            let space = String(repeating: "  ", count: max(entry.path.count - 1, 0))
            let name = "\(space)\(FlowText.scalar(entry.path.last ?? "")):"
            guard let value = entry.value, let origin = entry.origin else { return name }
            return "\(name) \(value)  # \(origin)"
        }.joined(separator: "\n") + "\n"
    }
}

extension EffectiveConfiguration {
    init(_ configuration: Configuration, as root: Node, _ diagnostics: Diagnostics) {
        var walk = Walk(configuration: configuration, diagnostics: diagnostics)
        let file = Section(root, name: "", diagnostics)
        // Tests hold of no worker.
        for section in Configuration.sections where section.name != Configuration.Tests.section.name {
            if section.name.isEmpty {
                walk.add(section.keys, of: file, path: [])
            } else {
                walk.add(section, in: file, path: [])
            }
        }
        entries = walk.entries
    }

    /// The walk through the declarations, with the file beside them.
    private struct Walk {
        let configuration: Configuration
        let diagnostics: Diagnostics
        var entries: [Entry] = []
        var app: Configuration.App?

        mutating func add(_ section: SectionDescription, in parent: Section, path: [String]) {
            let isThere = parent.value(section.name) != nil
            // A rare section's defaults would fill the page for those who do without it.
            guard isThere || section.absence == .defaults && !section.isRare else { return }
            let path = path + [section.name]
            let inner = parent.section(section.name)
            let start = entries.count
            entries.append(Entry(path: path, value: nil, origin: nil))
            if let each = section.each {
                for (_, name, value) in inner.all {
                    if section.name == Configuration.App.section.name {
                        app = configuration.apps.first { $0.name == name }
                    }
                    entries.append(Entry(path: path + [name], value: nil, origin: nil))
                    addMembers(of: each, Section(value, name: inner.path(name), diagnostics), path + [name])
                }
                app = nil
            } else {
                addMembers(of: section, inner, path)
            }
            if entries.count == start + 1 { entries.removeLast() }
        }

        private mutating func addMembers(of section: SectionDescription, _ values: Section, _ path: [String]) {
            add(section.keys, of: values, path: path)
            for inner in section.sections { add(inner, in: values, path: path) }
        }

        mutating func add(_ keys: [KeyDescription], of section: Section, path: [String]) {
            for key in keys {
                switch key.form {
                case .properties:
                    addTexts(of: section.section(key.name), path + [key.name], isShown: LibrdkafkaProperty.isPublic)
                case .mapping where key.isSecret:
                    addTexts(of: section.section(key.name), path + [key.name]) { _ in false }
                case .settings: addSettings(section.section(key.name), path + [key.name])
                default: add(key, section.value(key.name), path)
                }
            }
        }

        private mutating func add(_ key: KeyDescription, _ node: Node?, _ path: [String]) {
            if let node {
                let value = key.isSecret ? EffectiveConfiguration.redacted : FlowText.text(of: node)
                entries.append(Entry(path: path + [key.name], value: value, origin: origin(of: node)))
            } else if let (value, origin) = standard(key, path) {
                entries.append(Entry(path: path + [key.name], value: value, origin: origin))
            }
        }

        private func origin(of node: Node) -> Origin {
            let place = diagnostics.place(of: node)
            return isCompleted(node) ? .environment(place) : .file(place)
        }

        private func isCompleted(_ node: Node) -> Bool {
            diagnostics.isCompleted(node) || (node.sequence?.contains { isCompleted($0) } ?? false)
        }

        // MARK: What the file leaves out

        private func standard(_ key: KeyDescription, _ path: [String]) -> (String, Origin)? {
            if path.isEmpty, key.name == Configuration.deliveryKey.name {
                // The embedded broker keeps no transactions.
                return (configuration.delivery.rawValue, .standard)
            }
            if path.last == Configuration.OAuth.section.name {
                // Only an authorization server learns who asks.
                guard case .clientCredentials = configuration.kafka.oauth?.source else { return nil }
            }
            guard let app else { return key.standard.map { ($0, .standard) } }
            if path.dropFirst(2).first == Configuration.Lookup.section.name {
                return standardOfLookup(key, app, isCache: path.count > 3)
            }
            if key.name == WrittenApp.lifetimeKey.name {
                return (DurationText.format(seconds: app.lifetime), .vendor(app.adapter.name))
            }
            return key.standard.map { ($0, .standard) }
        }

        /// Returns the default of a look-up's key, and its origin. While the look-up is off, only `mode` has one.
        private func standardOfLookup(
            _ key: KeyDescription, _ app: Configuration.App, isCache: Bool
        ) -> (String, Origin)? {
            guard let lookup = app.lookup else {
                return key.name == WrittenLookup.mode.name && !isCache ? key.standard.map { ($0, .standard) } : nil
            }
            let vendors = isCache ? nil : Self.vendors(key.name, lookup)
            return vendors.map { ($0, .vendor(app.adapter.name)) } ?? key.standard.map { ($0, .standard) }
        }

        /// Returns the value of the key `name` in the vendor's terms; nil for a key that they do not set.
        private static func vendors(_ name: String, _ lookup: Configuration.Lookup) -> String? {
            switch name {
            case WrittenLookup.endpointKey.name: FlowText.scalar(lookup.url)
            case WrittenLookup.unknownUser.name: lookup.unknownUser.rawValue
            case WrittenLookup.timeout.name: DurationText.format(lookup.timeout)
            default: nil
            }
        }

        // MARK: Mappings with the names of others

        private mutating func addTexts(of section: Section, _ path: [String], isShown: (String) -> Bool) {
            let members = section.all
            if !members.isEmpty { entries.append(Entry(path: path, value: nil, origin: nil)) }
            for (_, name, value) in members {
                let isShown = name.hasSuffix("_file") || isShown(name)
                let text = isShown ? FlowText.text(of: value) : EffectiveConfiguration.redacted
                entries.append(Entry(path: path + [name], value: text, origin: origin(of: value)))
            }
        }

        private mutating func addSettings(_ section: Section, _ path: [String]) {
            let start = entries.count
            entries.append(Entry(path: path, value: nil, origin: nil))
            for key in app?.settings ?? [] {
                if let node = section.value(key.name) {
                    entries.append(
                        Entry(path: path + [key.name], value: FlowText.text(of: node), origin: origin(of: node)))
                } else if let standard = key.standard {
                    let value = key.kind == .texts ? standard : FlowText.scalar(standard)
                    entries.append(Entry(path: path + [key.name], value: value, origin: .standard))
                }
            }
            if entries.count == start + 1 { entries.removeLast() }
        }
    }
}

/// The visibility of librdkafka's properties.
enum LibrdkafkaProperty {
    /// Returns whether the value of the property `name` is certainly no secret; all others are not shown, whatever
    /// their names.
    static func isPublic(_ name: String) -> Bool {
        let isSuspect = ["password", "secret", "pem", "token", "credential", "config", "key.", "keystore"]
            .contains(where: name.contains)
        return !isSuspect && publicEndings.contains(where: name.hasSuffix)
    }

    private static let publicEndings = [
        ".ms", ".bytes", ".kbytes", ".messages", ".max", ".count", ".enable", ".protocol", ".mechanism", ".mechanisms",
        ".location", ".id", ".rack", ".type", ".codec", ".level", ".size", ".algorithm", ".verification", ".provider",
        ".family", "debug", "acks",
    ]
}
